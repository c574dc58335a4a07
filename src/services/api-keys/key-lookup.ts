import { createHash, timingSafeEqual } from "node:crypto"
import type { Clock } from "../domain/clock.ts"
import { type ApiKey, keyState } from "../domain/key.ts"
import { cappedKey } from "../domain/key-caps.ts"
import { keyIdOf } from "../domain/key-token.ts"
import type { Permissions } from "../domain/permission.ts"
import { addressRanges, readAddress } from "../ingest/client-address.ts"
import { expireKeys, keyByKeyId, markKeyUsed, type StoredKey } from "../store/catalog/api-keys.ts"
import type { Catalog } from "../store/catalog/catalog.ts"

/** From where a key is used. */
interface KeyUse {
  address?: string | undefined
  /** /24 or /48 of the address. */
  ipPrefix?: string
  userAgent?: string
}

/** Which key a request brings. */
export interface KeyLookup {
  /**
   * The live key of a token; undefined for one that is unknown, malformed, expired or revoked, for one used from an address
   * outside its list, and for a personal one whose owner is gone. It can do what its creator still may. Marks it as used.
   */
  find(token: string, use?: KeyUse): Promise<ApiKey | undefined>
}

interface KeyLookupOptions {
  catalog: Catalog
  clock: Pick<Clock, "now">
  permissions: Permissions
}

/** How often a use is written down. */
const USE_WRITTEN_EVERY_MS = 60_000
const AGENT_CHARACTERS = 200
/** What an unknown key is compared with, so that it takes as long as a known one. */
const NO_HASH = new Uint8Array(32)

export function createKeyLookup({ catalog, clock, permissions }: KeyLookupOptions): KeyLookup {
  const writtenUses = new Map<number, number>()

  /** The answer does not wait for it, and a full disk does not turn readers away. */
  function noteUse(key: ApiKey, now: number, { ipPrefix, userAgent }: KeyUse): void {
    if (now - (writtenUses.get(key.id) ?? key.last_used_at ?? 0) < USE_WRITTEN_EVERY_MS) return
    writtenUses.set(key.id, now)
    const agent = userAgent?.slice(0, AGENT_CHARACTERS).toWellFormed() || null
    // The store's state is known elsewhere; a use in a minute is written.
    markKeyUsed(catalog, key.id, { at: now, ipPrefix: ipPrefix || null, agent }).catch(() => {})
  }
  /** Whoever asks again after the clock was set back gets the same answer. */
  const endSoon = () => void expireKeys(catalog, clock.now()).catch(() => {}) // it is done again with every minute

  return {
    async find(token, use = {}) {
      const keyId = keyIdOf(token)
      if (keyId === undefined) return undefined
      const found = await keyByKeyId(catalog, keyId)
      const now = clock.now()
      if (!isProven(hashOf(token), found, now) || !found) {
        if (found?.previous && found.previous.validUntil <= now) endSoon()
        return undefined
      }
      if (keyState(found.key, now) === "expired" && found.key.expired_at === null) endSoon()
      if (keyState(found.key, now) !== "active" || !isFrom(use.address, found.key) || isOrphaned(found)) return undefined
      noteUse(found.key, now, use)
      return found.creator ? cappedKey(found.key, found.creator, permissions) : found.key
    },
  }
}

/** What is stored of a token. */
export const hashOf = (token: string): Uint8Array => createHash("sha256").update(token).digest()

/** By the secret itself, or by the one before while its grace lasts. Always as many comparisons. */
function isProven(hash: Uint8Array, found: StoredKey | undefined, now: number): boolean {
  const isPresent = timingSafeEqual(hash, found?.secretHash ?? NO_HASH)
  const isPrevious = timingSafeEqual(hash, found?.previous?.hash ?? NO_HASH)
  return isPresent || (isPrevious && now < (found?.previous?.validUntil ?? 0))
}

function isFrom(address: string | undefined, { ip_allow }: ApiKey): boolean {
  if (ip_allow.length === 0) return true
  const client = readAddress(address ?? "")
  return client !== undefined && addressRanges(ip_allow).find(client) !== undefined
}

/** A personal key lives as long as its owner is an active member. */
const isOrphaned = ({ key, creator, ownerIsActive }: StoredKey): boolean =>
  key.owner_user_id !== null && (creator === null || !ownerIsActive)
