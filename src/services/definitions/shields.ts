import type { Clock } from "../../domain/clock.ts"
import { siteNotFound } from "../../domain/error.ts"
import type { PageRules } from "../../domain/match.ts"
import { mergedWith } from "../../domain/shape.ts"
import type { InstanceShield, Shield } from "../../domain/shield.ts"
import type { Site, SiteDirectory } from "../../domain/site.ts"
import { refuseOtherVersion, refuseStaleBody } from "../../domain/version.ts"
import type { Catalog, Statements } from "../../store/catalog/catalog.ts"
import { deleteInstanceShield, insertInstanceShield, listInstanceShields, updateInstanceShield } from "../../store/catalog/settings.ts"
import type { Reload } from "../changes/changes.ts"
import { inSlices } from "../lists/paging.ts"
import { readOneShield, shieldNotFound } from "./shield-input.ts"
import type { Alongside, Change, Terms } from "./site-things.ts"

/** The shields of one site, one by one. As a whole they are a setting of the site. Errors are those of `InstanceShields`. */
export interface SiteShields {
  current(): readonly Shield[]
  add(input: unknown, alongside?: Alongside<Shield>): Promise<Shield>
  /** Applies a merge patch to a shield. */
  update(id: number, patch: unknown, terms?: Terms<Shield>): Promise<Shield>
  remove(id: number, terms?: Terms<Shield>): Promise<void>
}

/** Result of a change: the new list, and the changed shield before and after. */
interface Changed extends Change<Shield> {
  shields: readonly Shield[]
}

/** The part of the site service that shields require. */
interface ShieldedSites {
  directory: Pick<SiteDirectory, "byId">
  changeShields(id: number, change: (site: Site) => readonly Shield[], terms?: Terms<Site>): Promise<Site>
}

export function createSiteShields(sites: ShieldedSites): { of(siteId: number): SiteShields } {
  /** Applies a change to the list that the site has within the transaction. */
  async function changed(siteId: number, change: (site: Site) => Changed, alongside?: Alongside<Shield>): Promise<Shield | undefined> {
    let result: Changed | undefined
    await sites.changeShields(
      siteId,
      (site) => {
        result = change(site)
        return result.shields
      },
      // The change callback runs before `alongside`.
      {
        alongside: async (statements) =>
          alongside?.(statements, { ...(result!.before && { before: result!.before }), ...(result!.after && { after: result!.after }) }),
      },
    )
    return result!.after
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
        return added! // set by the change above
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
        return updated! // `found` has thrown for an unknown id
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

/** Returns the version of a shield. It is stored only after the first change. */
export const versionOf = ({ version = 1 }: Shield): number => version

function found(shields: readonly Shield[], id: number): Shield {
  const shield = shields.find((each) => each.id === id)
  if (!shield) throw shieldNotFound(id)
  return shield
}

type ShieldTerms = Pick<Terms<InstanceShield>, "expected" | "alongside">

/** Shields that apply to every site. A body with faults throws `validation_failed`, an unknown id `shield_not_found`. */
export interface InstanceShields {
  /**
   * Returns the shields by id ascending. Read from memory, because ingestion asks for every event. The list object is replaced
   * on every change.
   */
  current(): readonly InstanceShield[]
  add(input: unknown, alongside?: Alongside<InstanceShield>): Promise<InstanceShield>
  /** Applies a merge patch. Throws `precondition_failed` for an unexpected version. */
  update(id: number, patch: unknown, terms?: ShieldTerms): Promise<InstanceShield>
  remove(id: number, terms?: ShieldTerms): Promise<void>
  /** Reads the shields again, after another node changed them. */
  reload: Reload
}

/** Page rules that accept every page, because the settings of a single site do not apply. */
const ANY_SITE: PageRules = { allowed_query_params: [], hash_routing: true }

export async function createInstanceShields({ catalog, clock }: { catalog: Catalog; clock: Pick<Clock, "now"> }): Promise<InstanceShields> {
  const read = (statements: Statements) => inSlices((slice) => listInstanceShields(statements, slice))
  let shields: readonly InstanceShield[] = await read(catalog)
  const find = (id: number): InstanceShield => {
    const shield = shields.find((other) => other.id === id)
    if (!shield) throw shieldNotFound(id)
    return shield
  }
  const without = (id: number) => shields.filter((other) => other.id !== id)
  const put = (shield: InstanceShield): void => {
    shields = [...without(shield.id), shield].sort((a, b) => a.id - b.id)
  }

  return {
    current: () => shields,
    async reload(statements) {
      shields = await read(statements)
    },
    add: (input, alongside) =>
      catalog.transaction(async (statements) => {
        const after = await insertInstanceShield(statements, readOneShield(input, shields, ANY_SITE), clock.now())
        await alongside?.(statements, { after })
        return after
      }, put),
    update: (id, patch, { expected, alongside } = {}) =>
      catalog.transaction(async (statements) => {
        const shield = find(id)
        refuseOtherVersion(shield, expected)
        const { kind, value, conditions, note, enabled } = shield
        const changed = mergedWith({ kind, value, ...(conditions && { conditions }), note, enabled }, patch)
        const after = await updateInstanceShield(statements, id, readOneShield(changed, without(id), ANY_SITE), clock.now())
        await alongside?.(statements, { before: shield, after })
        return after
      }, put),
    remove: (id, { expected, alongside } = {}) =>
      catalog.transaction(
        async (statements) => {
          const before = find(id)
          refuseOtherVersion(before, expected)
          await deleteInstanceShield(statements, id)
          await alongside?.(statements, { before })
        },
        () => {
          shields = without(id)
        },
      ),
  }
}
