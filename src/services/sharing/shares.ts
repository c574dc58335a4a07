import type { Clock } from "../domain/clock.ts"
import { AppError } from "../domain/error.ts"
import { parseId } from "../domain/id.ts"
import { THINGS } from "../domain/limits.ts"
import type { KeptFilter } from "../domain/segment.ts"
import { type Share, type ShareFields, shareNotFound } from "../domain/share.ts"
import type { Site } from "../domain/site.ts"
import { refuseOtherVersion, refuseStaleBody } from "../domain/version.ts"
import type { Catalog, Slice, Statements } from "../store/catalog/catalog.ts"
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
import type { InstanceSettings } from "./instance-settings.ts"
import type { SavedOf } from "./open-report.ts"
import type { Passwords } from "./passwords.ts"
import { isAllowed, publicLinks, refuseEmbedded, refuseForbidden } from "./public-links.ts"
import type { Random, Secrets } from "./secrets.ts"
import type { SegmentUses } from "./segments.ts"
import { PUBLIC_SHARE, readShare } from "./share-body.ts"
import { shareSlugs, slugHashOf } from "./share-slugs.ts"
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
  settings: Pick<InstanceSettings, "get">
}

export function createShares({ catalog, clock, random, secrets, passwords, sites, saved, settings }: SharesOptions): Shares {
  const slugs = shareSlugs({ random, secrets })
  const linksOf = publicLinks(settings)

  function withSlug({ share, slugSealed }: KeptShare): OwnShare {
    // Without the secret key nobody knows the address any more.
    return { ...share, slug: slugs.opened(slugSealed) ?? "" }
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
    refuseForbidden(await linksOf(statements, site), made.passwordHash !== null)
    if ((await countShares(statements, site.id)) >= THINGS.shares) throw tooMany()
    return insertShare(statements, fields, {
      ...slugs.make(),
      siteId: site.id,
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
        if (before.passwordHash !== null && passwordHash === null) refuseForbidden(await linksOf(statements, site), false)
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
      const found = await shareBySlugHash(catalog, slugHashOf(slug))
      const site = found && sites.directory.byId(found.share.site_id)
      if (!site) return undefined
      const isOver = found.share.expires_at !== null && found.share.expires_at <= clock.now()
      if (isOver || !isAllowed(await linksOf(catalog, site), found.passwordHash !== null)) return undefined
      return { share: found.share, passwordHash: found.passwordHash, site }
    },
    async usesOfSegment(site, segmentId) {
      const shares = await listShares(catalog, site.id, { after: 0, limit: THINGS.shares })
      const names = (filter: KeptFilter) => filter.dimension === "segment" && filter.values.some((value) => Number(value) === segmentId)
      return shares.filter(({ share }) => share.locked_filters.some(names)).map(({ share: { id, name } }) => ({ type: "share", id, name }))
    },
  }
}

const tooMany = () =>
  new AppError("limit_reached", `A site may have ${THINGS.shares} shared views`, { limit: THINGS.shares, resource: "shares" })
