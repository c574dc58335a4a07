import type { Clock } from "../../domain/clock.ts"
import { AppError } from "../../domain/error.ts"
import { parseId } from "../../domain/id.ts"
import { type ApiKey, type KeyState, keyEnded, keyNotFound, keyState, missingPermissionFor, parseRotation } from "../../domain/key.ts"
import { type KeyMaker, overseesKey, rightsBeyond } from "../../domain/key-bounds.ts"
import { type KeyFields, type KeyTerms, parseKey, patchKey } from "../../domain/key-input.ts"
import { composeKey, KEY_PREFIX, KEY_RANDOM_BYTES } from "../../domain/key-token.ts"
import { API } from "../../domain/limits.ts"
import { missingPermission } from "../../domain/membership.ts"
import { instantOrNull } from "../../domain/moment.ts"
import { keyLife } from "../../domain/organization.ts"
import type { Permissions } from "../../domain/permission.ts"
import { keyEvent } from "../../domain/product-event.ts"
import { type Expected, refuseOtherVersion, refuseStaleBody } from "../../domain/version.ts"
import { isRange, isWithinRanges } from "../../ingest/address/client-address.ts"
import {
  countLiveKeys,
  creatorById,
  expireKeys,
  insertKey,
  type KeyCreator,
  keyById,
  listKeyCreators,
  listKeys,
  replaceSecret,
  revokeKey,
  updateKey,
} from "../../store/catalog/api-keys.ts"
import type { Catalog, Statements } from "../../store/catalog/catalog.ts"
import { organizationById } from "../../store/catalog/organizations.ts"
import { organizationNotFound } from "../access/access.ts"
import type { Alongside } from "../definitions/site-things.ts"
import type { Outbox } from "../jobs/outbox.ts"
import { inSlices } from "../lists/paging.ts"
import type { Random } from "../secrets/secrets.ts"
import type { InstanceSettings } from "../settings/settings.ts"
import type { Sites } from "../sites/sites.ts"
import { createKeyLookup, hashOf, type KeyLookup } from "./key-lookup.ts"

/** A key with its secret, which is shown only once. */
export interface NewSecret {
  key: ApiKey
  secret: string
}

/** A key in the list of its organization. */
export interface ListedKey extends ApiKey {
  state: KeyState
  creator: Pick<KeyCreator, "user_id" | "name" | "email"> | null
  /** Whether its creator has left the organization, so that no member's permissions limit the key. */
  owner_left: boolean
}

/** Options of a change to a key. */
export interface KeyChangeTerms {
  expected?: Expected
  alongside?: Alongside<ApiKey>
  /** Receives the key with its secret, to store the response for idempotent retries. */
  storeResponse?: Alongside<NewSecret>
  /** Returns the key as the API shows it, for the `version_conflict` error. */
  current?(key: ApiKey): object
  /** Id of the user who makes the change. Missing for the command line. */
  by?: number
  /**
   * API key that makes the change, with its current rights. A key that it creates or rotates has at most these, and belongs to the same
   * user, whose permissions limit both.
   */
  maker?: Omit<KeyMaker, "isWithinRanges">
  /** The only site that a new key has access to. */
  site?: number
}

/** The API keys of organizations. A key of another organization is `api_key_not_found`; changing an expired or revoked key is `invalid_state`. */
export interface Keys extends KeyLookup {
  /**
   * Creates a key. A personal key belongs to its creator. Throws `validation_failed`, `limit_reached`, and `forbidden` for a key with more
   * permissions than its creator.
   */
  create(organizationId: number, body: unknown, terms?: KeyChangeTerms): Promise<NewSecret>
  /** Returns the keys by ascending id, optionally only those in one state. */
  list(organizationId: number, state?: KeyState): Promise<ApiKey[]>
  get(organizationId: number, id: string | undefined): Promise<ApiKey>
  /** Adds state and creator to the keys of one page of a list. */
  listed(organizationId: number, keys: readonly ApiKey[]): Promise<ListedKey[]>
  /** Applies a merge patch. Throws `validation_failed`, `forbidden`, `precondition_failed`, `version_conflict`. */
  update(organizationId: number, id: string | undefined, patch: unknown, terms?: KeyChangeTerms): Promise<ApiKey>
  /**
   * Replaces the secret of a key. The old secret works for another `grace_hours` (default 24). Throws `forbidden` for a key with more
   * rights than the author of the change.
   */
  rotate(organizationId: number, id: string | number, body: unknown, terms?: KeyChangeTerms): Promise<NewSecret>
  /** Revokes a key from the next request on. Idempotent. */
  revoke(organizationId: number, id: string | number, terms?: KeyChangeTerms): Promise<ApiKey>
  /** Marks expired keys, so that they stay expired if the clock is set back. */
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
  /** Throws `forbidden` if a key would have permissions that its author lacks. */
  async function refuseEscalation(
    statements: Statements,
    organizationId: number,
    fields: KeyFields,
    by: number | undefined,
  ): Promise<void> {
    if (by === undefined) return
    const creator = await creatorById(statements, organizationId, by)
    const lacked = creator ? missingPermissionFor(fields, creator, permissions) : "keys:write"
    if (lacked !== undefined) throw missingPermission(lacked, `An API key cannot have permissions that you lack: ${lacked}.`)
  }

  return {
    ...createKeyLookup({ catalog, clock, permissions }),
    create: (organizationId, body, { alongside, storeResponse, by, maker, site } = {}) =>
      catalog.transaction(async (statements) => {
        const terms = await termsOf(statements, organizationId)
        const { personal, ...fields } = parseKey(body, { ...terms, ...(maker && { maker: { ...maker, isWithinRanges } }) }, site)
        await refuseEscalation(statements, organizationId, fields, by)
        const now = clock.now()
        if ((await countLiveKeys(statements, organizationId, now)) >= API.keysPerOrganization) throw tooManyKeys()
        const { keyId, token } = composeKey(random(KEY_RANDOM_BYTES))
        const created_by = maker ? maker.key.created_by : (by ?? null)
        const owner = { organization_id: organizationId, created_by, owner_user_id: personal ? created_by : null }
        const stored = { key_id: keyId, secret_hash: hashOf(token), last4: token.slice(-4), created_at: now }
        const key = await insertKey(statements, { ...fields, ...owner, ...stored })
        await outbox.write(statements, keyEvent("created", key))
        await alongside?.(statements, { after: key })
        await storeResponse?.(statements, { after: { key, secret: token } })
        return { key, secret: token }
      }),
    async list(organizationId, state) {
      const [all, now] = [await inSlices((slice) => listKeys(catalog, organizationId, slice)), clock.now()]
      return state === undefined ? all : all.filter((key) => keyState(key, now) === state)
    },
    get: (organizationId, id) => find(catalog, organizationId, id),
    async listed(organizationId, keys) {
      const range = { first: keys[0]?.id ?? 0, last: keys.at(-1)?.id ?? 0 }
      const makers = new Map((await listKeyCreators(catalog, organizationId, range)).map((maker) => [maker.key_id, maker]))
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
        // Unchanged permissions may exceed the author's, because another member has granted them.
        const isOther = !Bun.deepEquals([before.scopes, before.site_ids], [fields.scopes, fields.site_ids])
        if (isOther) await refuseEscalation(statements, organizationId, fields, by)
        const state = keyState(before, clock.now())
        if (state !== "active") throw keyEnded(state)
        refuseOtherVersion(before, expected)
        refuseStaleBody(before, version, current)
        if (!isChange) return before
        const after = await updateKey(statements, before.id, fields)
        await alongside?.(statements, { before, after })
        return after
      }),
    async rotate(organizationId, id, body, { expected, alongside, storeResponse, by, maker } = {}) {
      const { grace_hours } = parseRotation(body)
      return catalog.transaction(async (statements) => {
        const before = await findLive(statements, organizationId, id)
        // The author of a rotation receives the secret, so they need all permissions of the key.
        await refuseEscalation(statements, organizationId, before, by)
        if (maker) refuseStronger(before, { ...maker, isWithinRanges })
        refuseOtherVersion(before, expected)
        const { token } = composeKey(random(KEY_RANDOM_BYTES), before.prefix.slice(KEY_PREFIX.length))
        const graceEnds = clock.now() + grace_hours * HOUR_MS
        const key = await replaceSecret(statements, before.id, { hash: hashOf(token), last4: token.slice(-4), graceEnds })
        await alongside?.(statements, { before, after: key })
        await storeResponse?.(statements, { after: { key, secret: token } })
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

/** Throws if another key has rights that its would-be holder lacks. */
function refuseStronger(key: ApiKey, maker: KeyMaker): void {
  if (!overseesKey(maker.key, key)) throw keyNotFound()
  const { scopes, ip_allow, rate_limit } = key
  const shown = { scopes, ip_allow, rate_limit, expires_at: instantOrNull(key.expires_at) }
  if (rightsBeyond(shown, maker).length > 0)
    throw new AppError("forbidden", "This API key has rights that the API key of the request lacks.")
}

const tooManyKeys = () =>
  new AppError(
    "limit_reached",
    `An organization can have up to ${API.keysPerOrganization} active API keys. Revoke one before you create another.`,
    {
      limit: API.keysPerOrganization,
      resource: "api_keys",
    },
  )
