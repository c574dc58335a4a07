import { dayText, IMPORTED_KINDS, IMPORTED_TABLES, type ImportedKind, type VisibleImport, WHOLE_DAY } from "../../domain/imported.ts"
import type { Snapshot } from "../../store/events/part.ts"
import type { TotalsPart } from "../../store/events/totals.ts"

/**
 * A row of imported totals as it is written to the archive of a site: its kind, day and hour, the zone of both, and the columns of the
 * kind by name. Columns without a value are left out.
 */
export type ImportedRecord = Readonly<Record<string, string | number>> & { kind: ImportedKind; day: string; timezone: string }

export interface ImportedRowsQuery {
  site: { id: number }
}

/** The position after a row: the kind, the segment and the number of its rows that were read. */
export interface ImportedRowsCursor {
  kind: number
  segment: number
  row: number
}

export interface ImportedRowsBatch {
  rows: ImportedRecord[]
  /** Undefined for the last batch. */
  next: ImportedRowsCursor | undefined
}

/** Yields about a megabyte of text. */
const BATCH_ROWS = 5_000

/**
 * Returns the rows of visible imports on their effective days after a cursor, kind by kind. The snapshot can be newer than that of the
 * previous batch. `check` is called between segments.
 */
export function importedRows(
  snapshot: Snapshot,
  _query: ImportedRowsQuery,
  cursor: ImportedRowsCursor = { kind: 0, segment: 0, row: 0 },
  check: () => void,
): ImportedRowsBatch {
  const rows: ImportedRecord[] = []
  const visible = new Map(snapshot.imports.map((one) => [one.id, one]))
  for (let kind = cursor.kind; kind < IMPORTED_KINDS.length; kind++) {
    const parts = snapshot.totals(IMPORTED_KINDS[kind]!).toSorted((a, b) => a.id - b.id)
    for (const part of parts) {
      check()
      const isSame = kind === cursor.kind && part.id === cursor.segment
      if (kind === cursor.kind && part.id < cursor.segment) continue
      const read = recordReader(snapshot, IMPORTED_KINDS[kind]!, part, visible.get(part.importId)!) // totals are those of visible imports
      for (let row = isSame ? cursor.row : 0; row < part.rows; row++) {
        if (rows.length === BATCH_ROWS) return { rows, next: { kind, segment: part.id, row } }
        const record = read(row)
        if (record) rows.push(record)
      }
    }
  }
  return { rows, next: undefined }
}

/** Returns a function that reads a row, or undefined for one that is not on an effective day. */
function recordReader(snapshot: Snapshot, kind: ImportedKind, part: TotalsPart, { timezone, days }: VisibleImport) {
  const { texts, counts } = IMPORTED_TABLES[kind]
  const textColumns = Object.entries(texts).map(([name, dictionary]) => ({ name, column: part.text(name), dictionary }))
  const countColumns = counts.map((name) => ({ name, column: part.count(name) }))
  const [day, hour] = [part.days(), part.hours()]
  const keys = kind === "imported_custom_props" ? part.text("property") : undefined
  /** Returns the number of the property whose values a column has, or undefined for other columns. */
  const keyOf = (name: string, row: number): number | undefined => {
    if (name === "value") return keys?.[row]
    if (kind !== "imported_custom_events" || name === "name") return undefined
    return snapshot.dictionary("property").find(name === "path" ? "path" : "url") ?? 0
  }
  return (row: number): ImportedRecord | undefined => {
    if (!days.some(({ first, last }) => day[row]! >= first && day[row]! <= last)) return undefined
    const columns: [string, string | number][] = []
    for (const { name, column, dictionary } of textColumns) {
      const key = keyOf(name, row)
      const text = snapshot.dictionary(key === undefined ? dictionary : `property:${key}`).text(column[row]!)
      if (text !== "") columns.push([name, text])
    }
    for (const { name, column } of countColumns) if (column[row] !== 0) columns.push([name, column[row]!])
    const hours = hour[row] === WHOLE_DAY ? {} : { hour: hour[row]! }
    return { kind, day: dayText(day[row]!), ...hours, timezone, ...Object.fromEntries(columns) }
  }
}
