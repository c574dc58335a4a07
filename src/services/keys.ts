import { createHash, timingSafeEqual } from "node:crypto"
import type { Clock } from "../domain/clock.ts"
import { AppError } from "../domain/error.ts"
import { parseId } from "../domain/id.ts"
import { type ApiKey, parseKey } from "../domain/key.ts"
import { composeKey, KEY_RANDOM_BYTES, keyIdOf } from "../domain/key-token.ts"
import { API } from "../domain/limits.ts"
import { countLiveKeys, insertKey, keyByKeyId, listKeys, markKeyUsed, revokeKey } from "../store/catalog/api-keys.ts"
import type { Catalog } from "../store/catalog/catalog.ts"
import type { Random } from "./secrets.ts"
import type { Sites } from "./sites.ts"
import { inSlices } from "./slices.ts"

export interface Keys {
  /** `secret` is the whole key, shown this once. Throws `validation_failed`, `limit_reached`. */
  create(organizationId: number, body: unknown): Promise<{ key: ApiKey; secret: string }>
  /** By id ascending, expired and revoked ones too. */
  list(organizationId: number): Promise<ApiKey[]>
  /** The live key of a token; undefined for an unknown, malformed, expired or revoked one. Marks it as used. */
  find(token: string): Promise<ApiKey | undefined>
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
      const fields = parseKey(body, clock.now(), ownSites)
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
    async find(token) {
      const keyId = keyIdOf(token)
      if (keyId === undefined) return undefined
      const found = await keyByKeyId(catalog, keyId)
      const isSame = timingSafeEqual(hashOf(token), found?.secretHash ?? NO_HASH)
      const now = clock.now()
      if (!found || !isSame || !isLive(found.key, now)) return undefined
      noteUse(found.key, now)
      return found.key
    },
    async revoke(organizationId, id) {
      const key = await revokeKey(catalog, organizationId, parseId(id) ?? 0, clock.now())
      if (!key) throw new AppError("not_found", "The organization has no key with this id")
      return key
    },
  }
}

const hashOf = (token: string): Uint8Array => createHash("sha256").update(token).digest()

const isLive = ({ revoked_at, expires_at }: ApiKey, now: number): boolean =>
  revoked_at === null && (expires_at === null || expires_at > now)

const tooManyKeys = () =>
  new AppError("limit_reached", `An organization may have ${API.keysPerOrganization} live keys`, {
    limit: API.keysPerOrganization,
    resource: "api_keys",
  })
