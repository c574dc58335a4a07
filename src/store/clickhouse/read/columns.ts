/** The columns of a part, and how they are read from ClickHouse. */
import type { DictionaryName } from "../../../domain/dimension.ts"
import { TRAITS } from "../../../domain/visit.ts"
import { propertyDictionary } from "../../events/dictionary/texts.ts"
import { EVENT_COLUMNS, VISIT_COLUMNS } from "../../events/part.ts"
import { VITAL_NAMES } from "../../events/tail/rows.ts"
import { arranged, firstsOf, itemLayout, type ReadColumn, type SlicesAnswer, sumsAt, visitLayout } from "./layout.ts"
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

/** The columns of the table that units consist of. */
export const columnsOf = (units: readonly string[]): string[] => [...new Set(units.flatMap((unit) => UNITS[unit]!))]

/** The units that contain some columns of the table. */
export const unitsWith = (columns: readonly string[]): string[] =>
  Object.keys(UNITS).filter((unit) => UNITS[unit]!.some((column) => columns.includes(column)))

/** Columns that every answer has in addition to those of its units. They give the order of the rows and the number of events of each. */
export const ORDER_COLUMNS = ["started_at", "sequence"]

/**
 * Decodes units of an answer that has `ORDER_COLUMNS`. Returns for each slice the column of each unit, ordered by start and sequence, and those
 * of a group under the names `props row`, `props key` and so on.
 */
export function decodeUnits(units: readonly string[], answer: SlicesAnswer, numbers: SiteNumbers): Map<string, ReadColumn>[] {
  const { blocks } = answer
  const columns = Array.from({ length: answer.slices }, () => new Map<string, ReadColumn>())
  const add = (name: string, ofSlices: readonly ReadColumn[]) => ofSlices.forEach((column, at) => void columns[at]!.set(name, column))
  const wide = (name: string) => joinedWide(blocks.map((block) => block.columns.get(name)!.values as Wide)) // see the schema
  const [starts, sequences] = [wide("started_at"), wide("sequence")]
  const visits = visitLayout(answer, starts, sequences)
  const sizes = joined(blocks.map((block) => block.columns.get("sizes")!.values as Uint32Array)) // the type of the expression
  const events = itemLayout(visits, sizes)
  const number = (name: string): ReadColumn => {
    const values = blocks.map((block) => block.columns.get(name)!.values)
    if (name === "visitor") return joined(values.map((value) => numbers.ordinals(value as Wide))) // see the schema
    if (name === "started_at") return starts
    if (name === "sequence") return sequences
    if (name === "r.amount") return joinedWide(values as Wide[]) // see the schema
    const dictionary = TEXT_COLUMNS[name]
    if (dictionary === undefined) return joined(values as Uint32Array[]) // see the schema
    return joined((values as Texts[]).map((texts) => numbered(texts, numbers.dictionary(dictionary))))
  }
  for (const unit of units) {
    const group = GROUPS[unit as keyof typeof GROUPS] as readonly string[] | undefined // undefined for other units
    if (unit === "event visit") add(unit, arranged(sizes, visits).map(rowsOf))
    else if (!group) add(unit, arranged(number(UNITS[unit]![0]!), unit.startsWith("event ") ? events : visits))
    else {
      const counts = joined(blocks.map((block) => countsOf(block.columns.get(group[0]!)!.ends!)))
      const items = itemLayout(visits, counts)
      for (const name of group) {
        if (name === group[0]) {
          const rows = arranged(eventRows(number(name), counts, firstsOf(sizes, visits.order)), items)
          add(
            `${unit} row`,
            rows.map((ofSlice, at) => countedFrom(ofSlice, events.ends[at - 1] ?? 0)),
          )
        } else add(`${unit} ${name.slice(2)}`, arranged(name === "p.value" ? propertyValues(blocks, numbers) : number(name), items))
      }
    }
  }
  return columns
}

function countsOf(ends: Float64Array): Uint32Array {
  const counts = new Uint32Array(ends.length)
  for (let row = 0; row < counts.length; row++) counts[row] = ends[row]! - (row === 0 ? 0 : ends[row - 1]!)
  return counts
}

/** Returns the visit of each event. */
function rowsOf(sizes: Uint32Array): Uint32Array {
  const rows = new Uint32Array(sumsAt(sizes, [sizes.length])[0]!)
  for (let visit = 0, at = 0; visit < sizes.length; visit++) for (const end = at + sizes[visit]!; at < end; at++) rows[at] = visit
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

/** Counts rows, which nothing else refers to, from another one. */
function countedFrom(rows: Uint32Array, first: number): Uint32Array {
  if (first > 0) for (let at = 0; at < rows.length; at++) rows[at]! -= first
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
