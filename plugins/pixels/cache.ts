import { type OwnTables, slugKey } from "#plugin"
import type { Pixel } from "./pixel.ts"
import { listAllPixels, pixelsByIds } from "./rows.ts"

/**
 * All pixels that are not deleted, in memory. Requests do not wait for a store, and an unknown pixel takes as long as a known one.
 * Each write changes the cache right after its commit, so the next request sees it.
 */
export interface Cache {
  /** Follows what other nodes change. Called before the first request. */
  begin(): Promise<void>
  /** Resolves when all pixels are in memory; undefined if they are. The first request reads them; after a failure the next one does. */
  ready(): Promise<void> | undefined
  at(slug: string): Pixel | undefined
  /** Returns the sites that have pixels. */
  siteIds(): Set<number>
  /** Adds or replaces a pixel. Removes a deleted one. */
  put(pixel: Pixel): void
  remove(id: number): void
}

const SLICE = 1_000

export function createCache(db: OwnTables): Cache {
  const bySlug = new Map<string, Pixel>()
  const byId = new Map<number, Pixel>()
  let loading: Promise<void> | undefined
  let isLoaded = false

  function remove(id: number): void {
    const old = byId.get(id)
    if (!old) return
    byId.delete(id)
    if (bySlug.get(slugKey(old.slug)) === old) bySlug.delete(slugKey(old.slug))
  }
  function put(pixel: Pixel): void {
    remove(pixel.id)
    if (pixel.deleted_at !== null) return
    byId.set(pixel.id, pixel)
    bySlug.set(slugKey(pixel.slug), pixel)
  }
  /** Reads all pixels in one transaction, so that nothing changes between two slices. */
  const load = (): Promise<void> =>
    db.transaction(
      async (statements) => {
        for (let after = 0, slice = SLICE; slice === SLICE; ) {
          const pixels = await listAllPixels(statements, after, SLICE)
          for (const pixel of pixels) put(pixel)
          after = pixels.at(-1)?.id ?? after
          slice = pixels.length
        }
      },
      () => {
        isLoaded = true
      },
    )
  return {
    begin: () =>
      db.follow("pixels_pixels", async (statements, ids) => {
        const found = await pixelsByIds(statements, ids)
        for (const id of ids) remove(id)
        found.forEach(put)
      }),
    ready() {
      if (isLoaded) return undefined
      loading ??= load().finally(() => {
        loading = undefined
      })
      return loading
    },
    siteIds: () => new Set([...byId.values()].map(({ site_id }) => site_id)),
    at: (slug) => bySlug.get(slugKey(slug)),
    put,
    remove,
  }
}
