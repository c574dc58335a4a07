import type { IdentityKeys } from "../ingest/salts.ts"
import type { Catalog, Statements } from "../store/catalog/catalog.ts"
import { type SiteKeyPurpose, siteKey, upsertSiteKey } from "../store/catalog/site-keys.ts"
import type { Random, SecretPlace, Secrets } from "./secrets.ts"

const SITE_KEY_BYTES = 32

/** Where a key of a site is sealed. */
export const siteKeyPlace = (siteId: number, purpose: SiteKeyPurpose): SecretPlace => ({ table: "site_keys", row: siteId, purpose })

export interface SiteKeys extends IdentityKeys {
  /** The key of a site's pseudonyms, which never changes (metrics.md 2.1). */
  siteKey(siteId: number): Promise<Uint8Array>
  /** Makes the two keys of a new site. */
  make(statements: Statements, siteId: number): Promise<void>
  /** Makes another identity key: who was identified before is somebody new. To be followed by `forget` at the commit. */
  replaceIdentityKey(statements: Statements, siteId: number): Promise<void>
  /** The next one who asks reads the key again. */
  forget(siteId: number): void
}

/** The keys of sites, opened once and then in memory. */
export function createSiteKeys({ catalog, secrets, random }: { catalog: Catalog; secrets: Secrets; random: Random }): SiteKeys {
  const opened = new Map<number, Uint8Array | Promise<Uint8Array>>()

  async function write(statements: Statements, siteId: number, purpose: SiteKeyPurpose): Promise<Uint8Array> {
    const fresh = random(SITE_KEY_BYTES)
    await upsertSiteKey(statements, siteId, purpose, secrets.seal(fresh, siteKeyPlace(siteId, purpose)))
    return fresh
  }
  /** Undefined also when it was sealed with another secret key than the instance has now. */
  async function stored(statements: Statements, siteId: number, purpose: SiteKeyPurpose): Promise<Uint8Array | undefined> {
    const sealed = await siteKey(statements, siteId, purpose)
    return sealed && secrets.open(sealed, siteKeyPlace(siteId, purpose))
  }
  const read = (siteId: number, purpose: SiteKeyPurpose, onCommit?: (key: Uint8Array) => void): Promise<Uint8Array> =>
    catalog.transaction(async (statements) => (await stored(statements, siteId, purpose)) ?? write(statements, siteId, purpose), onCommit)
  return {
    async make(statements, siteId) {
      await write(statements, siteId, "site")
      await write(statements, siteId, "identity")
    },
    // Asked for once for many names, and nearly always without a write.
    siteKey: async (siteId) => (await stored(catalog, siteId, "site")) ?? read(siteId, "site"),
    replaceIdentityKey: async (statements, siteId) => void (await write(statements, siteId, "identity")),
    forget: (siteId) => void opened.delete(siteId),
    identityKey(siteId) {
      const known = opened.get(siteId)
      if (known) return known
      const reading = read(siteId, "identity", (key) => opened.set(siteId, key))
      opened.set(siteId, reading)
      reading.catch(() => opened.delete(siteId)) // the next one tries again; whoever asked is told
      return reading
    },
  }
}
