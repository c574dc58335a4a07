import type { ComponentType } from "preact"
import { pages } from "../../plugins/pages.ts"
import type { Me } from "./boot.ts"
import { canOnSite } from "./me.ts"
import type { IconName } from "./parts/icon.tsx"

type Loading = () => Promise<{ default: ComponentType }>

/** A page about a site. */
export interface SitePage {
  /** Below the address of the plugin's area: `/:link`; empty for its first page. */
  path: string
  load: Loading
  /** It is about a period: the tools for it stand in the top bar. */
  ranged?: boolean
}

/** Pages of a site that a plugin brings: below one address, with one entry in the rail. */
export interface SiteArea {
  /** Of one part, below the address of the site: `/links`. Each page below it is one of the plugin's `pages`. */
  path: string
  /** On the site. Without it the entry is not there, and who asks for a page is told who can grant it. */
  permission: string
  group: "traffic" | "behaviour" | "tools"
  label: string
  icon: IconName
  /** The list too is loaded when a page is opened. */
  load(): Promise<{ default: readonly SitePage[] }>
}

/** A page that is about no site. */
export interface SectionPage {
  /** Below the address of the section: `/users/:user`; empty for its first page. */
  path: string
  load: Loading
  /** Its entry in the rail of the section, under a heading. Entries of one heading follow one another. */
  rail?: { heading: string; label: string; icon: IconName }
}

/** Pages of a plugin that are about no site: below one address, in a frame with a name and a rail of their own. */
export interface PluginSection {
  /** Of one part: `/admin`. Each page below it is one of the plugin's `pages`. */
  path: string
  title: string
  /** Whoever runs the instance; nobody else has a section so far. */
  permission: "instance_admin"
  /** The list too is loaded when the section is opened. */
  load(): Promise<{ default: readonly SectionPage[] }>
}

/** A card that a plugin brings to the dashboard of a site. */
export interface PluginPanel {
  id: string
  permission: string
  load: Loading
}

/** All that a plugin adds to the dashboard. */
export interface PluginPages {
  /** Of the plugin: while it is switched off nothing of it is shown. */
  id: string
  area?: SiteArea
  section?: PluginSection
  panels?: readonly PluginPanel[]
}

export interface OwnedArea {
  plugin: string
  area: SiteArea
}
export interface OwnedSection {
  plugin: string
  section: PluginSection
}

export const areas = (): OwnedArea[] => pages.flatMap(({ id, area }) => (area ? [{ plugin: id, area }] : []))
export const sections = (): OwnedSection[] => pages.flatMap(({ id, section }) => (section ? [{ plugin: id, section }] : []))
export const panels = (): { plugin: string; panel: PluginPanel }[] =>
  pages.flatMap(({ id, panels: own = [] }) => own.map((panel) => ({ plugin: id, panel })))

/** Whether somebody may open a page of a site, or a section. */
export const mayOpen = (me: Me, { permission }: Pick<SiteArea, "permission">, siteId?: number): boolean =>
  siteId === undefined ? permission === "instance_admin" && me.user.is_instance_admin : canOnSite(me, siteId, permission)
