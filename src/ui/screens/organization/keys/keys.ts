import { useQuery } from "@tanstack/react-query"
import type { KeyResponse, Scope } from "../../../../domain/key.ts"
import { getAll } from "../../../api/api.ts"
import { visible } from "../../../text/safe-text.tsx"
import { type OwnSite, organizationPath } from "../own-organization.ts"
import { PRESETS, type Preset, type Reach } from "./scopes.ts"

export const keysPath = (organizationId: number): string => `${organizationPath(organizationId)}/api-keys`

export const useApiKeys = (organizationId: number, state: string, enabled = true) =>
  useQuery({
    queryKey: ["api-keys", organizationId, state],
    queryFn: ({ signal }) => getAll<KeyResponse>(`${keysPath(organizationId)}?${state === "" ? "" : `state=${state}&`}`, signal),
    enabled,
  })

const SHOWN = 3

/** Describes in words which sites a key can access. */
export function accessText({ site_ids }: Pick<KeyResponse, "site_ids">, sites: readonly OwnSite[]): string {
  if (site_ids === null) return "all sites, including future ones"
  if (site_ids.length === 0) return "no sites"
  const names = site_ids.map((id) => visible(sites.find((site) => site.id === id)?.name ?? `site ${id}`))
  return names.length > SHOWN ? `${names.slice(0, SHOWN).join(", ")} and ${names.length - SHOWN} more` : names.join(", ")
}

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

export const draftOf = (key: KeyResponse): KeyDraft => ({
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
