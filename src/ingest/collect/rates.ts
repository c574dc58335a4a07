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

/** Creates the limits per visitor, site and instance. Visitors are keyed by hash, so that no address stays in memory. */
export function createRates(limits: RateLimits) {
  const visitors = createBuckets(limits.visitorEventsPerMinute / 60_000, limits.visitorEventsPerMinute)
  const sites = createBuckets(limits.siteEventsPerSecond / 1_000, limits.siteBurst)
  const instance = createBuckets(limits.instanceEventsPerSecond / 1_000, limits.instanceEventsPerSecond)
  return {
    /** Takes one token from every bucket. Returns the seconds until an empty bucket has one, or undefined when none was empty. */
    take(visitor: number, siteId: number, now: number): number | undefined {
      return visitors(visitor, now) ?? sites(siteId, now) ?? instance(0, now)
    },
  }
}

/** Creates token buckets by key, refilled by `perMs` up to `burst`. */
function createBuckets(perMs: number, burst: number): (key: number, now: number) => number | undefined {
  if (perMs === 0) return () => undefined
  const buckets = new Map<number, Bucket>()
  return (key, now) => {
    const bucket = buckets.get(key) ?? makeRoom(buckets, key, { tokens: burst, at: now })
    // A clock that was set back neither adds nor removes tokens.
    bucket.tokens = Math.min(burst, bucket.tokens + Math.max(0, now - bucket.at) * perMs)
    bucket.at = now
    if (bucket.tokens < 1) return Math.max(1, Math.ceil((1 - bucket.tokens) / perMs / 1_000))
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
