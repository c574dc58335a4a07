import { join } from "node:path"
import type { ImportedKind, ImportedRow } from "#plugin"
import { IMPORTED_KINDS, IMPORTED_TABLES } from "#plugin/worker"
import { LineWriter } from "./files.ts"
import type { Staged } from "./task.ts"

/** Totals while an import is read: sums of their counts, and unless they are only previewed a file of rows per kind. */
export class StagedTotals {
  readonly #folder: string | undefined
  readonly #kinds = new Map<ImportedKind, { writer: LineWriter | undefined; lines: number; sums: number[] }>()

  /** Without a folder no rows are written. */
  constructor(folder: string | undefined) {
    this.#folder = folder
  }

  get isEmpty(): boolean {
    return this.#kinds.size === 0
  }

  add(kind: ImportedKind, row: ImportedRow): void {
    const staged = this.#kinds.get(kind) ?? this.#begin(kind)
    staged.lines++
    staged.writer?.write(lineOf(kind, row))
    for (const [index, name] of COLUMNS[kind].counts.entries()) staged.sums[index]! += row.counts[name] ?? 0
  }

  #begin(kind: ImportedKind) {
    const writer = this.#folder === undefined ? undefined : new LineWriter(join(this.#folder, kind))
    const begun = { writer, lines: 0, sums: COLUMNS[kind].counts.map(() => 0) }
    this.#kinds.set(kind, begun)
    return begun
  }

  /** Ends the files. Returns the lines of each. */
  close(): Staged["staged"] {
    return [...this.#kinds].map(([name, { writer, lines }]) => {
      writer?.close()
      return { name, lines }
    })
  }

  /** Returns the sums of the table without dimensions, or else of the table that has most. */
  sums(): Omit<Staged["totals"], "revenue"> {
    const sumOf = (kind: ImportedKind, name: string) => this.#kinds.get(kind)?.sums[COLUMNS[kind].counts.indexOf(name)]
    const most = (name: string) => sumOf("imported_visitors", name) ?? Math.max(0, ...IMPORTED_KINDS.map((kind) => sumOf(kind, name) ?? 0))
    const pageviews = most("pageviews")
    const events = sumOf("imported_visitors", "events") || pageviews + (sumOf("imported_custom_events", "events") ?? 0)
    return { visitors: most("visitors"), visits: most("visits"), pageviews, events }
  }
}

const columnsOf = (kind: ImportedKind) => ({
  texts: Object.keys(IMPORTED_TABLES[kind].texts),
  counts: IMPORTED_TABLES[kind].counts as readonly string[],
})
const COLUMNS = Object.fromEntries(IMPORTED_KINDS.map((kind) => [kind, columnsOf(kind)])) as Record<
  ImportedKind,
  ReturnType<typeof columnsOf>
> // of all kinds

/** Returns a row as a staged line: the values without their names, because a large import has millions of rows. */
function lineOf(kind: ImportedKind, { day, hour, texts, counts }: ImportedRow): string {
  const values: (string | number | null)[] = [day, hour ?? null]
  for (const name of COLUMNS[kind].texts) values.push(texts[name] ?? "")
  for (const name of COLUMNS[kind].counts) values.push(counts[name] ?? 0)
  return JSON.stringify(values)
}

/** Returns the row of a staged line. */
export function totalsIn(kind: ImportedKind, line: string): ImportedRow {
  const [day, hour, ...values] = JSON.parse(line) as [string, number | null, ...(string | number)[]] // written by `lineOf`
  const columns = COLUMNS[kind]
  const [texts, counts]: [Record<string, string>, Record<string, number>] = [{}, {}]
  for (const [index, name] of columns.texts.entries()) texts[name] = values[index] as string // texts come first
  for (const [index, name] of columns.counts.entries()) counts[name] = values[columns.texts.length + index] as number // then counts
  return { day, ...(hour !== null && { hour }), texts, counts }
}
