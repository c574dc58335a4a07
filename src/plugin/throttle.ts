import { AppError } from "../domain/error.ts"
import { readAddress } from "../ingest/address/client-address.ts"
import { tokenBuckets } from "../services/api-keys/token-buckets.ts"
import type { Asked, Throttle } from "./host.ts"
import type { Mount } from "./load.ts"

export interface LateThrottle {
  make(most: number, refillMs: number): Throttle
  /** Sets the function that returns the address of a client. */
  bind(addressOf: Mount["addressOf"]): void
}

/** Creates rate limits per client, identified by the IPv4 address or the first half of the IPv6 address. Plugins never see addresses. */
export function lateThrottle(now: () => number): LateThrottle {
  let addressOf: Mount["addressOf"] = () => undefined
  const clientOf = (asked: Asked): string => {
    const bytes = readAddress(addressOf(asked) ?? "")?.bytes
    return bytes ? bytes.slice(0, bytes.length === 4 ? 4 : 8).toHex() : "unknown"
  }
  return {
    bind(given) {
      addressOf = given
    },
    make(most, refillMs) {
      const buckets = tokenBuckets(most, now, refillMs)
      return {
        take(asked, what = "") {
          const { taken, retryAfter } = buckets.take(`${clientOf(asked)} ${what}`)
          if (!taken) throw new AppError("rate_limited", "Too many requests.", { retry_after: retryAfter })
        },
      }
    },
  }
}
