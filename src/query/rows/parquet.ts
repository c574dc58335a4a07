import type { ParquetWriter, SchemaElement } from "hyparquet-writer"
import { FLAT_METRICS } from "../../domain/metric.ts"
import type { ExportRecord } from "./export-text.ts"

/**
 * Parquet files, a row group at a time: a worker encodes the rows of each group, and the main thread joins them and writes the end of
 * the file, which describes all groups. So a file of any length needs little memory.
 */

/** The description of a row group. Its offsets are those in the group until `placeGroup` moves them. */
export type RowGroup = ParquetWriter["row_groups"][number]

/** The text at the beginning and at the end of every file. */
export const PARQUET_MAGIC = new TextEncoder().encode("PAR1")

/** Loads the library when the first file is written, because loading it takes longer than most queries. */
const library = () => require("hyparquet-writer") as typeof import("hyparquet-writer")

/** Encodes records as a row group. Returns no group for no records. */
export function encodeGroup(columns: readonly string[], records: readonly ExportRecord[]): { rows: Uint8Array; group?: RowGroup } {
  if (records.length === 0) return { rows: new Uint8Array(0) }
  const { file, written } = newFile(columns)
  const columnData = columns.map((name) => ({ name, data: records.map((record) => stored(name, record[name])), offsetIndex: false }))
  file.write({ columnData, rowGroupSize: records.length })
  return { rows: written(), group: file.row_groups[0]! } // one for the whole size
}

/** Moves the offsets of a group to those in a file in which it begins at `offset`. */
export function placeGroup(group: RowGroup, offset: number): RowGroup {
  // The group was encoded behind the first bytes of a file of its own.
  const moved = (at: bigint) => at + BigInt(offset - PARQUET_MAGIC.length)
  const columns = group.columns.map(({ meta_data, ...column }) => {
    if (!meta_data) return column // the library always writes it
    const { data_page_offset, dictionary_page_offset } = meta_data
    return {
      ...column,
      file_offset: moved(column.file_offset),
      meta_data: {
        ...meta_data,
        data_page_offset: moved(data_page_offset),
        ...(dictionary_page_offset !== undefined && { dictionary_page_offset: moved(dictionary_page_offset) }),
      },
    }
  })
  return { ...group, columns }
}

/** Returns the end of a file. `facts` are stored in its metadata under the key `footfall`. */
export function encodeEnd(columns: readonly string[], groups: readonly RowGroup[], facts: object): Uint8Array {
  const { file, written } = newFile(columns, JSON.stringify(facts))
  file.row_groups = [...groups]
  file.num_rows = groups.reduce((sum, { num_rows }) => sum + num_rows, 0n)
  file.finish()
  return written()
}

function newFile(columns: readonly string[], facts?: string) {
  const { ByteWriter, ParquetWriter } = library()
  const writer = new ByteWriter()
  const schema = [{ name: "root", num_children: columns.length }, ...columns.map(elementOf)]
  const file = new ParquetWriter({
    ...{ writer, schema, codec: "ZSTD", compressors: { ZSTD: (bytes) => Bun.zstdCompressSync(bytes) } },
    ...{ statistics: false, createdBy: "Footfall" },
    ...(facts !== undefined && { kvMetadata: [{ key: "footfall", value: facts }] }),
  })
  return { file, written: () => writer.getBytes().slice(PARQUET_MAGIC.length) }
}

const TIMES = ["at", "started_at", "last_at"]
const BOOLEANS = ["interactive", "bounce", "partial"]
const INTEGERS = [
  ...["visitors", "visits", "pageviews", "events", "conversions"],
  ...["duration", "engaged_seconds", "import_id", "scroll_depth", "engaged_ms", "position"],
  ...["goal_id", "threshold"],
]
const NUMBERS: readonly string[] = [...FLAT_METRICS, "share", "revenue_amount"]

function elementOf(name: string): SchemaElement {
  const element = { name, repetition_type: "OPTIONAL" } as const
  if (TIMES.includes(name)) return { ...element, type: "INT64", logical_type: { type: "TIMESTAMP", isAdjustedToUTC: true, unit: "MILLIS" } }
  if (BOOLEANS.includes(name)) return { ...element, type: "BOOLEAN" }
  if (INTEGERS.includes(name)) return { ...element, type: "INT64" }
  if (NUMBERS.includes(name)) return { ...element, type: "DOUBLE" }
  return { ...element, type: "BYTE_ARRAY", converted_type: name === "props" ? "JSON" : "UTF8" }
}

/** Returns a cell as the library expects it. A missing value is null. */
function stored(name: string, cell: ExportRecord[string]): unknown {
  if (cell === undefined || cell === "") return null
  if (TIMES.includes(name)) return new Date(String(cell))
  return INTEGERS.includes(name) ? BigInt(Number(cell)) : cell
}
