import type { ComponentChildren } from "preact"
import { NotFound } from "../parts/states.tsx"
import { BottomBar, type RailEntry, RailGroup } from "./rail.tsx"
import { TopBar } from "./top-bar.tsx"

/** Renders the frame of pages that belong to no single site: the top bar without a rail. */
export const PlainShell = ({ children }: { children: ComponentChildren }) => (
  <>
    <TopBar />
    <div class="frame" data-rail="none">
      <div class="content">{children}</div>
    </div>
  </>
)

/** The 404 page in the frame of pages that belong to no single site. */
export const NoSuchPage = () => (
  <PlainShell>
    <NotFound />
  </PlainShell>
)

interface SectionsShellProps {
  /** Name of the area for assistive technology, such as Organization. */
  label: string
  groups: readonly { title: string; entries: readonly RailEntry[] }[]
  /** Content of the top bar next to the logo. */
  bar?: ComponentChildren
  children: ComponentChildren
}

/** Number of entries in the bottom bar on phones. The others are under More. */
const ON_PHONES = 3

/** Renders the frame of pages with sections that belong to no site: the top bar and a rail, which becomes a bottom bar on phones. */
export function SectionsShell({ label, groups, bar, children }: SectionsShellProps) {
  const entries = groups.flatMap(({ title: heading, entries: own }) => own.map((entry) => ({ ...entry, heading })))
  return (
    <>
      <TopBar>{bar}</TopBar>
      <div class="frame">
        <nav class="rail" aria-label={label}>
          {groups.map(({ title, entries: own }) => (
            <RailGroup key={title} title={title} entries={own} />
          ))}
        </nav>
        <div class="content">{children}</div>
      </div>
      <BottomBar label={label} entries={entries.slice(0, ON_PHONES)} others={entries.slice(ON_PHONES)} />
    </>
  )
}
