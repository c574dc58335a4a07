/** The state of a bucket after `take` or `peek`. */
export interface Level {
  taken: boolean
  remaining: number
  /** Seconds until the next token is available; 0 if one is available now. */
  retryAfter: number
}

export interface Buckets {
  /** Takes a token if one is available. */
  take(name: string, size?: number): Level
  peek(name: string, size?: number): Level
}

/** Maximum number of buckets in memory. Beyond it, the least recently used one is dropped, which refills it. */
const MAX_BUCKETS = 100_000

/** Creates token buckets by name. A bucket holds `usualSize` tokens, unless a call gives another size, and refills evenly within `refillMs`. */
export function tokenBuckets(usualSize: number, now: () => number, refillMs = 60_000): Buckets {
  const buckets = new Map<string, { tokens: number; at: number }>()

  function level(name: string, size: number, wanted: 0 | 1): Level {
    const perMs = size / refillMs
    const at = now()
    const old = buckets.get(name)
    // Setting the clock back must not drain a bucket.
    const tokens = old ? Math.min(size, old.tokens + Math.max(0, at - old.at) * perMs) : size
    const taken = tokens >= 1
    const rest = taken ? tokens - wanted : tokens
    if (wanted === 1) remember(name, { tokens: rest, at })
    return { taken, remaining: Math.floor(rest), retryAfter: rest >= 1 ? 0 : Math.ceil((1 - rest) / perMs / 1_000) }
  }

  function remember(name: string, bucket: { tokens: number; at: number }): void {
    // Deleted first, so that the map is ordered by last use.
    buckets.delete(name)
    buckets.set(name, bucket)
    if (buckets.size > MAX_BUCKETS) buckets.delete(buckets.keys().next().value!)
  }

  return { take: (name, size = usualSize) => level(name, size, 1), peek: (name, size = usualSize) => level(name, size, 0) }
}
