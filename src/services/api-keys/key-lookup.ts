import { createHash, timingSafeEqual } from "node:crypto"
import type { Clock } from "../../domain/clock.ts"
import { type ApiKey, cappedKey, keyState } from "../../domain/key.ts"
import { keyIdOf } from "../../domain/key-token.ts"
import type { Permissions } from "../../domain/permission.ts"
import { addressRanges, readAddress } from "../../ingest/address/client-address.ts"
import { expireKeys, keyByKeyId, markKeyUsed, type StoredKey } from "../../store/catalog/api-keys.ts"
import type { Catalog } from "../../store/catalog/catalog.ts"

/** The client that uses a key. */
interface KeyUse {
  address?: string | undefined
  /** /24 or /48 of the address. */
  ipPrefix?: string
  userAgent?: string
}

/** Authentication of requests by API key. */
export interface KeyLookup {
  /**
   * Returns the active key of a token and records its use. Its permissions are limited to those that its creator still has. Returns
   * undefined for a token that is unknown, malformed, expired or revoked, for an IP address that the key does not allow, and for a
   * personal key whose owner is no longer an active member.
   */
  find(token: string, use?: KeyUse): Promise<ApiKey | undefined>
}

interface KeyLookupOptions {
  catalog: Catalog
  clock: Pick<Clock, "now">
  permissions: Permissions
}

/** Minimum time between two updates of a key's last use. */
const USE_WRITTEN_EVERY_MS = 60_000
const AGENT_CHARACTERS = 200
/** Compared with unknown keys, so that they take as long as known ones. */
const NO_HASH = new Uint8Array(32)

export function createKeyLookup({ catalog, clock, permissions }: KeyLookupOptions): KeyLookup {
  const writtenUses = new Map<number, number>()

  /** Records a use in the background, so that neither latency nor a full disk affects the request. */
  function noteUse(key: ApiKey, now: number, { ipPrefix, userAgent }: KeyUse): void {
    if (now - (writtenUses.get(key.id) ?? key.last_used_at ?? 0) < USE_WRITTEN_EVERY_MS) return
    writtenUses.set(key.id, now)
    const agent = userAgent?.slice(0, AGENT_CHARACTERS).toWellFormed() || null
    // Store problems are reported elsewhere, and a later use is recorded again.
    markKeyUsed(catalog, key.id, { at: now, ipPrefix: ipPrefix || null, agent }).catch(() => {})
  }
  /** Marks expired keys now, so that they stay expired if the clock is set back. */
  const endNow = () => expireKeys(catalog, clock.now()).catch(() => {}) // repeated every minute

  return {
    async find(token, use = {}) {
      const keyId = keyIdOf(token)
      if (keyId === undefined) return undefined
      const found = await keyByKeyId(catalog, keyId)
      const now = clock.now()
      if (!isProven(hashOf(token), found, now) || !found) {
        if (found?.previous && found.previous.validUntil <= now) await endNow()
        return undefined
      }
      if (keyState(found.key, now) === "expired" && found.key.expired_at === null) await endNow()
      if (keyState(found.key, now) !== "active" || !isFrom(use.address, found.key) || isOrphaned(found)) return undefined
      noteUse(found.key, now, use)
      return found.creator ? cappedKey(found.key, found.creator, permissions) : found.key
    },
  }
}

/** Returns the stored hash of a token. */
export const hashOf = (token: string): Uint8Array => createHash("sha256").update(token).digest()

/** Whether a hash is the one of the current secret, or of the previous one during its grace period. Takes constant time. */
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
