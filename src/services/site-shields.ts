import { siteNotFound } from "../domain/error.ts"
import { mergedWith } from "../domain/shape.ts"
import type { Shield } from "../domain/shield.ts"
import type { Site } from "../domain/site.ts"
import { refuseOtherVersion, refuseStaleBody } from "../domain/version.ts"
import { readOneShield, shieldNotFound } from "./shield-input.ts"
import type { Alongside, Change, Terms } from "./site-things.ts"
import type { Sites } from "./sites.ts"

/** The shields of one site, one by one; as a whole they are a setting of the site. Errors are those of `InstanceShields`. */
export interface SiteShields {
  current(): readonly Shield[]
  add(input: unknown, alongside?: Alongside<Shield>): Promise<Shield>
  /** A merge patch. */
  update(id: number, patch: unknown, terms?: Terms<Shield>): Promise<Shield>
  remove(id: number, terms?: Terms<Shield>): Promise<void>
}

/** What a change makes of the list, and of the one shield it is about. */
interface Changed extends Change<Shield> {
  shields: readonly Shield[]
}

export function createSiteShields(sites: Pick<Sites, "changeShields" | "directory">): { of(siteId: number): SiteShields } {
  /** Made of the list that the site has in the transaction. */
  async function changed(siteId: number, change: (site: Site) => Changed, alongside?: Alongside<Shield>): Promise<Shield | undefined> {
    let made: Changed | undefined
    await sites.changeShields(
      siteId,
      (site) => {
        made = change(site)
        return made.shields
      },
      // The change is called first.
      {
        alongside: async (statements) =>
          alongside?.(statements, { ...(made!.before && { before: made!.before }), ...(made!.after && { after: made!.after }) }),
      },
    )
    return made!.after
  }

  return {
    of: (siteId) => ({
      current() {
        const site = sites.directory.byId(siteId)
        if (!site) throw siteNotFound()
        return site.settings.shields
      },
      add: async (input, alongside) => {
        const added = await changed(
          siteId,
          ({ settings }) => {
            const { shields } = settings
            const after = { id: 1 + Math.max(0, ...shields.map(({ id }) => id)), ...readOneShield(input, shields, settings) }
            return { after, shields: [...shields, after] }
          },
          alongside,
        )
        return added! // it was made
      },
      update: async (id, patch, { expected, named, alongside } = {}) => {
        const updated = await changed(
          siteId,
          ({ settings }) => {
            const { shields } = settings
            const before = found(shields, id)
            const { id: _, version: __, ...fields } = before
            const others = shields.filter((shield) => shield !== before)
            const read = readOneShield(mergedWith(fields, patch), others, settings)
            const versioned = { ...before, version: versionOf(before) }
            if (named) refuseStaleBody(versioned, named.version, named.current)
            refuseOtherVersion(versioned, expected)
            const isSame = Bun.deepEquals(read, fields)
            const after = isSame ? before : { id, ...read, version: versionOf(before) + 1 }
            return { before, after, shields: shields.with(shields.indexOf(before), after) }
          },
          alongside,
        )
        return updated! // it was there
      },
      async remove(id, { expected, alongside } = {}) {
        const without = ({ settings: { shields } }: Site): Changed => {
          const before = found(shields, id)
          refuseOtherVersion({ version: versionOf(before) }, expected)
          return { before, shields: shields.filter((shield) => shield !== before) }
        }
        await changed(siteId, without, alongside)
      },
    }),
  }
}

/** Of a shield that was never changed nothing is written down. */
export const versionOf = ({ version = 1 }: Shield): number => version

function found(shields: readonly Shield[], id: number): Shield {
  const shield = shields.find((each) => each.id === id)
  if (!shield) throw shieldNotFound(id)
  return shield
}
