import type { AnyIcon } from "../parts/icon.tsx"
import { areas } from "./plugin-pages.ts"

export const GROUPS = { traffic: "Traffic", behaviour: "Behaviour", tools: "Tools" } as const
export type Group = keyof typeof GROUPS

/** Entry in the rail of a site's pages. */
export interface NavigationEntry {
  group: Group
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
  { group: "traffic", label: "Campaigns", icon: "campaigns", path: "/campaigns", permission: "site:read" },
  { group: "traffic", label: "Events", icon: "events", path: "/events", permission: "site:read" },
  { group: "behaviour", label: "Goals", icon: "goals", path: "/goals", permission: "site:read" },
  { group: "behaviour", label: "Funnels", icon: "funnels", path: "/funnels", permission: "site:read" },
  { group: "behaviour", label: "Journeys", icon: "journeys", path: "/journeys", permission: "site:read" },
  { group: "tools", label: "Settings", icon: "settings", path: "/settings", permission: "site:write" },
]

/** Returns the entries that the permissions allow, in the order of the rail. */
export function entriesFor(permissions: readonly string[], features: readonly string[]): NavigationEntry[] {
  const ofPlugins = areas().map(({ plugin, area }) => ({ ...area, feature: plugin }))
  const all = [...CORE.slice(0, -1), ...ofPlugins, ...CORE.slice(-1)]
  return all.filter(({ permission, feature }) => permissions.includes(permission) && (feature === undefined || features.includes(feature)))
}
