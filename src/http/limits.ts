import { AppError } from "../domain/error.ts"

/** What is left in a bucket after a take or a look. */
interface Level {
  taken: boolean
  remaining: number
  /** Seconds until one more is allowed; 0 when one is there. */
  retryAfter: number
}

interface Buckets {
  /** Takes one, if there is one. */
  take(name: string): Level
  look(name: string): Level
}

/** Buckets remembered at once. Beyond it the one that was idle longest is forgotten, which fills it up. */
const REMEMBERED = 100_000

/** Token buckets by name: `size` at once, refilled evenly over a minute. */
export function tokenBuckets(size: number, now: () => number): Buckets {
  const perMs = size / 60_000
  const buckets = new Map<string, { tokens: number; at: number }>()

  function level(name: string, wanted: 0 | 1): Level {
    const at = now()
    const old = buckets.get(name)
    // A clock that was set back must not drain a bucket.
    const tokens = old ? Math.min(size, old.tokens + Math.max(0, at - old.at) * perMs) : size
    const taken = tokens >= 1
    const rest = taken ? tokens - wanted : tokens
    if (wanted === 1) remember(name, { tokens: rest, at })
    return { taken, remaining: Math.floor(rest), retryAfter: rest >= 1 ? 0 : Math.ceil((1 - rest) / perMs / 1_000) }
  }

  function remember(name: string, bucket: { tokens: number; at: number }): void {
    // Taken out first, so that the map's order is the order of use.
    buckets.delete(name)
    buckets.set(name, bucket)
    if (buckets.size > REMEMBERED) buckets.delete(buckets.keys().next().value!)
  }

  return { take: (name) => level(name, 1), look: (name) => level(name, 0) }
}

/** The limit of the public API per key. It writes the `RateLimit` headers into `headers`. */
export interface ApiLimits {
  /** Only says what is left: for answers that fail before the limit is due. */
  show(keyId: number, headers: Record<string, unknown>): void
  /** Counts one request. Throws `rate_limited` when none is left. */
  take(keyId: number, headers: Record<string, unknown>): void
}

/** `perMinute` 0 = no limit, and no headers. */
export function apiLimits(perMinute: number, now: () => number): ApiLimits {
  if (perMinute === 0) return { show: () => {}, take: () => {} }
  const buckets = tokenBuckets(perMinute, now)

  function write(level: Level, headers: Record<string, unknown>): void {
    headers["ratelimit-policy"] = `"default";q=${perMinute};w=60`
    headers.ratelimit = `"default";r=${level.remaining};t=60`
    headers["x-ratelimit-limit"] = String(perMinute)
    headers["x-ratelimit-remaining"] = String(level.remaining)
    // After a minute without requests the bucket is full again, whatever was left.
    headers["x-ratelimit-reset"] = String(Math.ceil(now() / 1_000) + 60)
  }

  return {
    show: (keyId, headers) => write(buckets.look(String(keyId)), headers),
    take(keyId, headers) {
      const level = buckets.take(String(keyId))
      write(level, headers)
      if (level.taken) return
      throw new AppError("rate_limited", `The key may send ${perMinute} requests per minute.`, { retry_after: level.retryAfter })
    },
  }
}
