import { createHash, timingSafeEqual } from "node:crypto"
import type { Clock } from "../domain/clock.ts"
import { AppError } from "../domain/error.ts"
import { parseId } from "../domain/id.ts"
import { type ApiKey, parseKey, parseRotation } from "../domain/key.ts"
import { composeKey, KEY_PREFIX, KEY_RANDOM_BYTES, keyIdOf } from "../domain/key-token.ts"
import { API } from "../domain/limits.ts"
import { addressRanges, isRange, readAddress } from "../ingest/client-address.ts"
import {
  countLiveKeys,
  insertKey,
  keyById,
  keyByKeyId,
  listKeys,
  markKeyUsed,
  replaceSecret,
  revokeKey,
  type StoredKey,
} from "../store/catalog/api-keys.ts"
import type { Catalog } from "../store/catalog/catalog.ts"
import type { Random } from "./secrets.ts"
import type { Sites } from "./sites.ts"
import { inSlices } from "./slices.ts"

export interface Keys {
  /** `secret` is the whole key, shown this once. Throws `validation_failed`, `limit_reached`. */
  create(organizationId: number, body: unknown): Promise<{ key: ApiKey; secret: string }>
  /** By id ascending, expired and revoked ones too. */
  list(organizationId: number): Promise<ApiKey[]>
  /**
   * The live key of a token; undefined for one that is unknown, malformed, expired or revoked, and for one used from an
   * address outside its list. Marks it as used.
   */
  find(token: string, address?: string): Promise<ApiKey | undefined>
  /**
   * Gives a key another secret, shown this once; the old one works for `grace_hours` more, 24 unless chosen. Throws
   * `not_found`, also for a key that has ended, and `validation_failed`.
   */
  rotate(organizationId: number, id: string | number, body: unknown): Promise<{ key: ApiKey; secret: string }>
  /** Takes effect with the next request. Throws `not_found`. */
  revoke(organizationId: number, id: string | number): Promise<ApiKey>
}

interface KeysOptions {
  catalog: Catalog
  clock: Pick<Clock, "now">
  random: Random
  sites: Pick<Sites, "list">
}

/** How often a use is written down. */
const USE_WRITTEN_EVERY_MS = 60_000
/** What an unknown key is compared with, so that it takes as long as a known one. */
const NO_HASH = new Uint8Array(32)

export function createKeys({ catalog, clock, random, sites }: KeysOptions): Keys {
  const writtenUses = new Map<number, number>()

  /** The answer does not wait for it, and a full disk does not turn readers away. */
  function noteUse(key: ApiKey, now: number): void {
    if (now - (writtenUses.get(key.id) ?? key.last_used_at ?? 0) < USE_WRITTEN_EVERY_MS) return
    writtenUses.set(key.id, now)
    markKeyUsed(catalog, key.id, now).catch(() => {}) // the store's state is known elsewhere; a use in a minute is written
  }
  return {
    async create(organizationId, body) {
      const ownSites = new Set((await sites.list(organizationId)).map(({ id }) => id))
      const fields = parseKey(body, clock.now(), ownSites, isRange)
      const { keyId, token } = composeKey(random(KEY_RANDOM_BYTES))
      const key = await catalog.transaction(async (statements) => {
        const now = clock.now()
        if ((await countLiveKeys(statements, organizationId, now)) >= API.keysPerOrganization) throw tooManyKeys()
        const stored = { key_id: keyId, secret_hash: hashOf(token), last4: token.slice(-4), created_at: now }
        return insertKey(statements, { ...fields, ...stored, organization_id: organizationId })
      })
      return { key, secret: token }
    },
    list: (organizationId) => inSlices((slice) => listKeys(catalog, organizationId, slice)),
    async find(token, address) {
      const keyId = keyIdOf(token)
      if (keyId === undefined) return undefined
      const found = await keyByKeyId(catalog, keyId)
      const now = clock.now()
      if (!isProven(hashOf(token), found, now) || !found || !isLive(found.key, now) || !isFrom(address, found.key)) return undefined
      noteUse(found.key, now)
      return found.key
    },
    async rotate(organizationId, id, body) {
      const { grace_hours } = parseRotation(body)
      return catalog.transaction(async (statements) => {
        const now = clock.now()
        const old = await keyById(statements, organizationId, parseId(id) ?? 0)
        if (!old || !isLive(old, now)) throw noKey()
        const { token } = composeKey(random(KEY_RANDOM_BYTES), old.prefix.slice(KEY_PREFIX.length))
        const secret = { hash: hashOf(token), last4: token.slice(-4), graceEnds: now + grace_hours * HOUR_MS }
        const key = await replaceSecret(statements, old.id, secret)
        if (!key) throw noKey()
        return { key, secret: token }
      })
    },
    async revoke(organizationId, id) {
      const key = await revokeKey(catalog, organizationId, parseId(id) ?? 0, clock.now())
      if (!key) throw noKey()
      return key
    },
  }
}

const hashOf = (token: string): Uint8Array => createHash("sha256").update(token).digest()

const isLive = ({ revoked_at, expires_at }: ApiKey, now: number): boolean =>
  revoked_at === null && (expires_at === null || expires_at > now)

const HOUR_MS = 3_600_000

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

const noKey = () => new AppError("not_found", "The organization has no live key with this id")

const tooManyKeys = () =>
  new AppError("limit_reached", `An organization may have ${API.keysPerOrganization} live keys`, {
    limit: API.keysPerOrganization,
    resource: "api_keys",
  })
