import { siteNotFound } from "../domain/error.ts"
import { mergedWith } from "../domain/shape.ts"
import type { Shield } from "../domain/shield.ts"
import { readOneShield, shieldNotFound } from "./shield-input.ts"
import type { Sites } from "./sites.ts"

/**
 * The shields of one site, one by one; as a whole they are a setting of the site. Errors are those of `InstanceShields`, and
 * `site_not_found`.
 */
export interface SiteShields {
  current(): readonly Shield[]
  add(input: unknown): Promise<Shield>
  update(id: number, patch: unknown): Promise<Shield>
  remove(id: number): Promise<void>
}

export function createSiteShields(sites: Pick<Sites, "get" | "configure" | "directory">): { of(siteId: number): SiteShields } {
  // One change after the other: each is made of the list that the one before has left.
  let last: Promise<unknown> = Promise.resolve()
  function changed(siteId: number, change: (present: readonly Shield[]) => readonly object[]): Promise<readonly Shield[]> {
    const next = last.then(async () => {
      const { settings } = await sites.get(siteId)
      return (await sites.configure(siteId, { shields: change(settings.shields) })).settings.shields
    })
    last = next.catch(() => {})
    return next
  }

  return {
    of: (siteId) => ({
      current() {
        const site = sites.directory.byId(siteId)
        if (!site) throw siteNotFound()
        return site.settings.shields
      },
      async add(input) {
        const { settings } = await sites.get(siteId)
        const shields = await changed(siteId, (present) => [...present, readOneShield(input, present, settings)])
        return shields.at(-1)! // the one that was added stands last
      },
      async update(id, patch) {
        const { settings } = await sites.get(siteId)
        let place = -1
        const shields = await changed(siteId, (present) => {
          place = present.findIndex((shield) => shield.id === id)
          const { id: _, ...fields } = present[place] ?? missing(id)
          const others = present.filter((_, at) => at !== place)
          return present.with(place, { id, ...readOneShield(mergedWith(fields, patch), others, settings) })
        })
        return shields[place]!
      },
      async remove(id) {
        await changed(siteId, (present) => {
          if (!present.some((shield) => shield.id === id)) throw shieldNotFound(id)
          return present.filter((shield) => shield.id !== id)
        })
      },
    }),
  }
}

function missing(id: number): never {
  throw shieldNotFound(id)
}
