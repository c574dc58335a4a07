import type { SiteKeys } from "../../services/sites/site-keys.ts"

export type SiteHash = (text: string) => string

const BITS_IN_HEX = 16

/** Caches the hash function of each site. The key of a site never changes and does not leave this file. */
export function siteHashes(keys: Pick<SiteKeys, "siteKey">): (siteId: number) => SiteHash | Promise<SiteHash> {
  const known = new Map<number, SiteHash>()
  async function learn(siteId: number): Promise<SiteHash> {
    const key = await keys.siteKey(siteId)
    const hash: SiteHash = (text) => new Bun.CryptoHasher("sha256", key).update(text).digest("hex").slice(0, BITS_IN_HEX)
    known.set(siteId, hash)
    return hash
  }
  return (siteId) => known.get(siteId) ?? learn(siteId)
}
