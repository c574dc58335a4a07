import type { IdentityKeys } from "../../ingest/identity/salt-period.ts"
import type { Catalog, Statements } from "../../store/catalog/catalog.ts"
import { type SiteKeyPurpose, siteKey, upsertSiteKey } from "../../store/catalog/sites.ts"
import type { Random, SecretPlace, Secrets } from "../secrets/secrets.ts"

const SITE_KEY_BYTES = 32

/** Returns the place under which a site's key is sealed. */
export const siteKeyPlace = (siteId: number, purpose: SiteKeyPurpose): SecretPlace => ({ table: "site_keys", row: siteId, purpose })

export interface SiteKeys extends IdentityKeys {
  /** Returns the key of a site's pseudonyms, which never changes (metrics.md 2.1). */
  siteKey(siteId: number): Promise<Uint8Array>
  /** Creates the two keys of a new site. */
  make(statements: Statements, siteId: number): Promise<void>
  /** Replaces the identity key, so that identified visitors count as new. Call `forget` at the commit. */
  replaceIdentityKey(statements: Statements, siteId: number): Promise<void>
  /** Drops the key from memory. The next caller reads it from the catalog. */
  forget(siteId: number): void
}

/** Creates the service for the keys of sites. Opened keys stay in memory. */
export function createSiteKeys({ catalog, secrets, random }: { catalog: Catalog; secrets: Secrets; random: Random }): SiteKeys {
  const opened = new Map<number, Uint8Array | Promise<Uint8Array>>()

  async function write(statements: Statements, siteId: number, purpose: SiteKeyPurpose): Promise<Uint8Array> {
    const key = random(SITE_KEY_BYTES)
    await upsertSiteKey(statements, siteId, purpose, secrets.seal(key, siteKeyPlace(siteId, purpose)))
    return key
  }
  /** Returns a stored key, or undefined if there is none or it was sealed with a different secret key. */
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
    // Called once per batch of names, and almost always without a write.
    siteKey: async (siteId) => (await stored(catalog, siteId, "site")) ?? read(siteId, "site"),
    replaceIdentityKey: async (statements, siteId) => void (await write(statements, siteId, "identity")),
    forget: (siteId) => void opened.delete(siteId),
    identityKey(siteId) {
      const known = opened.get(siteId)
      if (known) return known
      const reading = read(siteId, "identity", (key) => opened.set(siteId, key))
      opened.set(siteId, reading)
      reading.catch(() => opened.delete(siteId)) // the next call tries again; this caller receives the error
      return reading
    },
  }
}
