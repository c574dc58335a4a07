import { dayNumber, dayText, type VisibleImport } from "../../domain/imported.ts"
import type { RecordKind } from "../../domain/record.ts"
import { dayStart } from "../../query/parse/period.ts"
import type { Catalog, Statements } from "../../store/catalog/catalog.ts"
import {
  deleteVisibleImports,
  insertVisibleImport,
  listVisibleImports,
  type VisibleImportRow,
  visibleImportsOf,
} from "../../store/catalog/visible-imports.ts"
import type { EventStore } from "../../store/events/events.ts"
import type { Reload } from "../changes/changes.ts"

/** An import as its area makes it visible: the last completed run, and the effective days in the zone of the import. */
export interface EffectiveImport {
  id: number
  run: number
  /** IANA time zone. */
  timezone: string
  /** Ranges of days such as `2026-11-21`, ascending, both ends inclusive. */
  days: readonly { from: string; to: string }[]
}

/**
 * The imports that answers include, by site. They are stored in the catalog, so that the transaction of an area shows or hides an
 * import as a whole, and kept in memory, so that every query gets them without waiting.
 */
export interface VisibleImports {
  of(siteId: number): readonly VisibleImport[]
  /**
   * Replaces the visible imports of a site in the transaction of the caller. Returns the function that makes them effective, which the
   * caller runs directly after the commit: they are part of the next query.
   */
  replace(statements: Statements, siteId: number, imports: readonly EffectiveImport[]): Promise<() => void>
  /** Removes days before a day from the visible imports of a site, and imports without any other day. */
  retain(siteId: number, firstDay: string): Promise<void>
  /** Makes no import of a site visible any more. */
  clear(siteId: number): Promise<void>
  /** Returns the start of the first native visit or of the first effective day, in epoch milliseconds. Undefined without data. */
  firstAt(siteId: number, records?: RecordKind): number | undefined
  /** Reads the visible imports of some sites again, after another node changed them. */
  reload: Reload
}

/** The set before the catalog is open: an engine is created first, and asks for each query. */
export interface VisibleImportsHolder extends Pick<VisibleImports, "of"> {
  load(catalog: Catalog, events: Pick<EventStore, "firstAt">): Promise<VisibleImports>
}

const SLICE = 500

export function createVisibleImports(): VisibleImportsHolder {
  const bySite = new Map<number, readonly VisibleImport[]>()
  const of = (siteId: number) => bySite.get(siteId) ?? NONE
  return {
    of,
    async load(catalog, events) {
      for (const [siteId, rows] of Map.groupBy(await allRows(catalog), ({ site_id }) => site_id)) bySite.set(siteId, rows.map(readRow))
      const replace: VisibleImports["replace"] = async (statements, siteId, imports) => {
        const rows = imports.map((one) => rowOf(siteId, one))
        await deleteVisibleImports(statements, siteId)
        for (const row of rows) await insertVisibleImport(statements, row)
        const visible = rows.map(readRow)
        return () => void bySite.set(siteId, visible)
      }
      return {
        of,
        replace,
        async reload(statements, siteIds) {
          for (const siteId of siteIds.map(Number)) {
            bySite.set(siteId, (await visibleImportsOf(statements, siteId)).map(readRow))
          }
        },
        async retain(siteId, firstDay) {
          const first = dayNumber(firstDay)
          if (!of(siteId).some(({ days }) => days.some((span) => span.first < first))) return
          const kept = () =>
            of(siteId)
              .map((one) => effective(one, first))
              .filter(({ days }) => days.length > 0)
          await catalog.transaction(
            (statements) => replace(statements, siteId, kept()),
            (show) => show(),
          )
        },
        async clear(siteId) {
          await deleteVisibleImports(catalog, siteId)
          bySite.delete(siteId)
        },
        firstAt(siteId, records) {
          const native = events.firstAt(siteId, records)
          if (records !== undefined) return native
          const imported = of(siteId).flatMap(({ spans: [first] }) => first?.from ?? [])
          const first = Math.min(native ?? Number.POSITIVE_INFINITY, ...imported)
          return first === Number.POSITIVE_INFINITY ? undefined : first
        },
      }
    },
  }
}

const NONE: readonly VisibleImport[] = []

async function allRows(catalog: Statements): Promise<VisibleImportRow[]> {
  const all: VisibleImportRow[] = []
  for (;;) {
    const rows = await listVisibleImports(catalog, { limit: SLICE, after: all.at(-1) })
    all.push(...rows)
    if (rows.length < SLICE) return all
  }
}

/** Returns an import with its effective days from a day on. */
const effective = ({ id, run, timezone, days }: VisibleImport, first: number): EffectiveImport => ({
  id,
  run,
  timezone,
  days: days.filter(({ last }) => last >= first).map((span) => ({ from: dayText(Math.max(span.first, first)), to: dayText(span.last) })),
})

const rowOf = (site_id: number, { id, run, timezone, days }: EffectiveImport): VisibleImportRow => ({
  site_id,
  import_id: id,
  run,
  timezone,
  days_json: JSON.stringify(days.map(({ from, to }) => [from, to])),
})

function readRow({ import_id, run, timezone, days_json }: VisibleImportRow): VisibleImport {
  const days = (JSON.parse(days_json) as [string, string][]).map(([from, to]) => ({ first: dayNumber(from), last: dayNumber(to) })) // by `rowOf`
  const start = (day: number) => dayStart(Temporal.PlainDate.from(dayText(day)), timezone)
  return { id: import_id, run, timezone, days, spans: days.map(({ first, last }) => ({ from: start(first), to: start(last + 1) })) }
}
