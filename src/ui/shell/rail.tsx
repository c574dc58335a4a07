import { Suspense } from "preact/compat"
import { Link, useLocation } from "wouter"
import { useMe } from "../api/session.ts"
import { type AnyIcon, Icon } from "../parts/icon.tsx"
import { lazyPart } from "../parts/loading.ts"
import { Popover } from "../parts/menu.tsx"
import { areas } from "./plugin-pages.ts"

const MoreItems = lazyPart(() => import("./shell-menus.tsx"), "MoreItems")

/** Returns the entries of a site that the user may open, with their URLs. The URLs keep the current period and filters. */
function useEntries(siteId: number, search: string) {
  const me = useMe()
  const [path] = useLocation()
  const permissions = me?.sites.find(({ id }) => id === siteId)?.permissions ?? []
  return entriesFor(permissions, me?.features ?? []).map((entry) => {
    const own = `/sites/${siteId}${entry.path}`
    return {
      ...entry,
      heading: GROUPS[entry.group],
      href: own + search,
      isCurrent: path === own || path.startsWith(entry.path === "" ? `${own}/details` : `${own}/`),
    }
  })
}

type Entry = NavigationEntry & GroupedEntry

/** Renders the rail of a site's pages. */
export function SiteRail({ siteId, search }: { siteId: number; search: string }) {
  const entries = useEntries(siteId, search)
  return (
    <nav class="rail" aria-label="Site">
      {Object.values(GROUPS).map((title) => (
        <RailGroup key={title} title={title} entries={entries.filter(({ heading }) => heading === title)} />
      ))}
    </nav>
  )
}

export interface RailEntry {
  label: string
  icon: AnyIcon
  href: string
  isCurrent: boolean
}

export const RailGroup = ({ title, entries }: { title: string; entries: readonly RailEntry[] }) =>
  entries.length === 0 ? null : (
    <>
      <h2>{title}</h2>
      <ul>
        {entries.map(({ label, icon, href, isCurrent }) => (
          <li key={href}>
            <Link href={href} class="rail-link" aria-current={isCurrent ? "page" : undefined} title={label}>
              <Icon name={icon} />
              <span>{label}</span>
            </Link>
          </li>
        ))}
      </ul>
    </>
  )

const ON_PHONES = ["", "/realtime", "/goals"]

/** Renders the bottom bar of a site's pages on phones. */
export function SiteBottomBar({ siteId, search }: { siteId: number; search: string }) {
  const entries: Entry[] = useEntries(siteId, search)
  const [first, others] = [true, false].map((wanted) => entries.filter(({ path }) => ON_PHONES.includes(path) === wanted))
  return <BottomBar label="Site" entries={first!} others={others!} />
}

/** An entry with the title of its group. */
export type GroupedEntry = RailEntry & { heading: string }

interface BottomBarProps {
  label: string
  entries: readonly RailEntry[]
  /** Entries of the menu, those of one group in a row. */
  others: readonly GroupedEntry[]
}

/** Renders the most used pages and a menu of the others. */
export const BottomBar = ({ label, entries, others }: BottomBarProps) => (
  <nav class="bottom-bar" aria-label={label}>
    {entries.map(({ label: text, icon, href, isCurrent }) => (
      <Link key={href} href={href} aria-current={isCurrent ? "page" : undefined}>
        <Icon name={icon} />
        {text}
      </Link>
    ))}
    <Popover
      button={
        <>
          <Icon name="more" />
          More
        </>
      }
      label="More"
      kind="quiet"
    >
      {() => (
        <Suspense fallback={null}>
          <MoreItems of={others} />
        </Suspense>
      )}
    </Popover>
  </nav>
)

const GROUPS = { traffic: "Traffic", behaviour: "Behaviour", tools: "Tools" } as const

/** Entry in the rail of a site's pages. */
interface NavigationEntry {
  group: keyof typeof GROUPS
  label: string
  icon: AnyIcon
  /** Below `/sites/:site`. */
  path: string
  permission: string
  /** Plugin that must be on. */
  feature?: string
}

const CORE: readonly NavigationEntry[] = [
  { group: "traffic", label: "Overview", icon: "overview", path: "", permission: "site:read" },
  { group: "traffic", label: "Realtime", icon: "realtime", path: "/realtime", permission: "site:read" },
  { group: "traffic", label: "Visits", icon: "visits", path: "/visits", permission: "people:read" },
  { group: "traffic", label: "Campaigns", icon: "campaigns", path: "/campaigns", permission: "site:read" },
  { group: "traffic", label: "Events", icon: "events", path: "/events", permission: "site:read" },
  { group: "behaviour", label: "Goals", icon: "goals", path: "/goals", permission: "site:read" },
  { group: "behaviour", label: "Funnels", icon: "funnels", path: "/funnels", permission: "site:read" },
  { group: "behaviour", label: "Journeys", icon: "journeys", path: "/journeys", permission: "site:read" },
  { group: "traffic", label: "Web vitals", icon: "vitals", path: "/web-vitals", permission: "site:read" },
  { group: "tools", label: "Settings", icon: "settings", path: "/settings", permission: "site:write" },
]

/** Returns the entries that the permissions allow, in the order of the rail. */
export function entriesFor(permissions: readonly string[], features: readonly string[]): NavigationEntry[] {
  const ofPlugins = areas().map(({ plugin, area }) => ({ ...area, feature: plugin }))
  // Web vitals and the settings follow the entries of plugins in their groups.
  const all = [...CORE.slice(0, -2), ...ofPlugins, ...CORE.slice(-2)]
  return all.filter(({ permission, feature }) => permissions.includes(permission) && (feature === undefined || features.includes(feature)))
}
