import type { Clock } from "../domain/clock.ts"
import type { PageRules } from "../domain/match.ts"
import { mergedWith } from "../domain/shape.ts"
import type { InstanceShield } from "../domain/shield.ts"
import { refuseOtherVersion } from "../domain/version.ts"
import type { Catalog } from "../store/catalog/catalog.ts"
import { deleteInstanceShield, insertInstanceShield, listInstanceShields, updateInstanceShield } from "../store/catalog/instance-shields.ts"
import { readOneShield, shieldNotFound } from "./shield-input.ts"
import type { Alongside, Terms } from "./site-things.ts"
import { inSlices } from "./slices.ts"

type ShieldTerms = Pick<Terms<InstanceShield>, "expected" | "alongside">

/** Shields that hold for every site. Faults of a body throw `validation_failed`, an unknown id `not_found`. */
export interface InstanceShields {
  /** By id ascending. From memory, as ingestion asks for every event: the same list until a change, then another one. */
  current(): readonly InstanceShield[]
  add(input: unknown, alongside?: Alongside<InstanceShield>): Promise<InstanceShield>
  /** A merge patch. Throws `precondition_failed` for a version that was not expected. */
  update(id: number, patch: unknown, terms?: ShieldTerms): Promise<InstanceShield>
  remove(id: number, terms?: ShieldTerms): Promise<void>
}

/** No site's settings say what its pages may look like. */
const ANY_SITE: PageRules = { allowed_query_params: [], hash_routing: true }

export async function createInstanceShields({ catalog, clock }: { catalog: Catalog; clock: Pick<Clock, "now"> }): Promise<InstanceShields> {
  let kept: readonly InstanceShield[] = await inSlices((slice) => listInstanceShields(catalog, slice))
  const find = (id: number): InstanceShield => {
    const shield = kept.find((other) => other.id === id)
    if (!shield) throw shieldNotFound(id)
    return shield
  }
  const without = (id: number) => kept.filter((other) => other.id !== id)
  const keep = (shield: InstanceShield): void => {
    kept = [...without(shield.id), shield].sort((a, b) => a.id - b.id)
  }

  return {
    current: () => kept,
    add: (input, alongside) =>
      catalog.transaction(async (statements) => {
        const after = await insertInstanceShield(statements, readOneShield(input, kept, ANY_SITE), clock.now())
        await alongside?.(statements, { after })
        return after
      }, keep),
    update: (id, patch, { expected, alongside } = {}) =>
      catalog.transaction(async (statements) => {
        const shield = find(id)
        refuseOtherVersion(shield, expected)
        const { kind, value, conditions, note, enabled } = shield
        const changed = mergedWith({ kind, value, ...(conditions && { conditions }), note, enabled }, patch)
        const after = await updateInstanceShield(statements, id, readOneShield(changed, without(id), ANY_SITE), clock.now())
        await alongside?.(statements, { before: shield, after })
        return after
      }, keep),
    remove: (id, { expected, alongside } = {}) =>
      catalog.transaction(
        async (statements) => {
          const before = find(id)
          refuseOtherVersion(before, expected)
          await deleteInstanceShield(statements, id)
          await alongside?.(statements, { before })
        },
        () => {
          kept = without(id)
        },
      ),
  }
}
