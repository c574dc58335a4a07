import type { Scope } from "../../../../domain/key.ts"
import type { ApiKey } from "./keys.ts"
import { PRESETS, type Preset, type Reach } from "./scopes.ts"

/** `usual`: the organization's default · `keep`: unchanged · `never` · a date `YYYY-MM-DD`, at whose end (UTC) the key expires. */
export type Expiry = "usual" | "keep" | "never" | (string & {})

/** Form entries of a key. */
export interface KeyDraft {
  /** Chosen preset, or undefined for custom scopes. */
  preset: Preset | undefined
  name: string
  scopes: readonly Scope[]
  reach: Reach
  siteIds: readonly number[]
  expiry: Expiry
  /** Current expiry of an existing key. */
  expiresAt: string | null | undefined
  /** IP addresses and ranges, one per line. */
  ranges: string
  rate: string
  personal: boolean
}

export function withPreset(preset: Preset | undefined): KeyDraft {
  const { scopes, sites } = preset ? PRESETS[preset] : { scopes: [], sites: "list" as const }
  return {
    preset,
    name: "",
    scopes,
    reach: sites,
    siteIds: [],
    expiry: "usual",
    expiresAt: undefined,
    ranges: "",
    rate: "",
    personal: false,
  }
}

export const draftOf = (key: ApiKey): KeyDraft => ({
  preset: undefined,
  name: key.name,
  scopes: key.scopes as Scope[], // from the server's response
  reach: key.site_access,
  siteIds: key.site_ids ?? [],
  expiry: "keep",
  expiresAt: key.expires_at,
  ranges: key.ip_allow.join("\n"),
  rate: key.rate_limit === null ? "" : String(key.rate_limit),
  personal: key.personal,
})

/** Converts the entries to the request body. `personal` is sent for a new key only, because it can't be changed later. */
export function bodyOf({ name, scopes, reach, siteIds, expiry, expiresAt, ranges, rate, personal }: KeyDraft): object {
  const ip_allow = ranges
    .split(/[\s,]+/)
    .map((range) => range.trim())
    .filter((range) => range !== "")
  return {
    name,
    scopes,
    site_access: reach,
    ...(reach === "list" && { site_ids: siteIds }),
    ...expiryOf(expiry),
    ip_allow,
    rate_limit: rate.trim() === "" ? null : Number(rate),
    ...(expiresAt === undefined && { personal }),
  }
}

function expiryOf(expiry: Expiry): { expires_at?: string | null } {
  if (expiry === "usual" || expiry === "keep") return {}
  return { expires_at: expiry === "never" ? null : expiry === "" ? "" : `${expiry}T23:59:59Z` }
}
