import { AppError } from "../domain/error.ts"
import type { ApiKey } from "../domain/key.ts"
import { type Level, tokenBuckets } from "../services/api-keys/token-buckets.ts"
import { type LiveNodes, shareOf } from "../services/runtime/nodes.ts"

/** Members of a key that determine its limit. */
type Limited = Pick<ApiKey, "id" | "rate_limit">

/** Rate limit of the public API per key. Writes the `RateLimit` headers into `headers`. */
export interface ApiLimits {
  /** Writes the headers without counting, for responses that fail before the limit is checked. */
  show(key: Limited, headers: Record<string, unknown>): void
  /** Counts one request. Throws `rate_limited` if no request is left. */
  take(key: Limited, headers: Record<string, unknown>): void
}

/**
 * Creates the limit. `usual` is the default number of requests per minute; 0 disables the limit and its headers. Several nodes divide the
 * number among them.
 */
export function apiLimits(usual: number, now: () => number, nodes?: Pick<LiveNodes, "live">): ApiLimits {
  const buckets = tokenBuckets(usual, now)
  const sizeOf = ({ rate_limit }: Limited): number => shareOf(rate_limit ?? usual, nodes)

  function write(level: Level, size: number, headers: Record<string, unknown>): void {
    headers["ratelimit-policy"] = `"default";q=${size};w=60`
    headers.ratelimit = `"default";r=${level.remaining};t=60`
    headers["x-ratelimit-limit"] = String(size)
    headers["x-ratelimit-remaining"] = String(level.remaining)
    // After a minute without requests the bucket is full again.
    headers["x-ratelimit-reset"] = String(Math.ceil(now() / 1_000) + 60)
  }

  return {
    show(key, headers) {
      const size = sizeOf(key)
      if (size > 0) write(buckets.peek(String(key.id), size), size, headers)
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
