import {
  type Actor,
  AppError,
  newSlug,
  type OwnStatements,
  parseId,
  refuseOtherVersion,
  refuseSlug,
  refuseStaleBody,
  type Site,
  SLUG_KEPT_MS,
  slugKey,
  slugSuggestions,
} from "#plugin"
import type { Cache } from "./cache.ts"
import { type ReadPixel, readNewPixel, readPatch } from "./input.ts"
import { LIMITS, type Pixel, type PixelFields, type PixelsHost, USUAL } from "./pixel.ts"
import {
  countPixels,
  deleteTombstone,
  insertPixel,
  listSlugsLike,
  pixelAt,
  pixelById,
  putTombstone,
  tombstoneAt,
  updatePixel,
} from "./rows.ts"

/** Who changes something, and which versions they still take it to have. */
export interface By {
  actor: Actor
  expected: readonly number[] | undefined
}

export type Editing = ReturnType<typeof editingOf>

const pixelNotFound = () => new AppError("pixel_not_found", "There is no pixel with this id on the site.")

/** What people do with pixels. Each change leaves one row in the audit, in its own transaction. */
export function editingOf(host: PixelsHost, cache: Cache, show: (pixel: Pixel) => object) {
  const { db, now } = host

  async function find(statements: OwnStatements, site: Site, id: string | undefined): Promise<Pixel> {
    const pixel = await pixelById(statements, site.id, parseId(id) ?? 0)
    if (!pixel || pixel.deleted_at !== null) throw pixelNotFound()
    return pixel
  }
  /** Of the deleted ones, as long as they can be brought back. */
  async function findDeleted(statements: OwnStatements, site: Site, id: string | undefined): Promise<Pixel> {
    const pixel = await pixelById(statements, site.id, parseId(id) ?? 0)
    if (!pixel || pixel.deleted_at === null || pixel.deleted_at + LIMITS.restoreMs <= now()) throw pixelNotFound()
    return pixel
  }

  /** Throws `slug_taken`, equal for slugs of others and own ones, and `slug_recently_used`. Takes what may be taken out of its grave. */
  async function claimSlug(statements: OwnStatements, site: Site, { slug, force, itself }: Claim): Promise<void> {
    refuseSlug(slug)
    const holder = await pixelAt(statements, slug)
    if (holder && holder.id !== itself) throw await slugTaken(statements, slug)
    const tombstone = await tombstoneAt(statements, slug)
    if (!tombstone || tombstone.until <= now() || tombstone.pixel_id === itself) return deleteTombstone(statements, slug)
    const isOwn = tombstone.organization_id === site.organization_id
    if (!force || !isOwn) throw new AppError("slug_recently_used", "A pixel that was deleted lately had this slug.")
    await deleteTombstone(statements, slug)
  }

  async function refuseMany(statements: OwnStatements, site: Site): Promise<void> {
    if ((await countPixels(statements, site.id)) < LIMITS.pixels) return
    throw new AppError("limit_reached", `A site may have ${LIMITS.pixels} pixels`, { limit: LIMITS.pixels, resource: "pixels" })
  }

  async function freeSlug(statements: OwnStatements): Promise<string> {
    for (;;) {
      const slug = newSlug(host.random, LIMITS.generatedChars)
      if (!(await pixelAt(statements, slug)) && !(await tombstoneAt(statements, slug))) return slug
    }
  }
  const bury = (statements: OwnStatements, site: Site, pixel: Pixel): Promise<void> =>
    putTombstone(statements, pixel, { organizationId: site.organization_id, now: now(), until: now() + SLUG_KEPT_MS })

  const write = (statements: OwnStatements, actor: Actor, site: Site, { verb, pixel, changes }: Written): Promise<void> =>
    host.audit.write(statements, actor, {
      action: `pixels.pixel.${verb}`,
      target: { type: "pixel", id: pixel.id, label: pixel.name },
      organizationId: site.organization_id,
      siteId: site.id,
      ...(changes && { changes }),
    })

  return {
    get: (site: Site, id: string | undefined): Promise<Pixel> => find(db, site, id),
    getDeleted: (site: Site, id: string | undefined): Promise<Pixel> => findDeleted(db, site, id),

    /** `alongside` runs in the transaction that stores it. */
    async create(
      site: Site,
      body: unknown,
      by: { actor: Actor; userId: number },
      alongside: (statements: OwnStatements, pixel: Pixel) => Promise<void>,
    ): Promise<Pixel> {
      const { fields, force } = readNewPixel(body)
      return db.transaction(async (statements) => {
        if (fields.slug !== undefined) await claimSlug(statements, site, { slug: fields.slug, force })
        await refuseMany(statements, site)
        const whole: PixelFields = { ...USUAL, ...fields, slug: fields.slug ?? (await freeSlug(statements)) }
        const pixel = await insertPixel(statements, whole, { siteId: site.id, createdBy: by.userId, now: now() })
        await write(statements, by.actor, site, { verb: "create", pixel, changes: changesBetween(undefined, pixel) })
        await alongside(statements, pixel)
        return pixel
      }, cache.put)
    },

    /** A merge patch; one that changes nothing leaves the version as it is. */
    async update(site: Site, id: string | undefined, body: unknown, { actor, expected }: By): Promise<Pixel> {
      const patch = readPatch(body)
      if (patch.fields.slug !== undefined) refuseSlug(patch.fields.slug)
      return db.transaction(async (statements) => {
        const pixel = await find(statements, site, id)
        refuseStaleBody(pixel, patch.version, show)
        refuseOtherVersion(pixel, expected)
        const wanted = patched(pixel, patch, now())
        const changes = changesBetween(pixel, wanted)
        if (Object.keys(changes).length === 0) return pixel
        if (wanted.slug !== pixel.slug) await claimSlug(statements, site, { slug: wanted.slug, force: patch.force, itself: pixel.id })
        if (slugKey(wanted.slug) !== slugKey(pixel.slug)) await bury(statements, site, pixel)
        const changed = await updatePixel(statements, pixel.id, wanted, now())
        await write(statements, actor, site, { verb: "update", pixel: changed, changes })
        return changed
      }, cache.put)
    },

    async remove(site: Site, id: string | undefined, { actor, expected }: By): Promise<void> {
      await db.transaction(async (statements) => {
        const pixel = await find(statements, site, id)
        refuseOtherVersion(pixel, expected)
        const removed = await updatePixel(statements, pixel.id, { ...pixel, deleted_at: now() }, now())
        await bury(statements, site, pixel)
        await write(statements, actor, site, { verb: "delete", pixel })
        return removed
      }, cache.put)
    },

    /** Throws `slug_taken` when somebody has taken the slug meanwhile. */
    async restore(site: Site, id: string | undefined, actor: Actor): Promise<Pixel> {
      return db.transaction(async (statements) => {
        const pixel = await findDeleted(statements, site, id)
        await claimSlug(statements, site, { slug: pixel.slug, force: false, itself: pixel.id })
        await refuseMany(statements, site)
        const restored = await updatePixel(statements, pixel.id, { ...pixel, deleted_at: null }, now())
        await write(statements, actor, site, { verb: "restore", pixel: restored })
        return restored
      }, cache.put)
    },
  }
}

interface Claim {
  slug: string
  force: boolean
  /** The pixel that wants it, unless it is only being made. */
  itself?: number
}

interface Written {
  verb: string
  pixel: Pixel
  changes?: Record<string, readonly [unknown, unknown]>
}

async function slugTaken(statements: OwnStatements, slug: string): Promise<AppError> {
  const busy = new Set(await listSlugsLike(statements, slug))
  const suggestions = slugSuggestions(slug, (next) => !busy.has(slugKey(next)))
  return new AppError("slug_taken", "Another pixel has this slug.", { suggestions })
}

function patched(pixel: Pixel, { fields, archived }: ReadPixel, now: number): Pixel {
  const archivedAt = archived === undefined ? pixel.archived_at : archived ? (pixel.archived_at ?? now) : null
  return { ...pixel, ...fields, archived_at: archivedAt }
}

const EDITABLE = ["slug", "name", "kind", "allowed_params", "recipient_mode", "badge_public", "archived_at"] as const

/** By field: before and after. */
function changesBetween(before: Pixel | undefined, after: Pixel): Record<string, readonly [unknown, unknown]> {
  const changed = EDITABLE.filter((field) => !Bun.deepEquals(before?.[field] ?? null, after[field]))
  return Object.fromEntries(changed.map((field) => [field, [before?.[field] ?? null, after[field]]]))
}
