import type { TObject } from "@sinclair/typebox"
import type { Clock } from "../../domain/clock.ts"
import { AppError, type Fault, refuseFaults } from "../../domain/error.ts"
import { parseId } from "../../domain/id.ts"
import { THINGS } from "../../domain/limits.ts"
import { parseInstant } from "../../domain/moment.ts"
import type { SavedFilter } from "../../domain/segment.ts"
import { inDocumentOrder, inspect, isObject } from "../../domain/shape.ts"
import {
  type NewShare,
  type PublicLinks,
  type SentTerms,
  type ShareState,
  type ShareTerms,
  type StoredShare,
  shareFaults,
  strictestLinks,
} from "../../domain/share.ts"
import { normalizePassword } from "../../domain/sign-in.ts"
import type { Site } from "../../domain/site.ts"
import { refuseOtherVersion, refuseStaleBody } from "../../domain/version.ts"
import type { SavedFilters } from "../../query/parse/array-filters.ts"
import { readFilterList } from "../../query/parse/flat-filters.ts"
import type { Catalog, Slice, Statements } from "../../store/catalog/catalog.ts"
import { organizationById } from "../../store/catalog/organizations.ts"
import type { Alongside, Terms } from "../definitions/site-things.ts"
import type { VisitorSetSources } from "../people/visitor-sets.ts"
import type { Random, Secrets } from "../secrets/secrets.ts"
import type { InstanceSettings } from "../settings/settings.ts"
import type { Hashes } from "../sign-in/passwords.ts"
import { tokenHash } from "../sign-in/sessions.ts"
import { newSlug } from "./slugs.ts"

/** Table of one kind of share. An `Owner` is what the shares open: a site, or a dashboard. */
export interface ShareRows<Owner, Fields, Share, S = Statements> {
  insert(statements: S, owner: Owner, fields: Fields, made: NewShare): Promise<StoredShare<Share>>
  /** Lists the shares of an owner by id, ascending. */
  list(statements: S, owner: Owner, slice: Slice): Promise<StoredShare<Share>[]>
  count(statements: S, owner: Owner): Promise<number>
  byId(statements: S, owner: Owner, id: number): Promise<StoredShare<Share> | undefined>
  bySlugHash(statements: S, slugHash: Uint8Array): Promise<StoredShare<Share> | undefined>
  update(
    statements: S,
    share: Share,
    fields: Fields,
    password: { hash: string | null; version: number },
    now: number,
  ): Promise<StoredShare<Share>>
  remove(statements: S, share: Share, now: number): Promise<void>
}

/** A kind of share: what it opens, and the fields that it has in addition to those of all shares. */
export interface ShareKind<Owner, Fields extends ShareTerms, Share extends Fields & ShareState, S = Statements> {
  rows: ShareRows<Owner, Fields, Share, S>
  /** Schema of a body. Its fields are those of `defaults` and the password. */
  input: TObject
  defaults: Fields
  /** Fields of responses that the server sets and that bodies may therefore contain. */
  serverSet: readonly string[]
  /** Returns the faults of fields that only this kind has. `before` is the share that a patch changes. */
  faults?(owner: Owner, fields: Fields, before: Share | undefined): Fault[] | Promise<Fault[]>
  siteOf(owner: Owner): Site
  /** Returns what a share opens, or undefined if that is deleted. */
  ownerOf(share: Share): Promise<Owner | undefined>
  notFound(): AppError
  tooMany(): AppError
}

/** A share as its managers see it, with its slug. The slug is empty if the secret key that sealed it is lost. */
export type WithSlug<Share> = Share & { slug: string }

/** A share that can be opened, and what it opens. */
export interface OpenedShare<Owner, Share> {
  share: Share
  owner: Owner
  passwordHash: string | null
}

/**
 * Shares of one kind. Invalid bodies are `validation_failed` with all faults at once, shares that the organization or the instance does
 * not allow `sharing_disabled` or `password_required`.
 */
export interface ShareList<Owner, Fields, Share> {
  create(owner: Owner, body: unknown, userId: number | null, alongside?: Alongside<WithSlug<Share>>): Promise<WithSlug<Share>>
  /** Lists shares by id, ascending. */
  list(owner: Owner, slice: Slice): Promise<WithSlug<Share>[]>
  count(owner: Owner): Promise<number>
  get(owner: Owner, id: string | undefined): Promise<WithSlug<Share>>
  /** Applies a merge patch. A new password locks the share again for viewers who unlocked it with the previous one. */
  update(owner: Owner, id: string | undefined, patch: unknown, terms?: Terms<Share>): Promise<WithSlug<Share>>
  remove(owner: Owner, id: string | undefined, terms?: Terms<Share>): Promise<void>
  /** Creates a share without a password in a transaction. Throws the errors of `create`. */
  insert(statements: Statements, owner: Owner, fields: Fields, userId: number): Promise<Share>
  /** Returns the share with a slug. Undefined if it is unknown, expired, removed or forbidden, or what it opens is deleted. */
  open(slug: string): Promise<OpenedShare<Owner, Share> | undefined>
  /** Returns whether the policies of the instance and of a site's organization allow shares to show the site. */
  allows(site: Site, hasPassword: boolean): Promise<boolean>
}

export interface ShareListOptions {
  catalog: Catalog
  clock: Pick<Clock, "now">
  random: Random
  secrets: Secrets
  passwords: Pick<Hashes, "hash">
  visitorSets: Pick<VisitorSetSources, "lookup">
  settings: Pick<InstanceSettings, "get">
}

/** Creates the shares of a kind. */
export type CreateShareList = <Owner, Fields extends ShareTerms, Share extends Fields & ShareState>(
  kind: ShareKind<Owner, Fields, Share>,
) => ShareList<Owner, Fields, Share>

const SLUG_CHARS = 22
const BASE_62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
/** The place for which all slugs are sealed. It does not contain the row, because a slug is only looked up by its hash. */
export const SLUG_PLACE = { table: "shares", row: "slug", purpose: "slug" }

export function createShareList<Owner, Fields extends ShareTerms, Share extends Fields & ShareState>(
  kind: ShareKind<Owner, Fields, Share>,
  { catalog, clock, random, secrets, passwords, visitorSets, settings }: ShareListOptions,
): ShareList<Owner, Fields, Share> {
  const { rows } = kind

  /** Generates a slug in its stored form: a slug opens its share, so only its hash is stored, and an encrypted copy for the managers. */
  function makeSlug() {
    const slug = newSlug(random, SLUG_CHARS, BASE_62)
    return { slugHash: tokenHash(slug), slugSealed: secrets.seal(new TextEncoder().encode(slug), SLUG_PLACE) }
  }
  function withSlug({ share, slugSealed }: StoredShare<Share>): WithSlug<Share> {
    const plain = secrets.open(slugSealed, SLUG_PLACE)
    return { ...share, slug: plain ? new TextDecoder().decode(plain) : "" }
  }
  async function find(statements: Statements, owner: Owner, text: string | undefined): Promise<StoredShare<Share>> {
    const id = parseId(text)
    const found = id === undefined ? undefined : await rows.byId(statements, owner, id)
    if (!found) throw kind.notFound()
    return found
  }
  /** Returns which shares a site can have: the stricter setting of the instance and the organization. */
  async function policyOf(statements: Statements, site: Site): Promise<PublicLinks> {
    const { policy } = (await organizationById(statements, site.organization_id))! // a site has one
    return strictestLinks(settings.get("public_links"), policy.public_links)
  }
  const allows = async (site: Site, hasPassword: boolean) => isAllowed(await policyOf(catalog, site), hasPassword)
  async function refuseMore(statements: Statements, owner: Owner, hasPassword: boolean): Promise<void> {
    refuseForbidden(await policyOf(statements, kind.siteOf(owner)), hasPassword)
    if ((await rows.count(statements, owner)) >= THINGS.shares) throw kind.tooMany()
  }
  async function insert(statements: Statements, owner: Owner, fields: Fields, passwordHash: string | null, userId: number | null) {
    await refuseMore(statements, owner, passwordHash !== null)
    return rows.insert(statements, owner, fields, { ...makeSlug(), passwordHash, createdBy: userId, now: clock.now() })
  }

  /** Returns the function that reads a body, or a patch of an existing share. */
  async function reader(owner: Owner, body: unknown) {
    const parse = (saved: SavedFilters) => readShare(kind, body, undefined, clock.now(), saved)
    const saved = await visitorSets.lookup(kind.siteOf(owner), parse)
    return async (before?: Share) => {
      const { fields, faults, password } = readShare(kind, body, before, clock.now(), saved)
      const own = faults.length === 0 ? ((await kind.faults?.(owner, fields, before)) ?? []) : []
      refuseFaults(inDocumentOrder([...faults, ...own], body))
      return { fields, password }
    }
  }

  return {
    async create(owner, body, userId, alongside) {
      const { fields, password } = await (await reader(owner, body))()
      const hasPassword = typeof password === "string"
      refuseEmbedded(fields, hasPassword)
      // Checked before the slow hashing, and again in the transaction.
      await refuseMore(catalog, owner, hasPassword)
      const hash = hasPassword ? await passwords.hash(password) : null
      return catalog.transaction(async (statements) => {
        const share = withSlug(await insert(statements, owner, fields, hash, userId))
        await alongside?.(statements, { after: share })
        return share
      })
    },
    list: async (owner, slice) => (await rows.list(catalog, owner, slice)).map(withSlug),
    count: (owner) => rows.count(catalog, owner),
    get: async (owner, id) => withSlug(await find(catalog, owner, id)),
    async update(owner, id, patch, { expected, named, alongside } = {}) {
      const read = await reader(owner, patch)
      /** Reads the fields of the patched share. Throws if they are not allowed. */
      async function changed(statements: Statements, before: StoredShare<Share>) {
        const { fields, password } = await read(before.share)
        if (named) refuseStaleBody(before.share, named.version, named.current)
        refuseOtherVersion(before.share, expected)
        const hasPassword = password === undefined ? before.passwordHash !== null : password !== null
        refuseEmbedded(fields, hasPassword)
        if (before.passwordHash !== null && !hasPassword) refuseForbidden(await policyOf(statements, kind.siteOf(owner)), false)
        return { fields, password }
      }
      // The slow hashing runs outside the transaction and after all checks. The transaction checks again.
      const { password } = await changed(catalog, await find(catalog, owner, id))
      const hash = typeof password === "string" ? await passwords.hash(password) : password
      const stored = await catalog.transaction(async (statements) => {
        const before = await find(statements, owner, id)
        const { fields } = await changed(statements, before)
        const isOther = hash !== undefined && (hash !== null || before.passwordHash !== null)
        const passwordHash = isOther ? hash : before.passwordHash
        if (!isOther && Bun.deepEquals({ ...before.share, ...fields }, before.share)) return before
        const version = before.share.password_version + (isOther ? 1 : 0)
        const after = await rows.update(statements, before.share, fields, { hash: passwordHash, version }, clock.now())
        await alongside?.(statements, { before: before.share, after: after.share })
        return after
      })
      return withSlug(stored)
    },
    async remove(owner, id, { expected, alongside } = {}) {
      await catalog.transaction(async (statements) => {
        const { share } = await find(statements, owner, id)
        refuseOtherVersion(share, expected)
        await rows.remove(statements, share, clock.now())
        await alongside?.(statements, { before: share })
      })
    },
    insert: async (statements, owner, fields, userId) => (await insert(statements, owner, fields, null, userId)).share,
    async open(slug) {
      const found = await rows.bySlugHash(catalog, tokenHash(slug))
      const owner = found && (await kind.ownerOf(found.share))
      if (!owner) return undefined
      const { share, passwordHash } = found
      const isOver = share.expires_at !== null && share.expires_at <= clock.now()
      return !isOver && (await allows(kind.siteOf(owner), passwordHash !== null)) ? { share, owner, passwordHash } : undefined
    },
    allows,
  }
}

/** Reads fields and password of a body, or of a patch of an existing share. An absent password is undefined. */
function readShare<Fields extends ShareTerms>(
  { input, defaults, serverSet }: { input: TObject; defaults: Fields; serverSet: readonly string[] },
  body: unknown,
  before: Fields | undefined,
  now: number,
  saved: SavedFilters,
) {
  const known = isObject(body) ? Object.fromEntries(Object.entries(body).filter(([name]) => !serverSet.includes(name))) : body
  const { fields, faults } = inspect(before ? { ...input, required: [] } : input, known)
  const sent = fields as SentTerms
  const locked = isObject(body) && sent.locked_filters ? body.locked_filters : undefined
  const filterFaults = locked === undefined ? [] : readFilterList(locked, "/locked_filters", saved).faults
  const { password, expires_at, locked_filters: _, ...others } = sent
  const kept = before ?? defaults
  const read = {
    ...Object.fromEntries(Object.keys(defaults).map((name) => [name, kept[name as keyof Fields]])),
    ...others,
    ...(expires_at !== undefined && { expires_at: expires_at === null ? null : (parseInstant(expires_at) ?? null) }),
    // Stored as they were sent, because they are compared with the values of events.
    ...(locked !== undefined && { locked_filters: locked as SavedFilter[] }),
  }
  return {
    fields: read as unknown as Fields, // the defaults have all fields, and the schema of the kind describes the sent ones
    faults: [...faults, ...shareFaults(sent, now), ...filterFaults],
    password: typeof password === "string" ? normalizePassword(password) : password,
  }
}

const isAllowed = (links: PublicLinks, hasPassword: boolean): boolean =>
  links === "allowed" || (links === "password_required" && hasPassword)

/** Throws `sharing_disabled`, `password_required`. */
function refuseForbidden(links: PublicLinks, hasPassword: boolean): void {
  if (isAllowed(links, hasPassword)) return
  if (links === "off") throw new AppError("sharing_disabled", "The organization or the instance does not allow shares.")
  throw new AppError("password_required", "The organization or the instance allows shares only with a password.", { pointer: "/password" })
}

/** Refuses embedding of a share with a password, because browsers do not send the cookie of an unlocked share in frames. */
function refuseEmbedded({ embed_origins }: ShareTerms, hasPassword: boolean): void {
  if (hasPassword && embed_origins.length > 0)
    throw new AppError("embed_needs_no_password", "A share with a password cannot be embedded in other pages.", {
      pointer: "/embed_origins",
    })
}
