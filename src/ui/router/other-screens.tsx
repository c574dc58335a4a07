import type { ComponentType } from "preact"
import { Suspense } from "preact/compat"
import { Route, Switch, useLocation } from "wouter"
import { useMe } from "../api/session.ts"
import { Forbidden } from "../parts/forbidden.tsx"
import { lazyScreen, withAreaStyles } from "../parts/loading.ts"
import { NotFound } from "../parts/states.tsx"
import { canOpen, type OwnedSection, type PluginSection, type SectionPage, sections } from "../shell/plugin-pages.ts"
import { BottomBar, RailGroup } from "../shell/rail.tsx"
import { NoSuchPage, PlainShell } from "../shell/sections-shell.tsx"
import { TopBar } from "../shell/top-bar.tsx"

const accountScreens = {
  "/account/:section?": lazyScreen(() => import("../screens/account/account.tsx")),
  "/org/:organization?/:section?": lazyScreen(() => import("../screens/organization/organization.tsx")),
  "/help/:topic?": lazyScreen(() => import("../screens/help/help.tsx")),
  "/sites": lazyScreen(() => import("../screens/sites/sites.tsx")),
  "/sites/new": lazyScreen(() => import("../screens/sites/add-site.tsx")),
}
const pluginScreens = sections().map((owned) => ({ path: owned.section.path, Screen: lazyScreen(() => sectionScreen(owned)) }))

/** Routes of the pages outside of a site. Loaded separately, so that the dashboard does not load the list. */
export default function OtherScreens() {
  return (
    <Switch>
      {Object.entries(accountScreens).map(([path, Screen]) => (
        <Route key={path} path={path} component={Screen} />
      ))}
      {pluginScreens.map(({ path, Screen }) => (
        <Route key={path} path={`${path}/*?`} component={Screen} />
      ))}
      <Route component={NoSuchPage} />
    </Switch>
  )
}

/** Loads a plugin's section as one screen: its pages and the frame around them. */
async function sectionScreen({ plugin, section }: OwnedSection): Promise<{ default: ComponentType }> {
  const { default: pages } = await withAreaStyles(section.load)()
  const screens = pages.map((page) => ({ page, Screen: lazyScreen(page.load) }))
  return {
    default: function Section() {
      const me = useMe()
      if (!me?.features.includes(plugin)) return <NoSuchPage />
      if (canOpen(me, section)) return <SectionShell section={section} screens={screens} />
      return (
        <PlainShell>
          <Forbidden permission="manage this instance" giver="An instance admin" />
        </PlainShell>
      )
    },
  }
}

/** Number of entries in the bottom bar on phones. The others are in its menu. */
const ON_PHONES = 3

interface SectionShellProps {
  section: PluginSection
  screens: readonly { page: SectionPage; Screen: ComponentType }[]
}

/** Renders the frame of a plugin's section: its title, its rail and the page of the URL. */
function SectionShell({ section: { path, title }, screens }: SectionShellProps) {
  const [here] = useLocation()
  const entries = entriesOf(
    path,
    screens.map(({ page }) => page),
    here,
  )
  const headings = [...new Set(entries.map(({ heading }) => heading))]
  return (
    <>
      <TopBar>
        <span class="mark">{title}</span>
      </TopBar>
      <div class="frame">
        <nav class="rail" aria-label={title}>
          {headings.map((heading) => (
            <RailGroup key={heading} title={heading} entries={entries.filter((entry) => entry.heading === heading)} />
          ))}
        </nav>
        <div class="content">
          <Suspense fallback={<div class="progress-line" />}>
            <Switch>
              {screens.map(({ page, Screen }) => (
                <Route key={page.path} path={path + page.path} component={Screen} />
              ))}
              <Route component={NotFound} />
            </Switch>
          </Suspense>
        </div>
      </div>
      <BottomBar label={title} entries={entries.slice(0, ON_PHONES)} others={entries.slice(ON_PHONES)} />
    </>
  )
}

/** Returns the rail's entries. An entry is current on its own page and on pages below it; the first page only on itself, because all others are below it. */
const entriesOf = (base: string, pages: readonly SectionPage[], here: string) =>
  pages.flatMap(({ path, rail }) => {
    const href = base + path
    return rail ? [{ ...rail, href, isCurrent: here === href || (path !== "" && here.startsWith(`${href}/`)) }] : []
  })
