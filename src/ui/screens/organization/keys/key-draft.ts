import type { Scope } from "../../../domain/key.ts"
import type { ApiKey } from "./api-keys.tsx"
import { PRESETS, type Preset, type Reach } from "./scopes.ts"

/** `usual`: as the organization has it · `keep`: as it is · `never` · a day `YYYY-MM-DD`, at whose end (UTC) it stops. */
export type Expiry = "usual" | "keep" | "never" | (string & {})

/** A key as the form holds it. */
export interface KeyDraft {
  /** What it is for; undefined where each scope is chosen. */
  preset: Preset | undefined
  name: string
  scopes: readonly Scope[]
  reach: Reach
  siteIds: readonly number[]
  expiry: Expiry
  /** As it is now, of a key that there is. */
  expiresAt: string | null | undefined
  /** Addresses and ranges, one a line. */
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
  scopes: key.scopes as Scope[], // the server's own list
  reach: key.site_access,
  siteIds: key.site_ids ?? [],
  expiry: "keep",
  expiresAt: key.expires_at,
  ranges: key.ip_allow.join("\n"),
  rate: key.rate_limit === null ? "" : String(key.rate_limit),
  personal: key.personal,
})

/** What is sent: of a new key with `personal`, which cannot be changed later. */
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
