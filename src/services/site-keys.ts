import type { IdentityKeys } from "../ingest/salts.ts"
import type { Catalog } from "../store/catalog/catalog.ts"
import { type SiteKeyPurpose, siteKey, upsertSiteKey } from "../store/catalog/site-keys.ts"
import type { Random, SecretPlace, Secrets } from "./secrets.ts"

export const SITE_KEY_BYTES = 32

export const siteKeyPlace = (siteId: number, purpose: SiteKeyPurpose): SecretPlace => ({ table: "site_keys", row: siteId, purpose })

/** The keys of sites, opened once and then in memory. */
export function createSiteKeys({ catalog, secrets, random }: { catalog: Catalog; secrets: Secrets; random: Random }): IdentityKeys {
  const opened = new Map<number, Uint8Array | Promise<Uint8Array>>()

  async function read(siteId: number): Promise<Uint8Array> {
    const place = siteKeyPlace(siteId, "identity")
    const key = await catalog.transaction(async (statements) => {
      const sealed = await siteKey(statements, siteId, "identity")
      const plain = sealed && secrets.open(sealed, place)
      if (plain) return plain
      // The instance has another secret key than the one it was sealed with: who was identified before is somebody new.
      const fresh = random(SITE_KEY_BYTES)
      await upsertSiteKey(statements, siteId, "identity", secrets.seal(fresh, place))
      return fresh
    })
    opened.set(siteId, key)
    return key
  }
  return {
    identityKey(siteId) {
      const known = opened.get(siteId)
      if (known) return known
      const reading = read(siteId)
      opened.set(siteId, reading)
      reading.catch(() => opened.delete(siteId)) // the next one tries again; whoever asked is told
      return reading
    },
  }
}
