import type { OwnStatements, Removed, Site } from "#plugin"
import { SLUG_KEPT_MS } from "#plugin"
import type { Cache } from "./cache.ts"
import { dayOf } from "./orphans.ts"
import { LIMITS, type Pixel, type PixelsHost } from "./pixel.ts"
import {
  deleteFoldPosition,
  deleteOldTombstones,
  deleteOrphansBefore,
  deletePixel,
  listOldPixels,
  listPixelsOfSite,
  putTombstone,
} from "./rows.ts"
import { shownPixel } from "./shown.ts"

const SLICE = 200
/** What a slug of a site that is gone belongs to: nobody can take it before its time. */
const NOBODY = 0

export function removalOf(host: PixelsHost, cache: Cache) {
  const { db, audit, now, services } = host

  async function purge(statements: OwnStatements, pixel: Pixel): Promise<void> {
    await deletePixel(statements, pixel.id)
    const organizationId = services.sites.directory.byId(pixel.site_id)?.organization_id
    await audit.write(statements, audit.system, {
      action: "pixels.pixel.purge",
      target: { type: "pixel", id: pixel.id, label: pixel.name },
      ...(organizationId !== undefined && { organizationId }),
      siteId: pixel.site_id,
    })
  }

  return {
    /** What was deleted so long ago that nobody can bring it back, slugs that are free again, and old counts of orphans. */
    async removeOld(signal: AbortSignal): Promise<void> {
      for (let left = SLICE; left === SLICE && !signal.aborted; )
        left = await db.transaction(async (statements) => {
          const old = await listOldPixels(statements, now() - LIMITS.restoreMs, SLICE)
          for (const pixel of old) await purge(statements, pixel)
          return old.length
        })
      for (let left = SLICE; left === SLICE && !signal.aborted; ) left = await deleteOldTombstones(db, now(), SLICE)
      await deleteOrphansBefore(db, dayOf(now() - LIMITS.orphanDays * 86_400_000))
    },

    /** Mails that were sent still ask for its pixels: their slugs stay out of use as long as those of deleted ones. */
    async removeSite(siteId: number): Promise<Removed> {
      let pixels = 0
      for (let left = SLICE; left === SLICE; pixels += left)
        left = await db.transaction(async (statements) => {
          const some = await listPixelsOfSite(statements, siteId, 0, SLICE)
          for (const pixel of some) {
            if (pixel.deleted_at === null)
              await putTombstone(statements, pixel, { organizationId: NOBODY, now: now(), until: now() + SLUG_KEPT_MS })
            await deletePixel(statements, pixel.id)
            cache.remove(pixel.id)
          }
          return some.length
        })
      await deleteFoldPosition(db, siteId)
      return { pixels }
    },

    /** For the archive of the site: what was deleted is in none, though opens of it are. */
    async *rows(site: Site): AsyncIterable<object> {
      for (let after = 0, left = SLICE; left === SLICE; ) {
        const some = await listPixelsOfSite(db, site.id, after, SLICE)
        for (const pixel of some) if (pixel.deleted_at === null) yield archived(pixel)
        after = some.at(-1)?.id ?? after
        left = some.length
      }
    },
  }
}

/** Without what only means something on this instance. */
function archived(pixel: Pixel): object {
  const { url: _, created_by: __, version: ___, ...shown } = shownPixel("", pixel)
  return shown
}
