import type { OwnStatements } from "#plugin"
import type { ImportsHost } from "./area.ts"
import { type HeldImport, type MaskedDays, maskedDays, rangesOf } from "./days.ts"
import { type DayRow, daysOf, type ImportRow, importsOfSite, putDays, updateImport } from "./rows.ts"
import { streamsOfSite } from "./streams/rows.ts"

/** Decides again which import holds each day of a site, whenever an import is completed, undone, enabled or disabled. */
export interface Holders {
  /**
   * Recomputes the days of all imports of a site and shows the effective ones, in the transaction of the given statements. Returns the
   * function that makes the change effective for the next query: call it in `committed`.
   */
  recompute(statements: OwnStatements, siteId: number): Promise<() => void>
  /** Returns the imports that hold days, for a preview. */
  held(statements: OwnStatements, siteId: number): Promise<HeldImport[]>
}

export function createHolders({ imports }: Pick<ImportsHost, "imports">): Holders {
  return {
    async recompute(statements, siteId) {
      const all = (await importsOfSite(statements, siteId)).filter(({ state }) => HAS_DAYS.includes(state))
      const days = new Map<number, DayRow[]>()
      for (const { id } of all) days.set(id, await daysOf(statements, id))
      const held = all.filter(isShown).map((row) => heldImport(row, days.get(row.id)!)) // set above
      const masked = maskedDays(held)
      const runs = new Map((await streamsOfSite(statements, siteId)).map(({ import_id, run }) => [import_id, run]))
      const effective = []
      for (const row of all) {
        const before = days.get(row.id)! // set above
        const after = before.map((day) => dayNow(day, isShown(row) ? masked.get(row.id)! : undefined)) // every shown import has an entry
        const changed = after.filter((day, at) => !Bun.deepEquals(day, before[at]))
        await putDays(statements, row.id, changed)
        const count = after.filter(({ state }) => state === "effective").length
        if (count !== row.days_effective) await updateImport(statements, row.id, { days_effective: count })
        if (!isShown(row)) continue
        const ranges = rangesOf(after.filter(({ state }) => state === "effective").map(({ day }) => [day, true] as const))
        effective.push({
          id: row.id,
          run: runs.get(row.id) ?? 1,
          timezone: row.timezone,
          days: ranges.map(({ from, to }) => ({ from, to })),
        })
      }
      return imports.show(statements, siteId, effective)
    },
    async held(statements, siteId) {
      const held: HeldImport[] = []
      for (const row of await importsOfSite(statements, siteId))
        if (isShown(row)) held.push(heldImport(row, await daysOf(statements, row.id)))
      return held
    },
  }
}

/** States in which an import has days. */
const HAS_DAYS: readonly ImportRow["state"][] = ["completed", "undoing", "undone"]

const isShown = ({ state, enabled }: ImportRow): boolean => state === "completed" && enabled === 1

const heldImport = ({ id, overlap, timezone, finished_at }: ImportRow, days: readonly DayRow[]): HeldImport => ({
  id,
  overlap,
  timezone,
  finishedAt: finished_at ?? 0,
  days: days.filter(({ state }) => state !== "skipped").map(({ day }) => day),
})

/** Returns the state of a day. All days of an import that is not shown are masked. */
function dayNow(row: DayRow, masked: MaskedDays | undefined): DayRow {
  const { day } = row
  if (row.state === "skipped") return row
  if (!masked) return { day, state: "masked", reason: "disabled", masked_by: null }
  const by = masked.get(day)
  return by === undefined
    ? { day, state: "effective", reason: null, masked_by: null }
    : { day, state: "masked", reason: null, masked_by: by }
}
