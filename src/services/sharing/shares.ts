import type { Clock } from "../../domain/clock.ts"
import { AppError, refuseFaults } from "../../domain/error.ts"
import { parseId } from "../../domain/id.ts"
import { THINGS } from "../../domain/limits.ts"
import { parseInstant } from "../../domain/moment.ts"
import type { SavedFilter } from "../../domain/segment.ts"
import { inDocumentOrder, inspect, isObject } from "../../domain/shape.ts"
import {
  DEFAULT_SECTIONS,
  type PublicLinks,
  type Share,
  type ShareFields,
  ShareInput,
  shareFaults,
  shareNotFound,
  strictestLinks,
} from "../../domain/share.ts"
import { normalizePassword } from "../../domain/sign-in.ts"
import type { Site } from "../../domain/site.ts"
import { refuseOtherVersion, refuseStaleBody } from "../../domain/version.ts"
import type { SavedFilters } from "../../query/parse/array-filters.ts"
import { readFilterList } from "../../query/parse/flat-filters.ts"
import type { Catalog, Slice, Statements } from "../../store/catalog/catalog.ts"
import { organizationById } from "../../store/catalog/organizations.ts"
import {
  countShares,
  deleteShare,
  insertShare,
  listShares,
  publicShareOf,
  type StoredShare,
  shareById,
  shareBySlugHash,
  updateShare,
} from "../../store/catalog/shares.ts"
import type { SegmentUses } from "../definitions/segments.ts"
import type { Alongside, Terms } from "../definitions/site-things.ts"
import type { VisitorSetSources } from "../people/visitor-sets.ts"
import type { Random, Secrets } from "../secrets/secrets.ts"
import type { InstanceSettings } from "../settings/settings.ts"
import type { Hashes } from "../sign-in/passwords.ts"
import { shareSlugs, slugHashOf } from "./slugs.ts"

/** A shared view as editors see it, with its slug. */
export type OwnShare = Share & { slug: string }

/**
 * Views of a site for everyone who has their URL. Invalid bodies are `validation_failed` with all faults at once, views that the
 * organization does not allow `sharing_disabled` or `password_required`, and unknown ids `share_not_found`.
 */
export interface Shares {
  create(site: Site, body: unknown, userId: number, alongside?: Alongside<OwnShare>): Promise<OwnShare>
  /** Lists views by id, ascending. */
  list(site: Site, slice: Slice): Promise<OwnShare[]>
  count(site: Site): Promise<number>
  get(site: Site, id: string | undefined): Promise<OwnShare>
  /** Applies a merge patch. A new password locks the view again for visitors who unlocked it with the previous one. */
  update(site: Site, id: string | undefined, patch: unknown, terms?: Terms<Share>): Promise<OwnShare>
  remove(site: Site, id: string | undefined, terms?: Terms<Share>): Promise<void>
  /** Creates or removes the view of a public site, in the transaction that changes the setting. Throws the errors of `create`. */
  publish(statements: Statements, site: Site, isPublic: boolean, userId: number): Promise<void>
  /** Returns the view with a slug. Undefined if it is unknown, expired, removed or forbidden. */
  open(slug: string): Promise<{ share: Share; passwordHash: string | null; site: Site } | undefined>
  /** Returns the views whose filters are locked to a segment. */
  usesOfSegment: SegmentUses
}

interface SharesOptions {
  catalog: Catalog
  clock: Pick<Clock, "now">
  random: Random
  secrets: Secrets
  passwords: Pick<Hashes, "hash">
  sites: { directory: { byId(id: number): Site | undefined } }
  visitorSets: Pick<VisitorSetSources, "lookup">
  settings: Pick<InstanceSettings, "get">
}

export function createShares({ catalog, clock, random, secrets, passwords, sites, visitorSets, settings }: SharesOptions): Shares {
  const slugs = shareSlugs({ random, secrets })
  const linksOf = publicLinks(settings)

  function withSlug({ share, slugSealed }: StoredShare): OwnShare {
    // Without the secret key the slug cannot be recovered.
    return { ...share, slug: slugs.opened(slugSealed) ?? "" }
  }
  async function find(statements: Statements, site: Site, text: string | undefined): Promise<StoredShare> {
    const id = parseId(text)
    const found = id === undefined ? undefined : await shareById(statements, site.id, id)
    if (!found) throw shareNotFound()
    return found
  }

  /** Throws if the site cannot have another view. */
  async function refuseMore(statements: Statements, site: Site, hasPassword: boolean): Promise<void> {
    refuseForbidden(await linksOf(statements, site), hasPassword)
    if ((await countShares(statements, site.id)) >= THINGS.shares) throw tooMany()
  }
  async function insert(
    statements: Statements,
    site: Site,
    fields: ShareFields,
    made: { passwordHash: string | null; isPublic: boolean; userId: number },
  ) {
    await refuseMore(statements, site, made.passwordHash !== null)
    return insertShare(statements, fields, {
      ...slugs.make(),
      siteId: site.id,
      passwordHash: made.passwordHash,
      isPublic: made.isPublic,
      createdBy: made.userId,
      now: clock.now(),
    })
  }

  /** Returns the function that reads a body, or a patch of an existing view. */
  async function reader(site: Site, body: unknown) {
    const saved = await visitorSets.lookup(site, (saved) => readShare(body, PUBLIC_SHARE, clock.now(), saved))
    return (before?: ShareFields) => readShare(body, before, clock.now(), saved)
  }

  return {
    async create(site, body, userId, alongside) {
      const { fields, password } = (await reader(site, body))()
      const hasPassword = typeof password === "string"
      refuseEmbedded(fields, hasPassword)
      // Checked before the slow hashing, and again in the transaction.
      await refuseMore(catalog, site, hasPassword)
      const passwordHash = hasPassword ? await passwords.hash(password) : null
      return catalog.transaction(async (statements) => {
        const share = withSlug(await insert(statements, site, fields, { passwordHash, isPublic: false, userId }))
        await alongside?.(statements, { after: share })
        return share
      })
    },
    list: async (site, slice) => (await listShares(catalog, site.id, slice)).map(withSlug),
    count: (site) => countShares(catalog, site.id),
    get: async (site, id) => withSlug(await find(catalog, site, id)),
    async update(site, id, patch, { expected, named, alongside } = {}) {
      const read = await reader(site, patch)
      /** Reads the fields of the patched view. Throws if they are not allowed. */
      async function changed(statements: Statements, before: StoredShare) {
        const { fields, password } = read(before.share)
        if (named) refuseStaleBody(before.share, named.version, named.current)
        refuseOtherVersion(before.share, expected)
        const hasPassword = password === undefined ? before.passwordHash !== null : password !== null
        refuseEmbedded(fields, hasPassword)
        if (before.passwordHash !== null && !hasPassword) refuseForbidden(await linksOf(statements, site), false)
        return { fields, password }
      }
      // The slow hashing runs outside the transaction and after all checks. The transaction checks again.
      const { password } = await changed(catalog, await find(catalog, site, id))
      const hash = typeof password === "string" ? await passwords.hash(password) : password
      const stored = await catalog.transaction(async (statements) => {
        const before = await find(statements, site, id)
        const { fields } = await changed(statements, before)
        const isOther = hash !== undefined && (hash !== null || before.passwordHash !== null)
        const passwordHash = isOther ? hash : before.passwordHash
        if (!isOther && Bun.deepEquals({ ...before.share, ...fields }, before.share)) return before
        const version = before.share.password_version + (isOther ? 1 : 0)
        const after = await updateShare(statements, before.share.id, fields, { hash: passwordHash, version }, clock.now())
        await alongside?.(statements, { before: before.share, after: after.share })
        return after
      })
      return withSlug(stored)
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
      const found = await shareBySlugHash(catalog, slugHashOf(slug))
      const site = found && sites.directory.byId(found.share.site_id)
      if (!site) return undefined
      const isOver = found.share.expires_at !== null && found.share.expires_at <= clock.now()
      if (isOver || !isAllowed(await linksOf(catalog, site), found.passwordHash !== null)) return undefined
      return { share: found.share, passwordHash: found.passwordHash, site }
    },
    async usesOfSegment(site, segmentId) {
      const shares = await listShares(catalog, site.id, { after: 0, limit: THINGS.shares })
      const names = (filter: SavedFilter) => filter.dimension === "segment" && filter.values.some((value) => Number(value) === segmentId)
      return shares.filter(({ share }) => share.locked_filters.some(names)).map(({ share: { id, name } }) => ({ type: "share", id, name }))
    },
  }
}

const tooMany = () =>
  new AppError("limit_reached", `A site can have ${THINGS.shares} shared views.`, { limit: THINGS.shares, resource: "shares" })

/** The fields of the view of a public site. It is an ordinary view in every other respect. */
export const PUBLIC_SHARE: ShareFields = {
  name: "Public",
  expires_at: null,
  locked_filters: [],
  sections: DEFAULT_SECTIONS,
  allow_range: true,
  allow_filters: true,
  allow_export: false,
  embed_origins: [],
}

/** Reads fields and password of a body, or of a patch of an existing view. An absent password is undefined. */
export function readShare(body: unknown, before: ShareFields | undefined, now: number, saved: SavedFilters) {
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
      ...(expires_at !== undefined && { expires_at: expires_at === null ? null : parseInstant(expires_at)! }), // checked above
      // Stored as they were sent, because they are compared with the values of events.
      ...(locked !== undefined && { locked_filters: locked as SavedFilter[] }),
    } satisfies ShareFields,
    password: typeof password === "string" ? normalizePassword(password) : password,
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

/** Removes the fields that the server sets, which clients send back when they edit a whole response. */
function withoutServerSet({ slug: _, url: __, has_password: ___, is_public: ____, ...rest }: Record<string, unknown>) {
  return rest
}

/** Creates the function that returns which shared views a site can have: the stricter setting of the instance and the organization. */
export const publicLinks =
  (settings: Pick<InstanceSettings, "get">) =>
  async (statements: Statements, site: Site): Promise<PublicLinks> => {
    const { policy } = (await organizationById(statements, site.organization_id))! // a site has one
    return strictestLinks(settings.get("public_links"), policy.public_links)
  }

export const isAllowed = (links: PublicLinks, hasPassword: boolean): boolean =>
  links === "allowed" || (links === "password_required" && hasPassword)

/** Throws `sharing_disabled`, `password_required`. */
export function refuseForbidden(links: PublicLinks, hasPassword: boolean): void {
  if (isAllowed(links, hasPassword)) return
  if (links === "off") throw new AppError("sharing_disabled", "The organization or the instance does not allow shared views.")
  throw new AppError("password_required", "The organization or the instance allows shared views only with a password.")
}

/** Refuses embedding of a view with a password, because browsers do not send the cookie of an unlocked view in frames. */
export function refuseEmbedded({ embed_origins }: ShareFields, hasPassword: boolean): void {
  if (hasPassword && embed_origins.length > 0)
    throw new AppError("embed_needs_no_password", "A view with a password cannot be embedded in other pages.")
}
