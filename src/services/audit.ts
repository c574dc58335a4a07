import type { Actor, Deed } from "../domain/audit.ts"
import { changesBetween } from "../domain/audit.ts"
import type { Clock } from "../domain/clock.ts"
import { type ChainedRow, insertAuditRow, lastAuditRow, listChainedRows } from "../store/catalog/audit.ts"
import type { Catalog, Statements } from "../store/catalog/catalog.ts"
import type { Alongside } from "./site-things.ts"
import { slicesOf } from "./slices.ts"

/**
 * The log of who changed what: append-only, each row holds the hash of the one before. Rows are written in the transaction of
 * the change they tell of: when the row cannot be written, the change does not happen.
 */
export interface Audit {
  write(statements: Statements, actor: Actor, deed: Deed): Promise<void>
  /** Of work that has no transaction in the catalog. */
  writeAlone(actor: Actor, deed: Deed): Promise<void>
  /** Looks at every row; `first_broken_id` is the first that does not follow from the one before. */
  verify(): Promise<{ ok: boolean; rows: number; first_broken_id?: number }>
}

const NOTHING = new Uint8Array(32)

export function createAudit({ catalog, clock }: { catalog: Catalog; clock: Pick<Clock, "now"> }): Audit {
  async function write(statements: Statements, actor: Actor, deed: Deed): Promise<void> {
    const last = await lastAuditRow(statements)
    const prev_hash = last?.hash ?? NOTHING
    const row = { ...rowOf(actor, deed), id: (last?.id ?? 0) + 1, at: clock.now(), prev_hash }
    await insertAuditRow(statements, { ...row, hash: hashOf(row) })
  }

  return {
    write,
    writeAlone: (actor, deed) => catalog.transaction((statements) => write(statements, actor, deed)),
    async verify() {
      let rows = 0
      let before: ChainedRow | undefined
      for await (const slice of slicesOf((part) => listChainedRows(catalog, part))) {
        for (const row of slice) {
          rows++
          // The first row there is may be the anchor that was left when older ones were removed.
          const follows = before === undefined || Bun.deepEquals(row.prev_hash, before.hash)
          if (!follows || !Bun.deepEquals(hashOf(row), row.hash)) return { ok: false, rows, first_broken_id: row.id }
          before = row
        }
      }
      return { ok: true, rows }
    },
  }
}

/** What a change of a thing writes alongside: a deed with the fields that differ. `also` is stored with it. */
export const recorded =
  <Thing extends object>(
    audit: Pick<Audit, "write">,
    actor: Actor,
    describe: (thing: Thing) => Deed,
    also?: Alongside<Thing>,
  ): Alongside<Thing> =>
  async (statements, change) => {
    const { before, after } = change
    // One of the two is there.
    const deed = describe((after ?? before)!)
    await audit.write(statements, actor, { changes: changesBetween(before, after), ...deed })
    await also?.(statements, change)
  }

function rowOf(actor: Actor, deed: Deed): Omit<ChainedRow, "id" | "at" | "prev_hash" | "hash"> {
  const { action, target, organizationId, siteId, outcome = "ok", changes = {} } = deed
  return {
    actor_kind: actor.kind,
    actor_id: actor.id ?? null,
    actor_email: actor.email,
    impersonator_id: actor.impersonator?.id ?? null,
    impersonator_email: actor.impersonator?.email ?? null,
    action,
    target_type: target.type,
    target_id: String(target.id),
    target_label: target.label.slice(0, 200),
    organization_id: organizationId ?? null,
    site_id: siteId ?? null,
    outcome,
    ip_prefix: actor.ipPrefix,
    user_agent: actor.userAgent.slice(0, 512),
    request_id: actor.requestId,
    changes,
  }
}

/** Over the hash before and all fields, in one fixed order. */
function hashOf({ hash: _, prev_hash, ...row }: Omit<ChainedRow, "hash"> & { hash?: Uint8Array }): Uint8Array {
  const fields = Object.entries(row).sort(([a], [b]) => (a < b ? -1 : 1))
  return new Uint8Array(new Bun.CryptoHasher("sha256").update(prev_hash).update(JSON.stringify(fields)).digest())
}
