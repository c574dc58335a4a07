import type { Clock } from "../domain/clock.ts"
import { AppError } from "../domain/error.ts"
import { parseId } from "../domain/id.ts"
import { type ApiKey, type KeyState, keyEnded, keyNotFound, keyState, parseRotation } from "../domain/key.ts"
import { lackedFor } from "../domain/key-caps.ts"
import { type KeyFields, type KeyTerms, parseKey, patchKey } from "../domain/key-input.ts"
import { composeKey, KEY_PREFIX, KEY_RANDOM_BYTES } from "../domain/key-token.ts"
import { API } from "../domain/limits.ts"
import { lacking } from "../domain/membership.ts"
import { keyLife } from "../domain/organization.ts"
import type { Permissions } from "../domain/permission.ts"
import { type Expected, refuseOtherVersion, refuseStaleBody } from "../domain/version.ts"
import { isRange } from "../ingest/client-address.ts"
import {
  countLiveKeys,
  creatorById,
  expireKeys,
  insertKey,
  type KeyMaker,
  keyById,
  listKeyMakers,
  listKeys,
  replaceSecret,
  revokeKey,
  updateKey,
} from "../store/catalog/api-keys.ts"
import type { Catalog, Statements } from "../store/catalog/catalog.ts"
import { organizationById } from "../store/catalog/organizations.ts"
import { organizationNotFound } from "./access.ts"
import type { InstanceSettings } from "./instance-settings.ts"
import { createKeyLookup, hashOf, type KeyLookup } from "./key-lookup.ts"
import type { Outbox } from "./outbox.ts"
import { keyEvent } from "./product-events.ts"
import type { Random } from "./secrets.ts"
import type { Alongside } from "./site-things.ts"
import type { Sites } from "./sites.ts"
import { inSlices } from "./slices.ts"

/** A key with its secret, shown this once. */
export interface NewSecret {
  key: ApiKey
  secret: string
}

/** A key as its organization's lists show it. */
export interface ListedKey extends ApiKey {
  state: KeyState
  creator: Pick<KeyMaker, "user_id" | "name" | "email"> | null
  /** Its creator is no member any more: nobody's permissions bound it. */
  owner_left: boolean
}

/** What a change of a key may say besides. */
export interface KeyChangeTerms {
  expected?: Expected
  alongside?: Alongside<ApiKey>
  /** With the secret, for an answer that is kept. */
  told?: Alongside<NewSecret>
  /** The key as answers show it, for a caller whose version is old. */
  current?(key: ApiKey): object
  /** Who does it; the command line without one. */
  by?: number
  /** The one site that a new key reaches. */
  site?: number
}

/** API keys. One of another organization is `api_key_not_found`, one that has ended is `invalid_state` to whoever would change it. */
export interface Keys extends KeyLookup {
  /**
   * Throws `validation_failed`, `limit_reached`, and `forbidden` for a key that may do more than its creator. A personal key
   * is its creator's.
   */
  create(organizationId: number, body: unknown, terms?: KeyChangeTerms): Promise<NewSecret>
  /** By id ascending, those of a state or all. */
  list(organizationId: number, state?: KeyState): Promise<ApiKey[]>
  get(organizationId: number, id: string | undefined): Promise<ApiKey>
  /** Keys of one page of a list, in their order, with who made them. */
  listed(organizationId: number, keys: readonly ApiKey[]): Promise<ListedKey[]>
  /** A merge patch. Throws `validation_failed`, `forbidden`, `precondition_failed`, `version_conflict`. */
  update(organizationId: number, id: string | undefined, patch: unknown, terms?: KeyChangeTerms): Promise<ApiKey>
  /**
   * Gives a key another secret, shown this once; the old one works for `grace_hours` more, 24 unless chosen. Throws `forbidden`
   * for a key that may do more than who does it.
   */
  rotate(organizationId: number, id: string | number, body: unknown, terms?: KeyChangeTerms): Promise<NewSecret>
  /** Takes effect with the next request; one that is revoked already stays as it is. */
  revoke(organizationId: number, id: string | number, terms?: KeyChangeTerms): Promise<ApiKey>
  /** What is over by now stays over, whatever the clock says later. */
  expire(): Promise<void>
}

interface KeysOptions {
  catalog: Catalog
  clock: Pick<Clock, "now">
  random: Random
  sites: Pick<Sites, "list">
  permissions: Permissions
  settings: Pick<InstanceSettings, "get">
  outbox: Pick<Outbox, "write">
}

export function createKeys({ catalog, clock, random, sites, permissions, settings, outbox }: KeysOptions): Keys {
  async function termsOf(statements: Statements, organizationId: number): Promise<KeyTerms> {
    const organization = await organizationById(statements, organizationId)
    if (!organization) throw organizationNotFound()
    const ownSites = new Set((await sites.list(organizationId)).map(({ id }) => id))
    return { now: clock.now(), ownSites, life: keyLife(organization.policy, settings.get("key_max_days")), isRange }
  }
  async function find(statements: Statements, organizationId: number, id: string | number | undefined): Promise<ApiKey> {
    const key = await keyById(statements, organizationId, parseId(id) ?? 0)
    if (!key) throw keyNotFound()
    return key
  }
  async function findLive(statements: Statements, organizationId: number, id: string | number | undefined): Promise<ApiKey> {
    const key = await find(statements, organizationId, id)
    const state = keyState(key, clock.now())
    if (state !== "active") throw keyEnded(state)
    return key
  }
  /** Nobody gives a key what they lack. */
  async function refuseBeyond(statements: Statements, organizationId: number, fields: KeyFields, by: number | undefined): Promise<void> {
    if (by === undefined) return
    const creator = await creatorById(statements, organizationId, by)
    const lacked = creator ? lackedFor(fields, creator, permissions) : "keys:write"
    if (lacked !== undefined) throw lacking(lacked, `The key would do what you may not: ${lacked}.`)
  }

  return {
    ...createKeyLookup({ catalog, clock, permissions }),
    create: (organizationId, body, { alongside, told, by, site } = {}) =>
      catalog.transaction(async (statements) => {
        const { personal, ...fields } = parseKey(body, await termsOf(statements, organizationId), site)
        await refuseBeyond(statements, organizationId, fields, by)
        const now = clock.now()
        if ((await countLiveKeys(statements, organizationId, now)) >= API.keysPerOrganization) throw tooManyKeys()
        const { keyId, token } = composeKey(random(KEY_RANDOM_BYTES))
        const owner = { organization_id: organizationId, created_by: by ?? null, owner_user_id: personal ? (by ?? null) : null }
        const stored = { key_id: keyId, secret_hash: hashOf(token), last4: token.slice(-4), created_at: now }
        const key = await insertKey(statements, { ...fields, ...owner, ...stored })
        await outbox.write(statements, keyEvent("created", key))
        await alongside?.(statements, { after: key })
        await told?.(statements, { after: { key, secret: token } })
        return { key, secret: token }
      }),
    async list(organizationId, state) {
      const [all, now] = [await inSlices((slice) => listKeys(catalog, organizationId, slice)), clock.now()]
      return state === undefined ? all : all.filter((key) => keyState(key, now) === state)
    },
    get: (organizationId, id) => find(catalog, organizationId, id),
    async listed(organizationId, keys) {
      const range = { first: keys[0]?.id ?? 0, last: keys.at(-1)?.id ?? 0 }
      const makers = new Map((await listKeyMakers(catalog, organizationId, range)).map((maker) => [maker.key_id, maker]))
      const now = clock.now()
      return keys.map((key) => {
        const maker = makers.get(key.id)
        const creator = maker ? { user_id: maker.user_id, name: maker.name, email: maker.email } : null
        return { ...key, state: keyState(key, now), creator, owner_left: maker?.is_member === 0 }
      })
    },
    update: (organizationId, id, patch, { expected, alongside, by, current = (key: ApiKey): object => key } = {}) =>
      catalog.transaction(async (statements) => {
        const before = await find(statements, organizationId, id)
        const { version, ...fields } = patchKey(before, patch, await termsOf(statements, organizationId))
        const isChange = !Bun.deepEquals({ ...before, ...fields }, before)
        // What it may do stays as it is: somebody else has given that.
        const isOther = !Bun.deepEquals([before.scopes, before.site_ids], [fields.scopes, fields.site_ids])
        if (isOther) await refuseBeyond(statements, organizationId, fields, by)
        const state = keyState(before, clock.now())
        if (state !== "active") throw keyEnded(state)
        refuseOtherVersion(before, expected)
        refuseStaleBody(before, version, current)
        if (!isChange) return before
        const after = await updateKey(statements, before.id, fields)
        await alongside?.(statements, { before, after })
        return after
      }),
    async rotate(organizationId, id, body, { expected, alongside, told, by } = {}) {
      const { grace_hours } = parseRotation(body)
      return catalog.transaction(async (statements) => {
        const before = await findLive(statements, organizationId, id)
        // Whoever rotates a key holds it.
        await refuseBeyond(statements, organizationId, before, by)
        refuseOtherVersion(before, expected)
        const { token } = composeKey(random(KEY_RANDOM_BYTES), before.prefix.slice(KEY_PREFIX.length))
        const graceEnds = clock.now() + grace_hours * HOUR_MS
        const key = await replaceSecret(statements, before.id, { hash: hashOf(token), last4: token.slice(-4), graceEnds })
        await alongside?.(statements, { before, after: key })
        await told?.(statements, { after: { key, secret: token } })
        return { key, secret: token }
      })
    },
    revoke: (organizationId, id, { expected, alongside, by = null } = {}) =>
      catalog.transaction(async (statements) => {
        const before = await find(statements, organizationId, id)
        refuseOtherVersion(before, expected)
        if (before.revoked_at !== null) return before
        const after = await revokeKey(statements, before.id, { now: clock.now(), by })
        await outbox.write(statements, keyEvent("revoked", after))
        await alongside?.(statements, { before, after })
        return after
      }),
    expire: () => expireKeys(catalog, clock.now()),
  }
}

const HOUR_MS = 3_600_000

const tooManyKeys = () =>
  new AppError("limit_reached", `An organization may have ${API.keysPerOrganization} live keys`, {
    limit: API.keysPerOrganization,
    resource: "api_keys",
  })
