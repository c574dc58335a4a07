import type { Scope } from "../../../domain/key.ts"

/** What each scope lets a key do, as the end of a sentence that begins with "may". In the order of the public documents. */
export const SCOPE_WORDS: Readonly<Record<Scope, string>> = {
  "sites:read": "see sites and their settings",
  "sites:write": "change sites; create and delete them if the key covers all sites",
  "goals:read": "see goals",
  "goals:write": "create and change goals and funnels",
  "funnels:read": "see funnels",
  "funnels:write": "create and change funnels",
  "stats:read": "read all figures, also through MCP",
  "events:write": "send events from a server, with their own time and address",
  "export:read": "download raw data",
  "annotations:read": "see notes",
  "annotations:write": "add and change notes",
}
export const SCOPES = Object.keys(SCOPE_WORDS) as Scope[]

export const scopeWords = (scope: string): string => SCOPE_WORDS[scope as Scope] ?? scope

export const PRESETS = {
  assistant: { label: "Assistant (MCP)", says: "reads figures of chosen sites", scopes: ["stats:read"], sites: "list" },
  provisioning: {
    label: "Provisioning",
    says: "sets up sites, goals and funnels, on all sites",
    scopes: ["sites:write", "goals:write", "funnels:write"],
    sites: "all",
  },
  events: { label: "Server events", says: "sends events to chosen sites", scopes: ["events:write"], sites: "list" },
} as const satisfies Record<string, { label: string; says: string; scopes: readonly Scope[]; sites: Reach }>
export type Preset = keyof typeof PRESETS
export type Reach = "all" | "list"

const IMPLIED: { readonly [scope in Scope]?: readonly Scope[] } = {
  "sites:write": ["sites:read"],
  "goals:write": ["goals:read", "funnels:read", "funnels:write"],
  "funnels:write": ["funnels:read"],
  "annotations:write": ["annotations:read"],
  "stats:read": ["sites:read", "goals:read", "funnels:read"],
}

/** What a key may do beyond what its preset is for, in words; empty: no more than that. */
export function beyondPreset(preset: Preset, scopes: readonly Scope[], reach: Reach): readonly string[] {
  const { scopes: meant, sites } = PRESETS[preset]
  const needed = new Set<Scope>(meant.flatMap((scope) => [scope, ...(IMPLIED[scope] ?? [])]))
  return [
    ...scopes.filter((scope) => !needed.has(scope)).map(scopeWords),
    ...(reach === "all" && sites === "list" ? ["reach all sites, future ones too"] : []),
  ]
}

/** Scopes without those that others of them imply: what is worth saying. */
export const tellingScopes = (scopes: readonly string[]): readonly string[] =>
  scopes.filter((scope) => !scopes.some((other) => other !== scope && IMPLIED[other as Scope]?.includes(scope as Scope)))

/** Scopes by which a key can change something. */
export const writesOf = (scopes: readonly string[]): readonly string[] => scopes.filter((scope) => scope.endsWith(":write"))
