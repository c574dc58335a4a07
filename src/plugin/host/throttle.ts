import { AppError } from "../../domain/error.ts"
import { readAddress } from "../../ingest/address/client-address.ts"
import { tokenBuckets } from "../../services/api-keys/token-buckets.ts"
import type { Asked, Host } from "./host.ts"

/** Returns the address of a client, or undefined if the connection has ended. */
export type AddressOf = (asked: Asked) => string | undefined

/** Creates rate limits per client, identified by the IPv4 address or the first half of the IPv6 address. Plugins never see addresses. */
export function throttles(now: () => number, addressOf: AddressOf): Host["throttle"] {
  const clientOf = (asked: Asked): string => {
    const bytes = readAddress(addressOf(asked) ?? "")?.bytes
    return bytes ? bytes.slice(0, bytes.length === 4 ? 4 : 8).toHex() : "unknown"
  }
  return (most, refillMs) => {
    const buckets = tokenBuckets(most, now, refillMs)
    return {
      take(asked, what = "") {
        const { taken, retryAfter } = buckets.take(`${clientOf(asked)} ${what}`)
        if (!taken) throw new AppError("rate_limited", "Too many requests.", { retry_after: retryAfter })
      },
    }
  }
}
