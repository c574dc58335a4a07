import type { ExportFormat } from "../../domain/export.ts"
import { betweenBatches, type ExportRecord, exportHead, exportTrailer, recordsText, type TextFormat } from "./export-text.ts"
import { encodeEnd, encodeGroup, PARQUET_MAGIC, placeGroup, type RowGroup } from "./parquet.ts"

/** Encoded rows of an export, and for Parquet their description. */
export interface EncodedRows {
  rows: Uint8Array
  group?: RowGroup
}

/** Encodes rows. The bytes are part of a file that `exportFile` joins. */
export function encodeRecords(format: ExportFormat, columns: readonly string[], records: readonly ExportRecord[]): EncodedRows {
  if (format === "parquet") return encodeGroup(columns, records)
  return { rows: new TextEncoder().encode(recordsText(format, columns, records)) }
}

/** A file that is written from beginning to end. */
export interface ExportFile {
  /** Returns the bytes of a batch of rows, with those before it. Nothing for no rows. */
  add(batch: EncodedRows): Uint8Array
  /** Returns the bytes after the last row. `omitted` is the number of visits that were removed meanwhile. */
  end(omitted: number): Uint8Array
}

/** Begins a file. `facts` are what JSON and Parquet say about it, such as the resolved range. */
export function exportFile(format: ExportFormat, columns: readonly string[], facts: object): ExportFile {
  return format === "parquet" ? parquetFile(columns, facts) : textFile(format, columns, facts)
}

function textFile(format: TextFormat, columns: readonly string[], facts: object): ExportFile {
  const head = exportHead(format, columns, facts)
  let before = head
  return {
    add({ rows }) {
      if (rows.length === 0) return rows
      const bytes = Buffer.concat([Buffer.from(before), rows])
      before = betweenBatches(format)
      return bytes
    },
    end: (omitted) => Buffer.from(`${before === head ? head : ""}${exportTrailer(format, columns, omitted)}`),
  }
}

function parquetFile(columns: readonly string[], facts: object): ExportFile {
  const groups: RowGroup[] = []
  let size = 0
  return {
    add({ rows, group }) {
      if (!group) return rows
      const before = size === 0 ? PARQUET_MAGIC : new Uint8Array(0)
      size += before.length
      groups.push(placeGroup(group, size))
      size += rows.length
      return Buffer.concat([before, rows])
    },
    end(omitted) {
      const end = encodeEnd(columns, groups, { ...facts, ...(omitted > 0 && { omitted_visits: omitted }) })
      return size === 0 ? Buffer.concat([PARQUET_MAGIC, end]) : end
    },
  }
}
