import { type FileHead, ImportFault } from "../source.ts"
import { type Content, type Encoding, lines, type ReadingSink } from "./text.ts"

/**
 * Reads the tables of a plain `pg_dump`: blocks that begin with `COPY schema.table (columns) FROM stdin;`, hold one tab-separated row per
 * line and end with `\.`. Everything else of the dump is passed over.
 */

const COPY = "COPY "
const COPY_END = ") from stdin"
const BLOCK_END = "\\."
const NULL = "\\N"
/** Encodings of dumps that can be read. `SQL_ASCII` is whatever the clients of the database sent, which is UTF-8 today. */
const ENCODINGS: Readonly<Record<string, Encoding>> = { utf8: "utf-8", unicode: "utf-8", sql_ascii: "utf-8", latin1: "latin1" }

/** Rows of a table in the order of its columns. Null is "". */
export interface DumpRows {
  table: string
  columns: readonly string[]
  rows: { line: number; cells: string[] }[]
}

export const isPlainDump = (text: string): boolean => /^-- PostgreSQL database dump\b/m.test(text) || /^COPY .+ FROM stdin;$/m.test(text)

/** Yields the rows of the given tables in groups, at least one group for each of their blocks. Rows are not checked for their length. */
export async function* dumpRows(
  file: Content & Pick<FileHead, "text">,
  tables: ReadonlySet<string>,
  sink: ReadingSink,
): AsyncGenerator<DumpRows> {
  let block: { table: string; columns: string[]; isWanted: boolean } | undefined
  for await (const group of lines(file, encodingOfDump(file), sink)) {
    let rows: DumpRows["rows"] = []
    for (const { line, text } of group) {
      if (!block) {
        block = blockOf(text, tables)
        if (block?.isWanted) yield { ...block, rows: [] }
      } else if (text === BLOCK_END) {
        if (rows.length > 0) yield { ...block, rows }
        rows = []
        block = undefined
      } else if (block.isWanted) rows.push({ line, cells: text.split("\t").map(cellOf) })
    }
    if (block && rows.length > 0) yield { ...block, rows }
  }
  if (block) {
    const message = `${file.name} is incomplete: its table ${block.table} has no end. Make the dump again and send the whole file.`
    throw new ImportFault("invalid_archive", message)
  }
}

function encodingOfDump({ name, text }: Pick<FileHead, "name" | "text">): Encoding {
  const sent = /^SET client_encoding = '([^']+)';/m.exec(text)?.[1] ?? "UTF8"
  const encoding = ENCODINGS[sent.toLowerCase()]
  if (encoding) return encoding
  throw new ImportFault("invalid_encoding", `${name} is in the encoding ${sent}. Make the dump with pg_dump --encoding=UTF8.`)
}

function blockOf(text: string, tables: ReadonlySet<string>) {
  const [begin, end] = [text.indexOf(" ("), text.toLowerCase().lastIndexOf(COPY_END)]
  if (!text.startsWith(COPY) || begin === -1 || end < begin || !text.endsWith(";")) return undefined
  const [name, columns] = [text.slice(COPY.length, begin), text.slice(begin + " (".length, end)]
  const table = unquoted(name.slice(name.lastIndexOf(".") + 1))
  return { table, columns: columns.split(",").map((column) => unquoted(column.trim()).toLowerCase()), isWanted: tables.has(table) }
}

const unquoted = (name: string): string => name.replace(/^"(.*)"$/, "$1")

/** Escapes that `pg_dump` writes. It never writes codes of characters. */
const ESCAPE = /\\([\s\S])/g
const ESCAPED: Readonly<Record<string, string>> = { b: "\b", f: "\f", n: "\n", r: "\r", t: "\t", v: "\v" }

function cellOf(text: string): string {
  if (!text.includes("\\")) return text
  return text === NULL ? "" : text.replace(ESCAPE, (_, code: string) => ESCAPED[code] ?? code)
}
