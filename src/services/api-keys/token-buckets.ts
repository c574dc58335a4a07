/** What is left in a bucket after a take or a look. */
export interface Level {
  taken: boolean
  remaining: number
  /** Seconds until one more is allowed; 0 when one is there. */
  retryAfter: number
}

export interface Buckets {
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
