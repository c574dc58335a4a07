import type { ComponentType } from "preact"
import { Suspense } from "preact/compat"
import { Route, Switch, useLocation } from "wouter"
import type { PluginSection, SectionPage } from "../plugin-pages.ts"
import { BottomBar, RailGroup } from "./rail.tsx"
import { NotFound } from "./system-pages.tsx"
import { TopBar } from "./top-bar.tsx"

/** So many entries stand in the bar of phones; the others are in its menu. */
const ON_PHONES = 3

interface SectionShellProps {
  section: PluginSection
  screens: readonly { page: SectionPage; Screen: ComponentType }[]
}

/** The frame of a plugin's pages that are about no site: its name, a rail of its own, and the page that the address names. */
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

/** An entry is current on its own page and on those below it; the first page has all others below it, and is none of them. */
const entriesOf = (base: string, pages: readonly SectionPage[], here: string) =>
  pages.flatMap(({ path, rail }) => {
    const href = base + path
    return rail ? [{ ...rail, href, isCurrent: here === href || (path !== "" && here.startsWith(`${href}/`)) }] : []
  })
