import type { ImportedKind } from "../../domain/imported.ts"
import type { TotalsPart } from "../../store/events/totals.ts"

/** What is summed by group. `visits` are entrances of entry pages, and exits of exit pages. */
export type ImportedSum =
  | "visitors"
  | "visits"
  | "pageviews"
  | "events"
  | "bounces"
  | "visit_duration"
  | "exits"
  | "scroll_depth_sum"
  | "scroll_depth_visits"
  | "time_on_page"
  | "time_on_page_visits"
  | "conversions"
  /** Visitors who completed a counted goal. */
  | "converting"

/** Rows of a segment and the group of each. */
export interface GroupedRows {
  part: TotalsPart
  rows: Uint32Array
  groups: Uint32Array
}

/** Sums of imported totals, by name and group. */
export class Sums {
  readonly #sums = new Map<ImportedSum, Float64Array>()
  /** 1 for groups with any count. */
  #filled = new Uint8Array(0)
  /** 1 for groups that visitors of a row were added to. */
  #counted = new Uint8Array(0)
  /** Whether visitors of several rows were added up, so that a visitor of several of them counts more than once. */
  isEstimated = false

  of(name: ImportedSum): (group: number) => number {
    const sums = this.#sums.get(name)
    return sums ? (group) => sums[group] ?? 0 : () => 0
  }

  hasRows(group: number): boolean {
    return this.#filled[group] === 1
  }

  /** Adds all counts of a table that metrics are formed from. */
  addAll(kind: ImportedKind, grouped: GroupedRows, size: number): void {
    for (const [name, column] of SUMS[kind] ?? SUMS_OF_FIVE) this.add(name, grouped, column, size)
    this.#noteVisitors(grouped, size)
  }

  add(name: ImportedSum, { part, rows, groups }: GroupedRows, column: string, size: number): void {
    const sums = grown(this.#sums.get(name) ?? new Float64Array(0), size, (length) => new Float64Array(length))
    this.#sums.set(name, sums)
    this.#filled = grown(this.#filled, size, (length) => new Uint8Array(length))
    const counts = part.count(column)
    for (let i = 0; i < rows.length; i++) {
      const count = counts[rows[i]!]!
      if (count === 0) continue
      sums[groups[i]!]! += count
      this.#filled[groups[i]!] = 1
    }
  }

  #noteVisitors({ part, rows, groups }: GroupedRows, size: number): void {
    this.#counted = grown(this.#counted, size, (length) => new Uint8Array(length))
    const visitors = part.count("visitors")
    for (let i = 0; i < rows.length; i++) {
      if (visitors[rows[i]!] === 0) continue
      if (this.#counted[groups[i]!] === 1) this.isEstimated = true
      this.#counted[groups[i]!] = 1
    }
  }
}

function grown<Numbers extends Float64Array | Uint8Array>(numbers: Numbers, size: number, make: (length: number) => Numbers): Numbers {
  if (numbers.length >= size) return numbers
  const larger = make(Math.max(size, numbers.length * 2))
  larger.set(numbers)
  return larger
}

type Sources = readonly (readonly [sum: ImportedSum, column: string])[]

const same = (...names: ImportedSum[]): Sources => names.map((name) => [name, name] as const)
const SUMS_OF_FIVE = same("visitors", "pageviews", "visits", "bounces", "visit_duration")

/** Sums of each table and the columns that they are of. Tables that are not listed have the five counts. */
const SUMS: Partial<Record<ImportedKind, Sources>> = {
  imported_visitors: [...SUMS_OF_FIVE, ...same("events")],
  imported_pages: same(
    "visitors",
    "visits",
    "pageviews",
    "exits",
    "scroll_depth_sum",
    "scroll_depth_visits",
    "time_on_page",
    "time_on_page_visits",
  ),
  imported_entry_pages: [...same("visitors", "bounces", "visit_duration"), ["visits", "entrances"]],
  imported_exit_pages: [...same("visitors"), ["visits", "exits"]],
  imported_custom_events: same("visitors", "events"),
  imported_custom_props: same("visitors", "events"),
}
