import { dimensionFacts } from "../../domain/dimension.ts"
import { countryNameOrCode } from "../../domain/place-names.ts"
import type { DimensionGrouping, Grouping, Key } from "../../domain/query.ts"
import type { Items } from "../../store/events/bytes/items.ts"
import type { EventColumn, Part, Snapshot, VisitColumn } from "../../store/events/part.ts"
import { type Buckets, bucketAt } from "../parse/buckets.ts"
import type { Clock } from "../parts/ranges.ts"

/** A list of rows. A list of completions also contains the goal of each row. */
export interface RowList {
  rows: Uint32Array
  goals?: Uint32Array
  count: number
  /** Whether these are all visits of the part. */
  isEvery?: boolean
}

/** Converts one grouping to codes: a number below `width` for each row or visit. */
export interface CodeSource {
  readonly grouping: Grouping
  readonly width: number
  /** False when only an event has a value, not its visit as a whole. */
  readonly isOfVisits: boolean
  ofRows(part: Part, list: RowList, clock: Clock, out: Uint32Array): void
  ofVisits(part: Part, list: RowList, out: Uint32Array): void
  /** Present when the name and page of an event decide. The rows of the list are items. */
  ofItems?(items: Items, list: RowList, out: Uint32Array): void
  /** Present for a dimension of visits: the codes of all visits. */
  column?(part: Part): Uint32Array
  keyOf(code: number): Key
  /** Text by which the missing value is sorted: the text it is shown as. */
  readonly missing: string
}

interface Facts {
  snapshot: Snapshot
  buckets: Buckets | undefined
  goalNames: readonly string[]
}

export function codeSource(grouping: Grouping, facts: Facts): CodeSource {
  if (grouping.by === "time") return timeSource(grouping, facts.buckets!)
  if (grouping.dimension === "goal") return goalSource(grouping, facts.goalNames)
  if (grouping.dimension === "property") return propertySource(grouping, facts.snapshot)
  const { level, dictionary, missing } = dimensionFacts(grouping.dimension)
  // Every other dimension is a column under its own name, or `name` for the dimension `event`.
  const column = grouping.dimension === "event" ? "name" : grouping.dimension
  const { size, text } = textsOf(facts.snapshot, dictionary!)
  const keyOf = grouping.named ? (code: number) => namedKey(text(code)) : text
  const source = { grouping, width: size, keyOf, missing: grouping.missing ?? missing[0] }
  return level === "visit" ? visitSource(source, column as VisitColumn) : eventSource(source, column as EventColumn)
}

type Described = Pick<CodeSource, "grouping" | "width" | "keyOf" | "missing">

const namedKey = (key: Key): Key => (typeof key === "string" ? countryNameOrCode(key) : key)

/** The missing value and blanked ones have no text. */
function textsOf(snapshot: Snapshot, name: Parameters<Snapshot["dictionary"]>[0]) {
  const dictionary = snapshot.dictionary(name)
  return { size: Math.max(1, dictionary.size), text: (code: number): Key => dictionary.text(code) || null }
}

const visitSource = (source: Described, column: VisitColumn): CodeSource => ({
  ...source,
  isOfVisits: true,
  column: (part) => part.visit(column),
  ofRows: (part, { rows, count }, _clock, out) => pickByVisit(part.visit(column), part.event("visit"), rows, count, out),
  ofVisits: (part, { rows, count }, out) => pick(part.visit(column), rows, count, out),
})

const eventSource = (source: Described, column: EventColumn): CodeSource => ({
  ...source,
  isOfVisits: false,
  ofRows: (part, { rows, count }, _clock, out) => pick(part.event(column), rows, count, out),
  ofVisits: () => refuseVisits(column),
  ...(column === "name" && { ofItems: ({ names }: Items, { rows, count }: RowList, out: Uint32Array) => pick(names, rows, count, out) }),
  ...(column === "page" && { ofItems: ({ pages }: Items, { rows, count }: RowList, out: Uint32Array) => pick(pages, rows, count, out) }),
})

/** Creates the source of a property. Events without the key have the missing value, as have all events for a key that was never recorded. */
function propertySource(grouping: DimensionGrouping, snapshot: Snapshot): CodeSource {
  const key = snapshot.dictionary("property").find(grouping.property ?? "")
  const { size, text } = key ? textsOf(snapshot, `property:${key}`) : { size: 1, text: () => null }
  return {
    grouping,
    width: size,
    keyOf: text,
    missing: dimensionFacts("property").missing[0],
    isOfVisits: false,
    ofRows: (part, { rows, count }, _clock, out) => pick(propertyColumn(part, key), rows, count, out),
    ofVisits: () => refuseVisits("property"),
  }
}

/** Returns the values of a property by event row, 0 for events without the key. */
export function propertyColumn(part: Part, wanted: number | undefined): Uint32Array {
  const column = new Uint32Array(part.events)
  const { row, key, value } = part.props()
  for (let i = 0; i < row.length; i++) {
    if (key[i] === wanted) column[row[i]!] = value[i]!
  }
  return column
}

const goalSource = (grouping: Grouping, names: readonly string[]): CodeSource => ({
  grouping,
  width: Math.max(1, names.length),
  keyOf: (code) => names[code] ?? null,
  missing: "",
  isOfVisits: false,
  ofRows: (_part, { goals, count }, _clock, out) => out.set(goals!.subarray(0, count)),
  ofItems: (_items, { goals, count }, out) => out.set(goals!.subarray(0, count)),
  ofVisits: () => refuseVisits("goal"),
})

const timeSource = (grouping: Grouping, { edges }: Buckets): CodeSource => ({
  grouping,
  width: edges.length - 1,
  keyOf: (code) => edges[code]!,
  missing: "",
  isOfVisits: true,
  ofRows(part, { rows, count }, clock, out) {
    const [visit, starts] = [part.event("visit"), part.starts()]
    if (clock === "event") return bucketsOfEvents({ visit, offset: part.event("offset"), starts }, rows, count, edges, out)
    pick(visit, rows, count, out)
    bucketsOfVisits(starts, out, count, edges, out)
  },
  ofVisits: (part, { rows, count }, out) => bucketsOfVisits(part.starts(), rows, count, edges, out),
})

function pick(column: Uint32Array, rows: Uint32Array, count: number, out: Uint32Array): void {
  for (let i = 0; i < count; i++) out[i] = column[rows[i]!]!
}

function pickByVisit(column: Uint32Array, visit: Uint32Array, rows: Uint32Array, count: number, out: Uint32Array): void {
  for (let i = 0; i < count; i++) out[i] = column[visit[rows[i]!]!]!
}

/** Writes the buckets of events, which are all between the first and last edge. Adjacent rows mostly share a bucket, which saves the search. */
function bucketsOfEvents(
  { visit, offset, starts }: { visit: Uint32Array; offset: Uint32Array; starts: Float64Array },
  rows: Uint32Array,
  count: number,
  edges: Float64Array,
  out: Uint32Array,
): void {
  let bucket = 0
  for (let i = 0; i < count; i++) {
    const at = starts[visit[rows[i]!]!]! + offset[rows[i]!]!
    if (at < edges[bucket]! || at >= edges[bucket + 1]!) bucket = bucketAt(edges, at)
    out[i] = bucket
  }
}

function bucketsOfVisits(starts: Float64Array, visits: Uint32Array, count: number, edges: Float64Array, out: Uint32Array): void {
  let bucket = 0
  for (let i = 0; i < count; i++) {
    const at = starts[visits[i]!]!
    if (at < edges[bucket]! || at >= edges[bucket + 1]!) bucket = bucketAt(edges, at)
    out[i] = bucket
  }
}

function refuseVisits(name: string): never {
  throw new Error(`${name} is a value of events, not of visits`)
}
