import type { ComponentChildren } from "preact"
import { BottomBar, type RailEntry, RailGroup } from "./rail.tsx"
import { TopBar } from "./top-bar.tsx"

interface SectionsShellProps {
  /** What the entries are the sections of, for assistive technology: Organization. */
  label: string
  groups: readonly { title: string; entries: readonly RailEntry[] }[]
  /** In the bar, beside the mark. */
  bar?: ComponentChildren
  children: ComponentChildren
}

/** So many fit at the lower edge of a phone; the others are under More. */
const ON_PHONES = 3

/** The frame of pages that are about no site but have sections: the bar, and a rail that goes to the lower edge on phones. */
export function SectionsShell({ label, groups, bar, children }: SectionsShellProps) {
  const entries = groups.flatMap((group) => group.entries)
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
