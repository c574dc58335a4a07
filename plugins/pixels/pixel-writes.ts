import {
  type Actor,
  AppError,
  type OwnStatements,
  refuseOtherVersion,
  refuseSlug,
  refuseStaleBody,
  type Site,
  type SlugClaim,
  slugKey,
  type Trash,
} from "#plugin"
import type { Cache } from "./cache.ts"
import { type ReadPixel, readNewPixel, readPatch } from "./input.ts"
import { LIMITS, type Pixel, type PixelFields, type PixelsHost, USUAL } from "./pixel.ts"
import { countPixels, insertPixel, pixelSlugs, updatePixel } from "./rows.ts"

/** Author of a change, and the versions in the header `If-Match`. */
export interface ChangeAuthor {
  actor: Actor
  expected: readonly number[] | undefined
}

export type PixelWrites = ReturnType<typeof createPixelWrites>

/** Changes to pixels. Each change writes one audit entry in its own transaction. */
export function createPixelWrites(host: PixelsHost, parts: { cache: Cache; trash: Trash<Pixel>; show: (pixel: Pixel) => object }) {
  const { db, now } = host
  const { cache, show } = parts
  const { find, findDeleted } = parts.trash
  const slugs = pixelSlugs(host)

  /** Throws `slug_taken` and `slug_recently_used`. */
  async function claimSlug(statements: OwnStatements, site: Site, wanted: Pick<SlugClaim, "slug" | "force" | "id">): Promise<void> {
    refuseSlug(wanted.slug)
    await slugs.take(statements, await slugs.refuse(statements, { ...wanted, organizationId: site.organization_id }))
  }

  async function refuseFull(statements: OwnStatements, site: Site): Promise<void> {
    if ((await countPixels(statements, site.id)) < LIMITS.pixels) return
    throw new AppError("limit_reached", `A site can have at most ${LIMITS.pixels} pixels.`, { limit: LIMITS.pixels, resource: "pixels" })
  }

  const audit = (statements: OwnStatements, actor: Actor, site: Site, { verb, pixel, changes }: Change): Promise<void> =>
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

    /** Creates a pixel. `alongside` runs in the transaction that stores it. */
    async create(
      site: Site,
      body: unknown,
      by: { actor: Actor; userId: number },
      alongside: (statements: OwnStatements, pixel: Pixel) => Promise<void>,
    ): Promise<Pixel> {
      const { fields, force } = readNewPixel(body)
      return db.transaction(async (statements) => {
        if (fields.slug !== undefined) await claimSlug(statements, site, { slug: fields.slug, force })
        await refuseFull(statements, site)
        const complete: PixelFields = { ...USUAL, ...fields, slug: fields.slug ?? (await slugs.free(statements, LIMITS.generatedChars)) }
        const pixel = await insertPixel(statements, complete, { siteId: site.id, createdBy: by.userId, now: now() })
        await audit(statements, by.actor, site, { verb: "create", pixel, changes: changedFields(undefined, pixel) })
        await alongside(statements, pixel)
        return pixel
      }, cache.put)
    },

    /** Applies a merge patch. A patch without changes keeps the version. */
    async update(site: Site, id: string | undefined, body: unknown, { actor, expected }: ChangeAuthor): Promise<Pixel> {
      const patch = readPatch(body)
      if (patch.fields.slug !== undefined) refuseSlug(patch.fields.slug)
      return db.transaction(async (statements) => {
        const pixel = await find(statements, site, id)
        refuseStaleBody(pixel, patch.version, show)
        refuseOtherVersion(pixel, expected)
        const wanted = applyPatch(pixel, patch, now())
        const changes = changedFields(pixel, wanted)
        if (Object.keys(changes).length === 0) return pixel
        if (wanted.slug !== pixel.slug) await claimSlug(statements, site, { slug: wanted.slug, force: patch.force, id: pixel.id })
        if (slugKey(wanted.slug) !== slugKey(pixel.slug)) await slugs.release(statements, pixel, site.organization_id)
        const changed = await updatePixel(statements, pixel.id, wanted, now())
        await audit(statements, actor, site, { verb: "update", pixel: changed, changes })
        return changed
      }, cache.put)
    },

    async remove(site: Site, id: string | undefined, { actor, expected }: ChangeAuthor): Promise<void> {
      await db.transaction(async (statements) => {
        const pixel = await find(statements, site, id)
        refuseOtherVersion(pixel, expected)
        const removed = await updatePixel(statements, pixel.id, { ...pixel, deleted_at: now() }, now())
        await slugs.release(statements, pixel, site.organization_id)
        await audit(statements, actor, site, { verb: "delete", pixel })
        return removed
      }, cache.put)
    },

    /** Restores a deleted pixel. Throws `slug_taken` if another pixel has its slug by now. */
    async restore(site: Site, id: string | undefined, actor: Actor): Promise<Pixel> {
      return db.transaction(async (statements) => {
        const pixel = await findDeleted(statements, site, id)
        await claimSlug(statements, site, { slug: pixel.slug, force: false, id: pixel.id })
        await refuseFull(statements, site)
        const restored = await updatePixel(statements, pixel.id, { ...pixel, deleted_at: null }, now())
        await audit(statements, actor, site, { verb: "restore", pixel: restored })
        return restored
      }, cache.put)
    },
  }
}

interface Change {
  verb: string
  pixel: Pixel
  changes?: Record<string, readonly [unknown, unknown]>
}

function applyPatch(pixel: Pixel, { fields, archived }: ReadPixel, now: number): Pixel {
  const archivedAt = archived === undefined ? pixel.archived_at : archived ? (pixel.archived_at ?? now) : null
  return { ...pixel, ...fields, archived_at: archivedAt }
}

const EDITABLE = ["slug", "name", "kind", "allowed_params", "recipient_mode", "badge_public", "archived_at"] as const

/** Returns the changed fields with their values before and after. */
function changedFields(before: Pixel | undefined, after: Pixel): Record<string, readonly [unknown, unknown]> {
  const changed = EDITABLE.filter((field) => !Bun.deepEquals(before?.[field] ?? null, after[field]))
  return Object.fromEntries(changed.map((field) => [field, [before?.[field] ?? null, after[field]]]))
}
