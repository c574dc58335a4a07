/** Allowances per second; 0 is no limit. */
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

/** More visitors than this are not told apart for longer than they stay among the latest. */
const KEPT = 50_000

/** Counts what each visitor, site and the instance send. The keys of visitors are hashes: no address stays in memory. */
export function createRates(limits: RateLimits) {
  const visitors = createBuckets(limits.visitorEventsPerMinute / 60_000, limits.visitorEventsPerMinute)
  const sites = createBuckets(limits.siteEventsPerSecond / 1_000, limits.siteBurst)
  const instance = createBuckets(limits.instanceEventsPerSecond / 1_000, limits.instanceEventsPerSecond)
  return {
    /** Takes one event from every allowance; undefined when all had one, else the seconds until the one that was empty has. */
    take(visitor: number, siteId: number, now: number): number | undefined {
      return visitors(visitor, now) ?? sites(siteId, now) ?? instance(0, now)
    },
  }
}

/** A bucket a key, filled by `perMs` up to `burst`. */
function createBuckets(perMs: number, burst: number): (key: number, now: number) => number | undefined {
  if (perMs === 0) return () => undefined
  const buckets = new Map<number, Bucket>()
  return (key, now) => {
    const bucket = buckets.get(key) ?? makeRoom(buckets, key, { tokens: burst, at: now })
    // A clock that was set back gives nothing and takes nothing.
    bucket.tokens = Math.min(burst, bucket.tokens + Math.max(0, now - bucket.at) * perMs)
    bucket.at = now
    if (bucket.tokens < 1) return Math.max(1, Math.ceil((1 - bucket.tokens) / perMs / 1_000))
    bucket.tokens--
    return undefined
  }
}

/** The oldest goes first: in a flood of visitors each has a full bucket anyway, and the site's own holds. */
function makeRoom(buckets: Map<number, Bucket>, key: number, bucket: Bucket): Bucket {
  if (buckets.size >= KEPT) buckets.delete(buckets.keys().next().value!)
  buckets.set(key, bucket)
  return bucket
}
