import type { Clock } from "../domain/clock.ts"
import { AppError, refuseFaults } from "../domain/error.ts"
import { parseId } from "../domain/id.ts"
import { THINGS } from "../domain/limits.ts"
import { parseInstant } from "../domain/moment.ts"
import type { Organization } from "../domain/organization.ts"
import { normalPassword } from "../domain/password.ts"
import type { KeptFilter } from "../domain/segment.ts"
import { inDocumentOrder, inspect, isObject } from "../domain/shape.ts"
import { type Share, type ShareFields, ShareInput, shareFaults, shareNotFound, USUAL_SECTIONS } from "../domain/share.ts"
import type { Site } from "../domain/site.ts"
import { refuseOtherVersion, refuseStaleBody } from "../domain/version.ts"
import { readFilterList } from "../query/flat-filters.ts"
import type { Catalog, Slice, Statements } from "../store/catalog/catalog.ts"
import { organizationById } from "../store/catalog/organizations.ts"
import {
  countShares,
  deleteShare,
  insertShare,
  type KeptShare,
  listShares,
  publicShareOf,
  shareById,
  shareBySlugHash,
  updateShare,
} from "../store/catalog/shares.ts"
import type { SavedOf } from "./open-report.ts"
import type { Passwords } from "./passwords.ts"
import type { Random, Secrets } from "./secrets.ts"
import type { SegmentUses } from "./segments.ts"
import { tokenHash } from "./sessions.ts"
import type { Alongside, Terms } from "./site-things.ts"

/** A shared view as editors see it: with its address. */
export type OwnShare = Share & { slug: string }

/**
 * Views of a site for everybody who has their address. Bad bodies are `validation_failed` with all faults at once; what the
 * organization does not allow is `sharing_disabled` or `password_required`; an unknown id is `share_not_found`.
 */
export interface Shares {
  create(site: Site, body: unknown, userId: number, alongside?: Alongside<OwnShare>): Promise<OwnShare>
  /** By id ascending. */
  list(site: Site, slice: Slice): Promise<OwnShare[]>
  count(site: Site): Promise<number>
  get(site: Site, id: string | undefined): Promise<OwnShare>
  /** A merge patch. Another password locks again what was unlocked by the one before. */
  update(site: Site, id: string | undefined, patch: unknown, terms?: Terms<Share>): Promise<OwnShare>
  remove(site: Site, id: string | undefined, terms?: Terms<Share>): Promise<void>
  /** Makes the view of a public site, or removes it, in a transaction that changes the setting. Throws as `create` does. */
  publish(statements: Statements, site: Site, isPublic: boolean, userId: number): Promise<void>
  /** The view at an address. Undefined alike for an unknown, expired, removed and forbidden one. */
  open(slug: string): Promise<{ share: Share; passwordHash: string | null; site: Site } | undefined>
  /** Which views are locked to a segment. */
  usesOfSegment: SegmentUses
}

interface SharesOptions {
  catalog: Catalog
  clock: Pick<Clock, "now">
  random: Random
  secrets: Secrets
  passwords: Pick<Passwords, "hash">
  sites: { directory: { byId(id: number): Site | undefined } }
  saved: SavedOf
}

const SLUG_CHARS = 22
const BASE_62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"

export function createShares({ catalog, clock, random, secrets, passwords, sites, saved }: SharesOptions): Shares {
  function withSlug({ share, slugSealed }: KeptShare): OwnShare {
    // Without the secret key nobody knows the address any more.
    return { ...share, slug: openSlug(slugSealed) ?? "" }
  }
  const openSlug = (sealed: Uint8Array): string | undefined => {
    const plain = secrets.open(sealed, SLUG_PLACE)
    return plain && new TextDecoder().decode(plain)
  }

  async function find(statements: Statements, site: Site, named: string | undefined): Promise<KeptShare> {
    const id = parseId(named)
    const found = id === undefined ? undefined : await shareById(statements, site.id, id)
    if (!found) throw shareNotFound()
    return found
  }

  async function insert(
    statements: Statements,
    site: Site,
    fields: ShareFields,
    made: { passwordHash: string | null; isPublic: boolean; userId: number },
  ) {
    refuseForbidden(await organizationOf(statements, site), made.passwordHash !== null)
    if ((await countShares(statements, site.id)) >= THINGS.shares) throw tooMany()
    const slug = newSlug(random)
    return insertShare(statements, fields, {
      siteId: site.id,
      slugHash: tokenHash(slug),
      slugSealed: secrets.seal(new TextEncoder().encode(slug), SLUG_PLACE),
      passwordHash: made.passwordHash,
      isPublic: made.isPublic,
      createdBy: made.userId,
      now: clock.now(),
    })
  }

  const read = (site: Site, body: unknown, before: ShareFields | undefined) => readShare(body, before, clock.now(), saved(site))

  return {
    async create(site, body, userId, alongside) {
      const { fields, password } = read(site, body, undefined)
      const passwordHash = typeof password === "string" ? await passwords.hash(password) : null
      refuseEmbedded(fields, passwordHash !== null)
      return catalog.transaction(async (statements) => {
        const made = withSlug(await insert(statements, site, fields, { passwordHash, isPublic: false, userId }))
        await alongside?.(statements, { after: made })
        return made
      })
    },
    list: async (site, slice) => (await listShares(catalog, site.id, slice)).map(withSlug),
    count: (site) => countShares(catalog, site.id),
    get: async (site, id) => withSlug(await find(catalog, site, id)),
    async update(site, id, patch, { expected, named, alongside } = {}) {
      // Hashing takes its time, so it is done before the transaction; what the view is then is looked at again.
      const { password } = read(site, patch, (await find(catalog, site, id)).share)
      const hash = typeof password === "string" ? await passwords.hash(password) : password
      const kept = await catalog.transaction(async (statements) => {
        const before = await find(statements, site, id)
        const { fields } = read(site, patch, before.share)
        if (named) refuseStaleBody(before.share, named.version, named.current)
        refuseOtherVersion(before.share, expected)
        const isOther = hash !== undefined && (hash !== null || before.passwordHash !== null)
        const passwordHash = isOther ? hash : before.passwordHash
        refuseEmbedded(fields, passwordHash !== null)
        if (before.passwordHash !== null && passwordHash === null) refuseForbidden(await organizationOf(statements, site), false)
        if (!isOther && Bun.deepEquals({ ...before.share, ...fields }, before.share)) return before
        const version = before.share.password_version + (isOther ? 1 : 0)
        const after = await updateShare(statements, before.share.id, fields, { hash: passwordHash, version }, clock.now())
        await alongside?.(statements, { before: before.share, after: after.share })
        return after
      })
      return withSlug(kept)
    },
    async remove(site, id, { expected, alongside } = {}) {
      await catalog.transaction(async (statements) => {
        const { share } = await find(statements, site, id)
        refuseOtherVersion(share, expected)
        await deleteShare(statements, share.id)
        await alongside?.(statements, { before: share })
      })
    },
    async publish(statements, site, isPublic, userId) {
      const present = await publicShareOf(statements, site.id)
      if (!isPublic && present) await deleteShare(statements, present.share.id)
      if (isPublic && !present) await insert(statements, site, PUBLIC_SHARE, { passwordHash: null, isPublic: true, userId })
    },
    async open(slug) {
      const found = await shareBySlugHash(catalog, tokenHash(slug))
      const site = found && sites.directory.byId(found.share.site_id)
      if (!site) return undefined
      const isOver = found.share.expires_at !== null && found.share.expires_at <= clock.now()
      if (isOver || !isAllowed(await organizationOf(catalog, site), found.passwordHash !== null)) return undefined
      return { share: found.share, passwordHash: found.passwordHash, site }
    },
    async usesOfSegment(site, segmentId) {
      const shares = await listShares(catalog, site.id, { after: 0, limit: THINGS.shares })
      const names = (filter: KeptFilter) => filter.dimension === "segment" && filter.values.some((value) => Number(value) === segmentId)
      return shares.filter(({ share }) => share.locked_filters.some(names)).map(({ share: { id, name } }) => ({ type: "share", id, name }))
    },
  }
}

/** One place for all of them: an address that is moved to another row still leads where its hash leads. */
const SLUG_PLACE = { table: "shares", row: "slug", purpose: "slug" }

/** As ordinary a view as any: of a site that everybody may look at. */
const PUBLIC_SHARE: ShareFields = {
  name: "Public",
  expires_at: null,
  locked_filters: [],
  sections: USUAL_SECTIONS,
  allow_range: true,
  allow_filters: true,
  allow_export: false,
  embed_origins: [],
}

/** The fields and the password of a body, or of a patch of what there is. A password that is not named is undefined. */
function readShare(body: unknown, before: ShareFields | undefined, now: number, saved: ReturnType<SavedOf>) {
  const shape = before ? { ...ShareInput, required: [] } : ShareInput
  const { fields, faults } = inspect(shape, isObject(body) ? withoutServerSet(body) : body)
  const locked = isObject(body) && fields.locked_filters ? body.locked_filters : undefined
  const filters = locked === undefined ? [] : readFilterList(locked, "/locked_filters", saved).faults
  refuseFaults(inDocumentOrder([...faults, ...shareFaults(fields, now), ...filters], body))
  const { password, expires_at, locked_filters: _, ...others } = fields
  const base = before ?? PUBLIC_SHARE
  return {
    fields: {
      ...fieldsOf(base),
      ...others,
      ...(expires_at !== undefined && { expires_at: expires_at === null ? null : parseInstant(expires_at)! }), // judged above
      // Kept as they were sent, not tidied: they are compared with what events hold.
      ...(locked !== undefined && { locked_filters: locked as KeptFilter[] }),
    } satisfies ShareFields,
    password: typeof password === "string" ? normalPassword(password) : password,
  }
}

const fieldsOf = ({
  name,
  expires_at,
  locked_filters,
  sections,
  allow_range,
  allow_filters,
  allow_export,
  embed_origins,
}: ShareFields) => ({
  name,
  expires_at,
  locked_filters,
  sections,
  allow_range,
  allow_filters,
  allow_export,
  embed_origins,
})

/** Told by us beside what can be changed; sent back by who got it from us. */
function withoutServerSet({ slug: _, url: __, has_password: ___, is_public: ____, ...rest }: Record<string, unknown>) {
  return rest
}

/** Characters whose sum of chances is equal: bytes beyond the last whole run of the alphabet are thrown away. */
function newSlug(random: Random): string {
  let slug = ""
  while (slug.length < SLUG_CHARS)
    for (const byte of random(32)) if (byte < 248 && slug.length < SLUG_CHARS) slug += BASE_62[byte % BASE_62.length]
  return slug
}

async function organizationOf(statements: Statements, site: Site): Promise<Organization> {
  return (await organizationById(statements, site.organization_id))! // a site has one
}

const isAllowed = ({ policy }: Organization, hasPassword: boolean): boolean =>
  policy.public_links === "allowed" || (policy.public_links === "password_required" && hasPassword)

function refuseForbidden(organization: Organization, hasPassword: boolean): void {
  if (isAllowed(organization, hasPassword)) return
  if (organization.policy.public_links === "off") throw new AppError("sharing_disabled", "The organization allows no shared views.")
  throw new AppError("password_required", "The organization allows shared views only with a password.")
}

/** The cookie of an unlocked view is not sent in frames. */
function refuseEmbedded({ embed_origins }: ShareFields, hasPassword: boolean): void {
  if (hasPassword && embed_origins.length > 0)
    throw new AppError("embed_needs_no_password", "A view with a password cannot be embedded in other pages.")
}

const tooMany = () =>
  new AppError("limit_reached", `A site may have ${THINGS.shares} shared views`, { limit: THINGS.shares, resource: "shares" })
