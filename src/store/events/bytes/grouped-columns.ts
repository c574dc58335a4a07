import { ENGAGEMENT, VITALS } from "../../../domain/dimension.ts"
import type { EventColumn, VisitColumn } from "../part.ts"
import { columnsIn, groupFloat64, groupUint32, isZero, openGroup, type PackedColumn, type PackedColumns, packedColumn } from "./codec.ts"
import {
  COMBINED,
  type Column,
  type ColumnSource,
  type Group,
  groupRow,
  ITEM_COLUMNS,
  SPARSE_COLUMNS,
  type SparseGroup,
  type StoredColumns,
  type WideColumn,
} from "./columns.ts"
import {
  addExpected,
  addSteps,
  customOf,
  decodeItems,
  engagedOf,
  entriesOf,
  exitsOf,
  longestEngagements,
  rowsNamed,
  valuesOf,
  visitsOf,
} from "./event-codes.ts"
import { type ItemRows, MAX_ROWS } from "./items.ts"

/**
 * The columns of a segment of format 2. Stored is what cannot be derived from other columns, in groups:
 *
 * - `core`: visitor, pageviews, other counted events, how many of these are interactive, less their number, duration
 * - `starts`: the starts of visits
 * - `records`: sequence of the first event, arrival, kind of visitor
 * - `origins`, `places`, `clients`: the combination of each visit, then by combination the values of each trait
 * - `entries`: the first item of each visit; how the entry page and its host differ from it; then by item, its usual successor and the
 *   `ITEM_COLUMNS`
 * - `items`: number of events of each visit that are not counted; the codes of all items but the first of each visit; how the exit page and
 *   its host differ from those of the last pageview
 * - `steps`: the time of each event since the one before it in its visit
 * - `engagement`: rows, as differences from those of the events of that name if there are as many; engaged times, as differences from
 *   `longestEngagements`; scroll depths; the engaged times of visits, as differences from the sum
 * - `vitals`: rows in the same way, then what was measured; `props` and `revenue`: their columns
 */
export class GroupedColumns implements StoredColumns {
  readonly #source: ColumnSource

  constructor(source: ColumnSource) {
    this.#source = source
  }

  uint32(name: Column | "event.offset"): Uint32Array | undefined {
    const source = this.#source
    switch (name) {
      case "events":
        return this.#plus("core", 2, source.uint32("pageviews"))
      case "interactive_events":
        return this.#plus("core", 3, customOf(source.uint32("events"), source.uint32("pageviews")))
      case "engaged":
        return this.#has("engagement") ? this.#plus("engagement", 3, this.#engagedSums()) : undefined
      case "entry_page":
      case "entry_page_hostname":
        return this.#entries(name)
      case "exit_page":
      case "exit_page_hostname":
        return this.#exits(name)
      case "event.visit":
        return visitsOf(source.itemRows().firsts)
      case "event.offset":
        return addSteps(groupUint32(this.#group("steps"), 0), source.itemRows().firsts)
      case "engagement.row":
        return this.#rowsNamed("engagement", ENGAGEMENT)
      case "vitals.row":
        return this.#rowsNamed("vitals", VITALS)
      case "engagement.engaged":
        return this.#engagedTimes()
      default:
        return this.#stored(name)
    }
  }

  float64(name: WideColumn): Float64Array {
    const [group, index] = WIDE[name]
    return this.#has(group) ? groupFloat64(this.#group(group), index) : new Float64Array(0)
  }

  itemRows(): ItemRows {
    const { visits, events } = this.#source
    const [entries, items] = [this.#group("entries"), this.#group("items")]
    const firsts = new Uint32Array(visits + 1)
    const counted = this.#source.uint32("events")
    const others = groupUint32(items, 0)
    for (let visit = 0; visit < visits; visit++) firsts[visit + 1] = firsts[visit]! + counted[visit]! + others[visit]!
    const itemOf = new Uint16Array(events)
    decodeItems(groupUint32(entries, 0), groupUint32(items, 1, codes), groupUint32(entries, SUCCESSORS), { itemOf, firsts })
    return { ...this.itemTable(), itemOf, firsts }
  }

  itemTable() {
    const entries = this.#group("entries")
    return { names: groupUint32(entries, NAMES), pages: groupUint32(entries, PAGES) }
  }

  lacks(name: VisitColumn | EventColumn, values: Uint8Array): boolean {
    const place = PLACES.get(`event.${name}`) ?? PLACES.get(name)
    if (!place || place.kind === "own" || !this.#has(place.group)) return false
    const packed = this.#group(place.group)
    if (place.index >= columnsIn(packed)) return values[0] !== 1
    return groupUint32(packed, place.index).every((value) => values[value] !== 1)
  }

  steps(): PackedColumn | undefined {
    return packedColumn(this.#group("steps"), 0)
  }

  readAhead(): void {
    for (const group of ["core", "origins", "places", "clients"] as const) this.#group(group)
  }

  /** Returns a column that is stored as it is, or as combinations. */
  #stored(name: string): Uint32Array | undefined {
    const place = PLACES.get(name)
    if (!place) throw new Error(`Segments have no column ${name}`)
    const { group, index, kind } = place
    if (!this.#has(group)) return undefined
    const packed = this.#group(group)
    if (index >= columnsIn(packed) || isZero(packed, index)) return undefined
    const values = groupUint32(packed, index)
    if (kind === "own") return values
    return kind === "item" ? valuesOf(values, this.#source.itemRows().itemOf) : valuesOf(values, groupUint32(packed, 0))
  }

  #entries(name: "entry_page" | "entry_page_hostname"): Uint32Array {
    const entries = this.#group("entries")
    const isPage = name === "entry_page"
    const values = groupUint32(entries, isPage ? PAGES : HOSTNAMES)
    return this.#plus("entries", isPage ? 1 : 2, entriesOf(values, groupUint32(entries, NAMES), groupUint32(entries, 0)))
  }

  #exits(name: "exit_page" | "exit_page_hostname"): Uint32Array {
    const isPage = name === "exit_page"
    const values = groupUint32(this.#group("entries"), isPage ? PAGES : HOSTNAMES)
    return this.#plus("items", isPage ? 2 : 3, exitsOf(values, this.#source.itemRows()))
  }

  #engagedTimes(): Uint32Array | undefined {
    if (!this.#has("engagement")) return undefined
    const { itemRows, uint32 } = this.#source
    const longest = longestEngagements(uint32("engagement.row"), uint32("event.offset"), itemRows())
    return this.#plus("engagement", 1, longest)
  }

  #engagedSums(): Uint32Array {
    const { itemRows, uint32 } = this.#source
    return engagedOf(uint32("engagement.row"), uint32("engagement.engaged"), itemRows().firsts)
  }

  #rowsNamed(group: SparseGroup, name: number): Uint32Array | undefined {
    if (!this.#has(group)) return undefined
    const rows = groupUint32(this.#group(group), 0)
    const named = rowsNamed(name, this.#source.itemRows())
    return named.length === rows.length ? addExpected(rows, named) : rows
  }

  /** Adds what is stored to what is expected. Mostly nothing differs. */
  #plus(group: Group, index: number, expected: Uint32Array): Uint32Array {
    const packed = this.#group(group)
    return isZero(packed, index) ? expected : addExpected(groupUint32(packed, index), expected)
  }

  #has(group: Group): boolean {
    return this.#source.header.groups!.includes(group)
  }

  #group(group: Group): PackedColumns {
    const { id } = this.#source
    return this.#source.packed(group, () => openGroup(this.#source.bytes(groupRow(id, group), group)))
  }
}

/** The columns of the group `entries` by item. */
const SUCCESSORS = 3
const NAMES = 4
const PAGES = NAMES + ITEM_COLUMNS.indexOf("page")
const HOSTNAMES = NAMES + ITEM_COLUMNS.indexOf("hostname")

const WIDE: Readonly<Record<WideColumn, readonly [group: Group, index: number]>> = {
  starts: ["starts", 0],
  sequences: ["records", 0],
  "revenue.amount": ["revenue", 1],
}

interface Place {
  group: Group
  index: number
  kind: "own" | "combined" | "item"
}

/** Where the columns are that are stored as they are or by combination. */
const PLACES: ReadonlyMap<string, Place> = new Map<string, Place>([
  ["visitor", { group: "core", index: 0, kind: "own" }],
  ["pageviews", { group: "core", index: 1, kind: "own" }],
  ["duration", { group: "core", index: 4, kind: "own" }],
  ["arrival", { group: "records", index: 1, kind: "own" }],
  ["visitor_kind", { group: "records", index: 2, kind: "own" }],
  ...ITEM_COLUMNS.map((name, index) => [`event.${name}`, { group: "entries", index: NAMES + index, kind: "item" }] as const),
  ...placesIn(SPARSE_COLUMNS, (group, name, index) => [`${group}.${name}`, { group, index, kind: "own" }]),
  ...placesIn(COMBINED, (group, name, index) => [name, { group, index: index + 1, kind: "combined" }]),
])

function placesIn<G extends Group>(
  groups: Readonly<Record<G, readonly string[]>>,
  place: (group: G, name: string, index: number) => readonly [string, Place],
): (readonly [string, Place])[] {
  const names = Object.keys(groups) as G[] // the keys of a literal
  return names.flatMap((group) => groups[group].map((name, index) => place(group, name, index)))
}

/** The codes of the items of a segment, which are read once. New memory for each segment would take longer than decoding. */
const codes = new Uint32Array(MAX_ROWS)
