/** The columns of a part, and how they are read from ClickHouse. */
import type { DictionaryName } from "../../../domain/dimension.ts"
import { TRAITS } from "../../../domain/visit.ts"
import { propertyDictionary } from "../../events/dictionary/texts.ts"
import { EVENT_COLUMNS, VISIT_COLUMNS } from "../../events/part.ts"
import { VITAL_NAMES } from "../../events/tail/rows.ts"
import { type NativeBlock, type NativeValues, type Texts, type Wide, wideNumbers } from "./native.ts"
import type { SiteNumbers } from "./numbers.ts"

/** Dictionaries of the columns of the table that contain texts, except for the values of properties. */
export const TEXT_COLUMNS: Readonly<Record<string, DictionaryName>> = {
  ...Object.fromEntries(TRAITS.map((trait) => [trait, trait])),
  ...{ entry_page: "page", exit_page: "page", entry_page_hostname: "hostname", exit_page_hostname: "hostname" },
  ...{ "e.name": "name", "e.page": "page", "e.hostname": "hostname", "e.title": "title", "r.currency": "currency", "p.key": "property" },
}

/** Optional parts of events. They are read together. */
const GROUPS = {
  props: ["p.event", "p.key", "p.value"],
  revenue: ["r.event", "r.amount", "r.currency"],
  engagement: ["g.event", "g.engaged", "g.scroll"],
  vitals: ["v.event", ...VITAL_NAMES.map((name) => `v.${name}`)],
}

/** What can be read at once: a column of visits or events, or a group. Each has the columns of the table that it consists of. */
const UNITS: Readonly<Record<string, readonly string[]>> = {
  starts: ["started_at"],
  sequences: ["sequence"],
  ...Object.fromEntries([...VISIT_COLUMNS, "closed"].map((column) => [`visit ${column}`, [column]])),
  ...Object.fromEntries(EVENT_COLUMNS.map((column) => [`event ${column}`, column === "visit" ? [] : [`e.${column}`]])),
  ...GROUPS,
}

/** Units that most queries read together. A request costs more than the columns of a slice. */
const BUNDLES: readonly (readonly string[])[] = [
  ["starts", ...["visitor", "duration", "pageviews", "events", "interactive", "engaged"].map((column) => `visit ${column}`)],
  ["visit", "offset", "name", "page", "interactive"].map((column) => `event ${column}`),
  ["visit arrival", "visit closed"],
]

/** Returns a unit and those that are read with it. */
export const bundleOf = (unit: string): readonly string[] => BUNDLES.find((units) => units.includes(unit)) ?? [unit]

/** Columns with 64 bits of which no column is made of dictionary numbers or ordinals. */
const WIDE = ["started_at", "sequence", "r.amount"]

/** The columns of the table that units consist of. */
export const columnsOf = (units: readonly string[]): string[] => [...new Set(units.flatMap((unit) => UNITS[unit]!))]

/** The units that contain some columns of the table. */
export const unitsWith = (columns: readonly string[]): string[] =>
  Object.keys(UNITS).filter((unit) => UNITS[unit]!.some((column) => columns.includes(column)))

/** A column in memory. */
export type ReadColumn = Uint32Array | Float64Array

/** Columns that every answer has in addition to those of its units. They give the order of the rows and the number of events of each. */
export const ORDER_COLUMNS = ["started_at", "sequence"]

/**
 * Decodes units of an answer with `ORDER_COLUMNS`, whose rows are in any order. Returns the column of each unit, ordered by start and sequence,
 * and those of a group under the names `props row`, `props key` and so on.
 */
export function decodeUnits(units: readonly string[], blocks: readonly NativeBlock[], numbers: SiteNumbers): Map<string, ReadColumn> {
  const columns = new Map<string, ReadColumn>()
  const wide = (name: string) => joinedWide(blocks.map((block) => block.columns.get(name)!.values as Wide)) // see the schema
  const order = orderOf(wide("started_at"), wide("sequence"))
  const sizes = joined(blocks.map((block) => block.columns.get("sizes")!.values as Uint32Array)) // the type of the expression
  const events = order && placesOf(order, sizes)
  const number = (name: string): ReadColumn => {
    const values = blocks.map((block) => block.columns.get(name)!.values)
    if (name === "visitor") return joined(values.map((value) => numbers.ordinals(value as Wide))) // see the schema
    if (WIDE.includes(name)) return joinedWide(values as Wide[]) // see the schema
    const dictionary = TEXT_COLUMNS[name]
    if (dictionary === undefined) return joined(values as Uint32Array[]) // see the schema
    return joined((values as Texts[]).map((texts) => numbered(texts, numbers.dictionary(dictionary))))
  }
  for (const unit of units) {
    const group = GROUPS[unit as keyof typeof GROUPS] as readonly string[] | undefined // undefined for other units
    if (unit === "event visit") columns.set(unit, rowsOf(arranged(sizes, order)))
    else if (!group) columns.set(unit, arranged(number(UNITS[unit]![0]!), unit.startsWith("event ") ? events : order))
    else {
      const counts = joined(blocks.map((block) => countsOf(block.columns.get(group[0]!)!.ends!)))
      const places = order && placesOf(order, counts)
      for (const name of group) {
        if (name === group[0]) columns.set(`${unit} row`, arranged(eventRows(number(name), counts, firstsOf(sizes, order)), places))
        else columns.set(`${unit} ${name.slice(2)}`, arranged(name === "p.value" ? propertyValues(blocks, numbers) : number(name), places))
      }
    }
  }
  return columns
}

/** Returns the places of rows in the order of their starts and sequences, or undefined if they are in that order. */
function orderOf(starts: Float64Array, sequences: Float64Array): Uint32Array | undefined {
  const compare = (a: number, b: number) => starts[a]! - starts[b]! || sequences[a]! - sequences[b]!
  for (let row = 1; row < starts.length; row++) if (compare(row - 1, row) > 0) return Uint32Array.from(starts.keys()).sort(compare)
  return undefined
}

/** Returns a column in another order of its places. */
function arranged<Column extends ReadColumn>(column: Column, places: Uint32Array | undefined): Column {
  if (!places) return column
  const moved = column.slice() as Column // a copy has the type of its original
  for (let to = 0; to < places.length; to++) moved[to] = column[places[to]!]!
  return moved
}

/** Returns the places of the items of rows in another order. A row has `counts` items in a row. */
function placesOf(order: Uint32Array, counts: Uint32Array): Uint32Array {
  const firsts = firstsOf(counts)
  const places = new Uint32Array(counts.reduce((sum, count) => sum + count, 0))
  let to = 0
  for (const row of order) for (let at = firsts[row]!, end = at + counts[row]!; at < end; at++) places[to++] = at
  return places
}

/** Returns the place of the first item of each row, when the rows are in some order. */
function firstsOf(counts: Uint32Array, order?: Uint32Array): Uint32Array {
  const firsts = new Uint32Array(counts.length)
  let first = 0
  for (let at = 0; at < counts.length; at++) {
    const row = order ? order[at]! : at
    firsts[row] = first
    first += counts[row]!
  }
  return firsts
}

const countsOf = (ends: Float64Array): Uint32Array => Uint32Array.from(ends, (end, row) => end - (ends[row - 1] ?? 0))

/** Returns the visit of each event. */
function rowsOf(sizes: Uint32Array): Uint32Array {
  const rows = new Uint32Array(sizes.reduce((sum, size) => sum + size, 0))
  let at = 0
  sizes.forEach((size, visit) => {
    rows.fill(visit, at, at + size)
    at += size
  })
  return rows
}

/** Returns the rows of the events that have an optional part, from their places within their visits. */
function eventRows(events: ReadColumn, counts: Uint32Array, firsts: Uint32Array): Uint32Array {
  const rows = new Uint32Array(events.length)
  let at = 0
  counts.forEach((count, visit) => {
    for (const end = at + count; at < end; at++) rows[at] = firsts[visit]! + events[at]!
  })
  return rows
}

/** Returns the values of properties, which have a dictionary for each key. */
function propertyValues(blocks: readonly NativeBlock[], numbers: SiteNumbers): Uint32Array {
  const keyNumbers = numbers.dictionary("property")
  return joined(
    blocks.map(({ columns }) => {
      const keys = columns.get("p.key")!.values as Texts // see the schema
      const { list, places } = columns.get("p.value")!.values as Texts
      /** By place of the key: its dictionary, and the number of each value, plus one. */
      const known = keys.list.map((key) => ({
        dictionary: numbers.dictionary(propertyDictionary(keyNumbers.number(key))),
        numbers: new Map<number, number>(),
      }))
      return Uint32Array.from(places, (place, at) => {
        const ofKey = known[keys.places[at]!]!
        let number = ofKey.numbers.get(place)
        if (number === undefined) {
          number = ofKey.dictionary.number(list[place]!)
          ofKey.numbers.set(place, number)
        }
        return number
      })
    }),
  )
}

function numbered({ list, places }: Texts, dictionary: { number(text: string): number }): Uint32Array {
  const numbers = Uint32Array.from(list, (text) => dictionary.number(text))
  const column = new Uint32Array(places.length)
  for (let row = 0; row < column.length; row++) column[row] = numbers[places[row]!]!
  return column
}

/** Joins the columns of blocks. */
function joined(columns: readonly Exclude<NativeValues, Wide | Texts>[]): Uint32Array {
  const [only] = columns
  if (columns.length === 1 && only instanceof Uint32Array) return only
  const all = new Uint32Array(columns.reduce((sum, { length }) => sum + length, 0))
  let at = 0
  for (const column of columns) {
    all.set(column, at)
    at += column.length
  }
  return all
}

function joinedWide(columns: readonly Wide[]): Float64Array {
  const all = new Float64Array(columns.reduce((sum, { halves }) => sum + halves.length / 2, 0))
  let at = 0
  for (const column of columns) {
    const numbers = wideNumbers(column)
    all.set(numbers, at)
    at += numbers.length
  }
  return all
}
