import { AppError } from "../domain/error.ts"
import type { ApiKey } from "../domain/key.ts"

/** What is left in a bucket after a take or a look. */
interface Level {
  taken: boolean
  remaining: number
  /** Seconds until one more is allowed; 0 when one is there. */
  retryAfter: number
}

interface Buckets {
  /** Takes one, if there is one. */
  take(name: string, size?: number): Level
  look(name: string, size?: number): Level
}

/** Buckets remembered at once. Beyond it the one that was idle longest is forgotten, which fills it up. */
const REMEMBERED = 100_000

/** Token buckets by name: `size` at once, refilled evenly over a minute unless another time is given. A name may have a size of its own. */
export function tokenBuckets(usualSize: number, now: () => number, refillMs = 60_000): Buckets {
  const buckets = new Map<string, { tokens: number; at: number }>()

  function level(name: string, size: number, wanted: 0 | 1): Level {
    const perMs = size / refillMs
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

  return { take: (name, size = usualSize) => level(name, size, 1), look: (name, size = usualSize) => level(name, size, 0) }
}

/** What of a key its limit hangs on. */
type Limited = Pick<ApiKey, "id" | "rate_limit">

/** The limit of the public API per key. It writes the `RateLimit` headers into `headers`. */
export interface ApiLimits {
  /** Only says what is left: for answers that fail before the limit is due. */
  show(key: Limited, headers: Record<string, unknown>): void
  /** Counts one request. Throws `rate_limited` when none is left. */
  take(key: Limited, headers: Record<string, unknown>): void
}

/** `usual` requests per minute for keys without a rate of their own; 0 = no limit, and no headers. */
export function apiLimits(usual: number, now: () => number): ApiLimits {
  const buckets = tokenBuckets(usual, now)
  const sizeOf = ({ rate_limit }: Limited): number => rate_limit ?? usual

  function write(level: Level, size: number, headers: Record<string, unknown>): void {
    headers["ratelimit-policy"] = `"default";q=${size};w=60`
    headers.ratelimit = `"default";r=${level.remaining};t=60`
    headers["x-ratelimit-limit"] = String(size)
    headers["x-ratelimit-remaining"] = String(level.remaining)
    // After a minute without requests the bucket is full again, whatever was left.
    headers["x-ratelimit-reset"] = String(Math.ceil(now() / 1_000) + 60)
  }

  return {
    show(key, headers) {
      const size = sizeOf(key)
      if (size > 0) write(buckets.look(String(key.id), size), size, headers)
    },
    take(key, headers) {
      const size = sizeOf(key)
      if (size === 0) return
      const level = buckets.take(String(key.id), size)
      write(level, size, headers)
      if (level.taken) return
      throw new AppError("rate_limited", `The key may send ${size} requests per minute.`, { retry_after: level.retryAfter })
    },
  }
}
