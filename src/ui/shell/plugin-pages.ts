import type { ComponentType } from "preact"
import { pages } from "../../../plugins/pages.ts"
import { canOnSite, type Me } from "../api/session.ts"
import type { AnyIcon } from "../parts/icon.tsx"

type Loading = () => Promise<{ default: ComponentType }>

/** Page of a site. */
export interface SitePage {
  /** Path below the plugin's area, such as `/:link`. Empty for the first page. */
  path: string
  load: Loading
  /** Whether the page is about a period, so that the top bar offers period, comparison and filter, or the period alone. */
  ranged?: boolean | "period"
}

/** Site pages of a plugin below one path, with an entry in the rail. */
export interface SiteArea {
  /** One path segment below the path of the site, such as `/links`. Each page below it is one of the plugin's `pages`. */
  path: string
  /** Permission on the site. Without it the entry is hidden, and its pages say who can grant access. */
  permission: string
  group: "traffic" | "behaviour" | "tools"
  label: string
  icon: AnyIcon
  /** Loads the list of pages when one of them is opened. */
  load(): Promise<{ default: readonly SitePage[] }>
}

/** Page that belongs to no site. */
export interface SectionPage {
  /** Path below the section, such as `/users/:user`. Empty for the first page. */
  path: string
  load: Loading
  /** Entry in the rail of the section, under a heading. Entries of the same heading must be adjacent. */
  rail?: { heading: string; label: string; icon: AnyIcon }
}

/** Plugin pages that belong to no site: below one path, in a frame with its own title and rail. */
export interface PluginSection {
  /** One path segment, such as `/admin`. Each page below it is one of the plugin's `pages`. */
  path: string
  title: string
  /** Sections are available to instance admins only so far. */
  permission: "instance_admin"
  /** Loads the list of pages when the section is opened. */
  load(): Promise<{ default: readonly SectionPage[] }>
}

/** Card that a plugin adds to the dashboard of a site. */
export interface PluginPanel {
  id: string
  permission: string
  load: Loading
}

/** Everything that a plugin adds to the dashboard. */
export interface PluginPages {
  /** ID of the plugin. Nothing of it is shown while it is off. */
  id: string
  /** In the order of their entries in the rail, which follow those of earlier plugins. */
  areas?: readonly SiteArea[]
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

export const areas = (): OwnedArea[] => pages.flatMap(({ id, areas: own = [] }) => own.map((area) => ({ plugin: id, area })))
export const sections = (): OwnedSection[] => pages.flatMap(({ id, section }) => (section ? [{ plugin: id, section }] : []))
export const panels = (): { plugin: string; panel: PluginPanel }[] =>
  pages.flatMap(({ id, panels: own = [] }) => own.map((panel) => ({ plugin: id, panel })))

/** Returns whether the user may open a page of a site, or a section if no site is given. */
export const canOpen = (me: Me, { permission }: Pick<SiteArea, "permission">, siteId?: number): boolean =>
  siteId === undefined ? permission === "instance_admin" && me.user.is_instance_admin : canOnSite(me, siteId, permission)
