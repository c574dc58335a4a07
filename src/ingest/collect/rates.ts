/** Rate limits. 0 disables a limit. */
export interface RateLimits {
  visitorEventsPerMinute: number
  siteEventsPerSecond: number
  siteBurst: number
  instanceEventsPerSecond: number
}

interface Bucket {
  tokens: number
  at: number
}

/** Maximum number of visitors with a bucket. The oldest bucket is dropped first. */
const MAX_BUCKETS = 50_000

/**
 * Creates the limits per visitor, site and instance. Visitors are keyed by hash, so that no address stays in memory. The requests of a visitor
 * reach one node, but those of a site do not: `nodes` returns the number of nodes that divide the other limits among them.
 */
export function createRates(limits: RateLimits, nodes: () => number = () => 1) {
  const visitors = createBuckets(limits.visitorEventsPerMinute / 60_000, limits.visitorEventsPerMinute)
  const sites = createBuckets(limits.siteEventsPerSecond / 1_000, limits.siteBurst)
  const instance = createBuckets(limits.instanceEventsPerSecond / 1_000, limits.instanceEventsPerSecond)
  return {
    /** Takes one token from every bucket. Returns the seconds until an empty bucket has one, or undefined when none was empty. */
    take(visitor: number, siteId: number, now: number): number | undefined {
      const shares = nodes()
      return visitors(visitor, now, 1) ?? sites(siteId, now, shares) ?? instance(0, now, shares)
    },
  }
}

/** Creates token buckets by key, refilled by `perMs` up to `burst`. Both are divided by the number of shares. */
function createBuckets(perMs: number, burst: number): (key: number, now: number, shares: number) => number | undefined {
  if (perMs === 0) return () => undefined
  const buckets = new Map<number, Bucket>()
  return (key, now, shares) => {
    const size = Math.max(1, burst / shares)
    const bucket = buckets.get(key) ?? makeRoom(buckets, key, { tokens: size, at: now })
    // A clock that was set back neither adds nor removes tokens.
    bucket.tokens = Math.min(size, bucket.tokens + (Math.max(0, now - bucket.at) * perMs) / shares)
    bucket.at = now
    if (bucket.tokens < 1) return Math.max(1, Math.ceil((1 - bucket.tokens) / (perMs / shares) / 1_000))
    bucket.tokens--
    return undefined
  }
}

/** Adds a bucket and drops the oldest when there are too many: in a flood of visitors the limit of the site applies. */
function makeRoom(buckets: Map<number, Bucket>, key: number, bucket: Bucket): Bucket {
  if (buckets.size >= MAX_BUCKETS) buckets.delete(buckets.keys().next().value!)
  buckets.set(key, bucket)
  return bucket
}
