import type { Scope } from "../../../../domain/key.ts"

/** What each scope permits, in the order of the API reference. */
export const SCOPE_LABELS: Readonly<Record<Scope, string>> = {
  "sites:read": "View sites and their settings",
  "sites:write": "Edit sites; create and delete them if the key covers all sites",
  "goals:read": "View goals",
  "goals:write": "Create and edit goals and funnels",
  "funnels:read": "View funnels",
  "funnels:write": "Create and edit funnels",
  "stats:read": "Read all statistics, including through MCP",
  "events:write": "Send events from a server with their own time and address",
  "export:read": "Download raw data",
  "annotations:read": "View notes",
  "annotations:write": "Add and edit notes",
  "people:erase": "Erase everything about a person",
  "settings:read": "View settings of sites",
  "settings:write": "Edit settings of sites",
  "segments:read": "View segments",
  "segments:write": "Create and edit segments",
  "configuration:read": "View whole configurations",
  "configuration:write": "Replace whole configurations: settings, shields, goals, funnels and segments",
  "shares:read": "View shared views and their links",
  "shares:write": "Create and edit shared views",
  "keys:read": "View API keys of sites, without their secrets",
  "keys:write": "Create, rotate and revoke API keys of sites, with at most this key's permissions",
  "members:read": "View roles on sites",
  "members:write": "Assign and remove roles on sites, up to this key's permissions",
}
export const SCOPES = Object.keys(SCOPE_LABELS) as Scope[]

export const scopeText = (scope: string): string => SCOPE_LABELS[scope as Scope] ?? scope

/** Returns what a scope permits, for use inside a sentence. */
export const scopePhrase = (scope: string): string => {
  const words = scopeText(scope)
  return words.charAt(0).toLowerCase() + words.slice(1)
}

export const PRESETS = {
  assistant: { label: "Assistant (MCP)", note: "Reads statistics of selected sites.", scopes: ["stats:read"], sites: "list" },
  provisioning: {
    label: "Provisioning",
    note: "Sets up sites, goals and funnels on all sites.",
    scopes: ["sites:write", "goals:write", "funnels:write"],
    sites: "all",
  },
  events: { label: "Server events", note: "Sends events to selected sites.", scopes: ["events:write"], sites: "list" },
} as const satisfies Record<string, { label: string; note: string; scopes: readonly Scope[]; sites: Reach }>
export type Preset = keyof typeof PRESETS
export type Reach = "all" | "list"

const IMPLIED: { readonly [scope in Scope]?: readonly Scope[] } = {
  "sites:write": ["sites:read"],
  "goals:write": ["goals:read", "funnels:read", "funnels:write"],
  "funnels:write": ["funnels:read"],
  "annotations:write": ["annotations:read"],
  "settings:write": ["settings:read"],
  "segments:write": ["segments:read"],
  "configuration:write": ["configuration:read"],
  "shares:write": ["shares:read"],
  "keys:write": ["keys:read"],
  "members:write": ["members:read"],
  "stats:read": ["sites:read", "goals:read", "funnels:read"],
}

/** Returns what a key permits beyond its preset, in words. Empty if nothing. */
export function beyondPreset(preset: Preset, scopes: readonly Scope[], reach: Reach): readonly string[] {
  const { scopes: presetScopes, sites } = PRESETS[preset]
  const needed = new Set<Scope>(presetScopes.flatMap((scope) => [scope, ...(IMPLIED[scope] ?? [])]))
  return [
    ...scopes.filter((scope) => !needed.has(scope)).map(scopePhrase),
    ...(reach === "all" && sites === "list" ? ["access all sites, including future ones"] : []),
  ]
}

/** Returns the scopes without those that others of them imply. */
export const withoutImplied = (scopes: readonly string[]): readonly string[] =>
  scopes.filter((scope) => !scopes.some((other) => other !== scope && IMPLIED[other as Scope]?.includes(scope as Scope)))

/** Returns the scopes that permit changes. */
export const writesOf = (scopes: readonly string[]): readonly string[] => scopes.filter((scope) => /:(write|erase)$/.test(scope))
