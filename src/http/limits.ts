import { AppError } from "../domain/error.ts"
import type { ApiKey } from "../domain/key.ts"
import { type Level, tokenBuckets } from "../services/token-buckets.ts"

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
