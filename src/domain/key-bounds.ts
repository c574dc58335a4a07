import type { Fault } from "./error.ts"
import { type ApiKey, hasScope, reachesSite, SCOPES } from "./key.ts"
import { API } from "./limits.ts"
import { parseInstant } from "./moment.ts"
import { fault } from "./shape.ts"

/** A key that creates or rotates another one, which must not have more rights. */
export interface KeyMaker {
  key: ApiKey
  /** Requests per minute of keys without a limit of their own. 0 = no limit. */
  usualRate: number
  /** Returns whether every address of a range belongs to one of the ranges. */
  isWithinRanges(range: string, ranges: readonly string[]): boolean
}

/** Fields of a key as a body names them. */
interface Requested {
  scopes?: readonly unknown[]
  ip_allow?: readonly string[] | null
  rate_limit?: number | null
  expires_at?: string | null
}

/** Returns whether a key can see and revoke another one: a key of its organization that is limited to sites which it reaches. */
export const overseesKey = (maker: ApiKey, { organization_id, site_ids }: ApiKey): boolean =>
  site_ids?.every((id) => reachesSite(maker, { id, organization_id })) ?? false

/** Returns a fault for each right in which a key exceeds its maker. Absent fields take the limits of the maker. */
export function rightsBeyond({ scopes = [], ip_allow, rate_limit, expires_at }: Requested, maker: KeyMaker): Fault[] {
  const { key, isWithinRanges } = maker
  const held = SCOPES.filter((scope) => hasScope(key, [scope]))
  const found = scopes.flatMap((scope, i) =>
    SCOPES.some((one) => one === scope) && !held.some((one) => one === scope)
      ? [fault(`/scopes/${i}`, "invalid_choice", "must be a scope of the API key of the request", held)]
      : [],
  )
  if (expires_at !== undefined && key.expires_at !== null && isLater(expires_at, key.expires_at))
    found.push(fault("/expires_at", "out_of_range", "must not be later than the expiry of the API key of the request"))
  return [...found, ...rangeFaults(ip_allow, key.ip_allow, isWithinRanges), ...rateFaults(rate_limit, maker)]
}

const isLater = (text: string | null, end: number): boolean => text === null || (parseInstant(text) ?? 0) > end

function rangeFaults(ranges: Requested["ip_allow"], own: readonly string[], isWithinRanges: KeyMaker["isWithinRanges"]): Fault[] {
  if (ranges === undefined || own.length === 0) return []
  const predicate = "must be within the IP ranges of the API key of the request"
  if (ranges === null || ranges.length === 0) return [fault("/ip_allow", "too_few", predicate)]
  return ranges.flatMap((range, i) => (isWithinRanges(range, own) ? [] : [fault(`/ip_allow/${i}`, "invalid_choice", predicate, own)]))
}

function rateFaults(limit: Requested["rate_limit"], { key, usualRate }: KeyMaker): Fault[] {
  const rateOf = (limit: number | null): number => limit ?? (usualRate || Number.POSITIVE_INFINITY)
  const max = rateOf(key.rate_limit)
  if (limit === undefined || rateOf(limit) <= max) return []
  const allowed = { min: API.keyRateLimit.minimum, max }
  return [fault("/rate_limit", "out_of_range", `must be at most ${max}, like that of the API key of the request`, allowed)]
}
