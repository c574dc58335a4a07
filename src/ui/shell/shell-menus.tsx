/**
 * Items of the menus in the top bar, and the shortcuts that do the same. They are one part, because every part costs the first view a line
 * in its list.
 */
import { useState } from "preact/hooks"
import { type Me, signOut } from "../api/session.ts"
import { useSiteAddress } from "../browser/address.ts"
import { useFirstItem } from "../parts/first-item.ts"
import { Icon } from "../parts/icon.tsx"
import { MenuItem } from "../parts/menu.tsx"
import { COMPARISON_LABELS, PERIOD_LABELS } from "../report/data/ranges.ts"
import { useStatsSource } from "../report/data/reports.ts"
import { openDialog } from "../report/dialogs.tsx"
import { rangeText } from "../text/format.ts"
import { visible } from "../text/safe-text.tsx"
import type { OwnedSection } from "./plugin-pages.ts"
import type { GroupedEntry } from "./rail.tsx"

/** The user's account, organizations, plugin sections, help and sign-out. */
export function AccountItems({ me, ofPlugins }: { me: Me; ofPlugins: readonly OwnedSection[] }) {
  const box = useFirstItem()
  return (
    <div ref={box}>
      <p class="menu-head">{me.user.email}</p>
      <MenuItem href="/sites">All sites</MenuItem>
      <MenuItem href="/account">Account</MenuItem>
      {me.organizations.map(({ id, name }) => (
        <MenuItem key={id} href={`/org/${id}`}>
          {name}
        </MenuItem>
      ))}
      {ofPlugins.map(({ section: { path, title } }) => (
        <MenuItem key={path} href={path}>
          {title}
        </MenuItem>
      ))}
      <MenuItem href="/help">Help</MenuItem>
      <hr class="menu-line" />
      <MenuItem onSelect={() => void signOut()}>Sign out</MenuItem>
    </div>
  )
}

/** The pages that are not in the bottom bar, in their groups. */
export function MoreItems({ of }: { of: readonly GroupedEntry[] }) {
  const box = useFirstItem()
  return (
    <div ref={box}>
      {[...Map.groupBy(of, ({ heading }) => heading)].map(([heading, entries]) => (
        <div key={heading} class="menu-group" role="group" aria-label={heading}>
          <p class="menu-head">{heading}</p>
          {entries.map(({ href, icon, label }) => (
            <MenuItem key={href} href={href}>
              <Icon name={icon} />
              {label}
            </MenuItem>
          ))}
        </div>
      ))}
    </div>
  )
}

/** Number of sites above which a search field is shown. */
const MANY = 8

/** The other sites, with a search field if there are many. */
export function SiteItems({ sites }: { sites: Me["sites"] }) {
  const [wanted, setWanted] = useState("")
  const shown = sites.filter(({ name }) => name.toLowerCase().includes(wanted.toLowerCase()))
  const box = useFirstItem()
  return (
    <div ref={box}>
      {sites.length > MANY && (
        <input
          class="input"
          type="search"
          aria-label="Search sites"
          placeholder="Search sites"
          value={wanted}
          onInput={(event) => setWanted(event.currentTarget.value)}
          autofocus
        />
      )}
      {shown.map(({ id, name }) => (
        <MenuItem key={id} href={`/sites/${id}`}>
          {visible(name)}
        </MenuItem>
      ))}
      <hr class="menu-line" />
      <MenuItem href="/sites">All sites</MenuItem>
    </div>
  )
}

export { RangeKeys } from "./range-keys.tsx"

interface ItemsProps {
  close(): void
}

/** Items of the period menu. */
export function PeriodItems({ close }: ItemsProps) {
  const { address, go } = useSiteAddress()
  const { timezone } = useStatsSource()
  const { period } = address
  const box = useFirstItem()
  return (
    <div ref={box}>
      {PERIOD_LABELS.map((one) => (
        <MenuItem
          key={one.period}
          checked={one.period === period}
          hint={one.key}
          onSelect={() => {
            go({ period: one.period })
            close()
          }}
        >
          {one.label}
        </MenuItem>
      ))}
      <MenuItem
        checked={period === "custom"}
        hint="C"
        onSelect={() => {
          close()
          openDialog.set({ name: "range" })
        }}
      >
        Custom range
      </MenuItem>
      <p class="menu-head">Time zone: {timezone}</p>
    </div>
  )
}

/** Items of the comparison menu. */
export function ComparisonItems({ close }: ItemsProps) {
  const { address, go } = useSiteAddress()
  const { compare, match, compareFrom, compareTo } = address
  const box = useFirstItem()
  return (
    <div ref={box}>
      {COMPARISON_LABELS.map((one) => (
        <MenuItem
          key={one.compare}
          checked={one.compare === compare}
          hint={one.compare === "none" ? "X" : undefined}
          onSelect={() => {
            go({ compare: one.compare })
            close()
          }}
        >
          {one.label}
        </MenuItem>
      ))}
      <MenuItem
        checked={compare === "custom"}
        onSelect={() => {
          close()
          openDialog.set({ name: "comparison" })
        }}
      >
        {compare === "custom" && compareFrom && compareTo ? rangeText(compareFrom, compareTo) : "Custom range"}
      </MenuItem>
      <hr class="menu-line" />
      <MenuItem checked={match === "weekday"} toggles onSelect={() => go({ match: match === "weekday" ? "date" : "weekday" })}>
        Match day of week
      </MenuItem>
      <p class="menu-head">Today is compared with a full day</p>
    </div>
  )
}
