import type { ComponentType } from "preact"
import { Suspense } from "preact/compat"
import { Route, Switch, useLocation } from "wouter"
import { NotFound } from "../parts/states.tsx"
import type { PluginSection, SectionPage } from "./plugin-pages.ts"
import { BottomBar, RailGroup } from "./rail.tsx"
import { TopBar } from "./top-bar.tsx"

/** Number of entries in the bottom bar on phones. The others are in its menu. */
const ON_PHONES = 3

interface SectionShellProps {
  section: PluginSection
  screens: readonly { page: SectionPage; Screen: ComponentType }[]
}

/** Renders the frame of a plugin's section: its title, its rail and the page of the URL. */
export function SectionShell({ section: { path, title }, screens }: SectionShellProps) {
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
