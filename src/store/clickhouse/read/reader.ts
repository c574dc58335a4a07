import type { DictionaryName } from "../../../domain/dimension.ts"
import { IMPORTED_TABLES, type VisibleImport } from "../../../domain/imported.ts"
import { laneOf, type SegmentKind } from "../../events/bytes/lanes.ts"
import { ColumnCache } from "../../events/cache.ts"
import { OutdatedSnapshot } from "../../events/dictionary/read-dictionary.ts"
import { visiblePart } from "../../events/masked-part.ts"
import type { Dictionary, EventReader, Imports, Part, Snapshot, SnapshotOptions, VisitorNumbers } from "../../events/part.ts"
import { Results } from "../../events/results.ts"
import { type AskedSlices, ReadAhead } from "./ahead.ts"
import type { Channel } from "./channel.ts"
import { bundleOf, columnsOf, decodeUnits, TEXT_COLUMNS, unitsWith } from "./columns.ts"
import type { ReadColumn, SlicesAnswer } from "./layout.ts"
import { SiteNumbers } from "./numbers.ts"
import { SlicePart } from "./slice-part.ts"
import { type Slice, SliceList } from "./slices.ts"
import { Lister } from "./statements.ts"
import { type ListedTotals, RemoteTotals } from "./totals.ts"

interface ClickhouseReaderOptions {
  channel: Channel
  /** Limits the cache of columns in memory. */
  cacheBytes: number
  /** Reads what is not in ClickHouse: row tables. */
  local: EventReader
  /** Throws when the query that is running was cancelled. */
  check(): void
}

/**
 * Opens the events in ClickHouse for reading. A snapshot contains what ClickHouse had confirmed before it. When visits that a query reads
 * are changed while it runs, it throws `OutdatedSnapshot` and can begin again.
 */
export function openClickhouseReader(options: ClickhouseReaderOptions): EventReader {
  return new ClickhouseReader(options)
}

/** Share of the cache of columns by which the results of reports are bounded, and the least that they need. */
const RESULT_SHARE = 8
const MIN_RESULT_BYTES = 4 << 20

/** Number of sites whose slices and numbers are in memory. */
const MAX_SITES = 200

/** Number of queries for which the units of a query are remembered: more than a dashboard has reports, and than a query has attempts. */
const RECENT_QUERIES = 32

interface SiteState {
  numbers: SiteNumbers
  kinds: Map<SegmentKind, KindState>
  /** Ids of the slices whose texts are all numbered, by the name of the dictionary. */
  numbered: Map<DictionaryName, ReadonlySet<number>>
  /** Ids of the totals whose texts are all numbered. */
  totals: Set<number>
  /** Columns of the table whose texts or visitors are numbered, because a slice was read with them. */
  decoded: WeakMap<Slice, Set<string>>
}

/** The visits of a site, or its records of a kind. */
interface KindState {
  slices: SliceList
  /** Number of queries so far. */
  queries: number
  /** Units that queries have read, with the number of the last one. */
  units: Map<string, number>
  /** What the last queries found changed, until one finds nothing. */
  outdated: Outdated | undefined
}

/** Openings of the visits that changed while a query ran, half-open. */
interface Outdated {
  from: number
  to: number
  /** Whether a snapshot was made because of it, and found nothing more so far. */
  isSettled: boolean
}

class ClickhouseReader implements EventReader {
  readonly #channel: Channel
  readonly #cache: ColumnCache
  readonly #results: Results
  readonly #local: EventReader
  readonly #check: () => void
  readonly #sites = new Map<number, SiteState>()
  readonly #ahead = new ReadAhead()
  #lastSlice = 0

  constructor({ channel, cacheBytes, local, check }: ClickhouseReaderOptions) {
    this.#channel = channel
    this.#cache = new ColumnCache(cacheBytes)
    this.#results = new Results(Math.max(MIN_RESULT_BYTES, cacheBytes / RESULT_SHARE), this.#cache)
    this.#local = local
    this.#check = check
  }

  snapshot(siteId: number, kind: SegmentKind = "visits", imports: Imports = [], { alongside, isPassing }: SnapshotOptions = {}): Snapshot {
    this.#cache.beginReport(isPassing)
    this.#ahead.clear()
    const state = this.#stateOf(siteId)
    const groupBytes = isPassing ? 0 : this.#cache.limit / GROUP_SHARE
    const read = this.#partsOf(siteId, state, kind, { imports, groupBytes })
    const others = alongside && this.#partsOf(siteId, state, alongside, { imports, groupBytes })
    const slices = [...read.slices, ...(others?.slices ?? [])]
    const local = this.#local.snapshot(siteId, kind)
    const shown = imports === "all" ? [] : imports
    const totals = kind === "visits" && shown.length > 0 ? this.#totalsOf(siteId, state, read.lister, shown) : []
    const unnumbered = slices.filter((slice) => !state.decoded.get(slice)?.has("visitor"))
    return {
      siteId,
      // Each of the other visits has at most one visitor that has no number yet.
      visitorLimit: state.numbers.visitors + unnumbered.reduce((sum, { visits }) => sum + visits, 0),
      visitors: visitorNumbers(state, [...read.parts, ...(others?.parts ?? [])]),
      parts: read.parts,
      ...(others && { alongside: others.parts }),
      dictionary: (name) => {
        numberTotals(state, totals, name)
        return this.#dictionary(state, name, [read, ...(others ? [others] : [])])
      },
      imports: shown,
      totals: (kind) => totals.filter((part) => part.kind === kind),
      version: {
        sealed: `${laneOf(siteId, kind)} ${slices.map(({ id }) => id).join()} ${totals.map(({ id }) => id).join()} ${JSON.stringify(imports)}`,
        tail: "",
      },
      results: this.#results,
      eachRow: local.eachRow,
      saleVisits: local.saleVisits,
    }
  }

  rows: EventReader["rows"] = (...args) => this.#local.rows(...args)

  own(): EventReader {
    return this.#local
  }

  fullestSite(): number | undefined {
    return this.#local.fullestSite()
  }

  close(): void {
    this.#ahead.clear()
    this.#channel.close()
    this.#local.close()
  }

  #stateOf(siteId: number): SiteState {
    let state = this.#sites.get(siteId)
    if (!state) {
      if (this.#sites.size >= MAX_SITES) this.#sites.clear()
      state = { numbers: new SiteNumbers(), kinds: new Map(), numbered: new Map(), totals: new Set(), decoded: new WeakMap() }
      this.#sites.set(siteId, state)
    }
    return state
  }

  #totalsOf(siteId: number, { numbers }: SiteState, lister: Lister, shown: readonly VisibleImport[]): RemoteTotals[] {
    const isShown = ({ importId, run }: ListedTotals) => shown.some((one) => one.id === importId && run <= one.run)
    const options = { siteId, numbers, cache: this.#cache, read: (listed: ListedTotals) => lister.totalsContent(listed) }
    return lister
      .totals()
      .filter(isShown)
      .map((listed) => new RemoteTotals(listed, options))
  }

  /** Begins a query on the visits or records of a kind. */
  #kindOf(state: SiteState, kind: SegmentKind): KindState {
    let ofKind = state.kinds.get(kind)
    if (!ofKind) {
      ofKind = { slices: new SliceList(() => ++this.#lastSlice), queries: 0, units: new Map(), outdated: undefined }
      state.kinds.set(kind, ofKind)
    }
    ofKind.queries++
    if (ofKind.outdated?.isSettled) ofKind.outdated = undefined
    else if (ofKind.outdated) ofKind.outdated.isSettled = true
    for (const [unit, query] of ofKind.units) if (query < ofKind.queries - RECENT_QUERIES) ofKind.units.delete(unit)
    return ofKind
  }

  #partsOf(siteId: number, state: SiteState, kind: SegmentKind, { imports, groupBytes }: PartsOptions): KindParts {
    const ofKind = this.#kindOf(state, kind)
    const lister = new Lister(this.#channel, { siteId, kind }, this.#check)
    const slices = ofKind.slices.follow(lister).map((slice) => this.#settled(lister, state, ofKind, slice))
    /** Units that this snapshot has read so far. Further slices are read with all of them at once. */
    const units = new Set<string>()
    const isMissing = (slice: Slice, unit: string) => this.#cache.get(`${slice.id} ${firstOf(unit)}`) === undefined
    const ask = (group: readonly Slice[], unit: string): AskedSlices => {
      const missing = [...units].filter((other) => other === unit || group.some((slice) => isMissing(slice, other)))
      return { slices: group, units: missing, query: lister.ask(group, missing) }
    }
    /** Returns slices after one that can be read together, with so many events that are read with them. */
    const after = (slice: Slice, unit: string, events: number): Slice[] => {
      const room = Math.min(GROUP_EVENTS, groupBytes / (Uint32Array.BYTES_PER_ELEMENT * units.size))
      const group: Slice[] = []
      for (const next of slices.slice(slices.indexOf(slice) + 1)) {
        if (next.importId !== slice.importId || next.run !== slice.run) continue
        const isFull = events > 0 && events + next.events > room
        if (isFull || !isMissing(next, unit) || this.#ahead.has(next)) break
        group.push(next)
        events += next.events
      }
      return group
    }
    /** Place of the slice that was read last. */
    let last = Number.POSITIVE_INFINITY
    const read = (slice: Slice, unit: string, column: string): ReadColumn => {
      for (const one of bundleOf(unit)) ofKind.units.set(one, ofKind.queries)
      const known = this.#cache.get(`${slice.id} ${column}`) as ReadColumn | undefined // a name always stands for the same type
      if (known) return known
      for (const one of bundleOf(unit)) units.add(one)
      const place = slices.indexOf(slice)
      // A query that goes on to the next slice has asked for all units that it needs, and goes on.
      const isGoingOn = place > last
      last = place
      const asked = this.#ahead.take(slice, unit) ?? ask([slice, ...(isGoingOn ? after(slice, unit, slice.events) : [])], unit)
      const next = isGoingOn ? after(asked.slices.at(-1)!, unit, 0) : []
      if (next.length > 0) this.#ahead.add(ask(next, unit))
      return this.#received(lister, state, ofKind, asked)[asked.slices.indexOf(slice)]!.get(column)!
    }
    const parts = slices.filter(({ visits }) => visits > 0).map((slice) => new SlicePart(siteId, slice, read))
    return { lister, ofKind, slices, parts: visibleParts(parts, imports) }
  }

  /**
   * Returns a slice as it is at one moment. If its visits changed during the last attempt at a query, or since the last query, all columns that
   * recent queries needed are read here, together with what the slice is now, so that nothing can change between the two.
   */
  #settled(lister: Lister, state: SiteState, { slices, outdated, units: recent }: KindState, slice: Slice): Slice {
    const isOutdated = outdated && slice.from < outdated.to && slice.to > outdated.from
    if (slice.importId !== 0 || recent.size === 0 || !(isOutdated || slices.isChanging(slice))) return slice
    const units = [...recent.keys()]
    const { answer, slice: current } = lister.current(slice, units)
    const settled = slices.replace(slice, current)
    this.#keep(state, [settled], units, answer)
    return settled
  }

  #received(lister: Lister, state: SiteState, ofKind: KindState, { slices, query, units }: AskedSlices): Map<string, ReadColumn>[] {
    const answer = lister.receive(query, slices)
    if ("changed" in answer) {
      const spans = [...answer.changed, ...(ofKind.outdated ? [ofKind.outdated] : [])]
      const [from, to] = [Math.min(...spans.map((span) => span.from)), Math.max(...spans.map((span) => span.to))]
      ofKind.outdated = { from, to, isSettled: false }
      throw new OutdatedSnapshot("Visits were changed since the snapshot")
    }
    return this.#keep(state, slices, units, answer)
  }

  #keep(state: SiteState, slices: readonly Slice[], units: readonly string[], answer: SlicesAnswer): Map<string, ReadColumn>[] {
    const decoded = decodeUnits(units, answer, state.numbers)
    for (const [place, slice] of slices.entries()) {
      for (const [name, column] of decoded[place]!) {
        const key = `${slice.id} ${name}`
        if (!this.#cache.get(key)) this.#cache.set(key, column)
      }
      state.decoded.set(slice, new Set([...(state.decoded.get(slice) ?? []), ...columnsOf(units)]))
    }
    return decoded
  }

  /** Returns a dictionary that has all texts of the snapshot: filters are compiled against it once. */
  #dictionary(state: SiteState, name: DictionaryName, kinds: readonly KindParts[]): Dictionary {
    const dictionary = state.numbers.dictionary(name)
    const numbered = state.numbered.get(name)
    const columns = columnsWith(name)
    const isNumbered = (slice: Slice) => numbered?.has(slice.id) || columns.every((column) => state.decoded.get(slice)?.has(column))
    for (const { lister, ofKind, slices } of kinds) {
      const missing = slices.filter((slice) => !isNumbered(slice))
      if (missing.length === 0) continue
      // Of a slice that changes before the next query they are then known without asking.
      for (const unit of unitsWith(columns)) ofKind.units.set(unit, ofKind.queries)
      const from = Math.min(...missing.map((slice) => slice.from))
      const to = Math.max(...missing.map((slice) => slice.to))
      for (const text of textsOf(lister, state.numbers, name, from, to)) dictionary.number(text)
    }
    state.numbered.set(name, new Set(kinds.flatMap(({ slices }) => slices.map(({ id }) => id))))
    return dictionary
  }
}

/**
 * Number of events of the slices that are read with one statement, and their columns' largest share of the cache. Each statement reads whole
 * granules of each part on disk, so slices that are read one by one are read several times when there are many parts.
 */
const GROUP_EVENTS = 1 << 20
const GROUP_SHARE = 4

interface PartsOptions {
  imports: Imports
  /** Memory for the columns that are read with one statement. What is read in passing has little room, so its slices are read one by one. */
  groupBytes: number
}

interface KindParts {
  lister: Lister
  ofKind: KindState
  slices: readonly Slice[]
  parts: readonly Part[]
}

/** Returns the numbers of visitors. To find an unknown one, the visitors of all parts are read once. */
function visitorNumbers({ numbers }: SiteState, parts: readonly Part[]): VisitorNumbers {
  const unread = [...parts]
  return {
    number: (ordinal) => numbers.number(ordinal),
    ordinal(number) {
      for (let known = numbers.ordinal(number); ; known = numbers.ordinal(number)) {
        const part = known === undefined ? unread.pop() : undefined
        if (!part) return known
        part.visit("visitor")
      }
    },
  }
}

/** Gives numbers to the texts of totals that a dictionary has. */
function numberTotals(state: SiteState, totals: readonly RemoteTotals[], name: DictionaryName): void {
  const wanted = isPropertyDictionary(name) ? "property" : name
  for (const part of totals) {
    const dictionaries: readonly DictionaryName[] = Object.values(IMPORTED_TABLES[part.kind].texts)
    if (state.totals.has(part.id) || !dictionaries.includes(wanted)) continue
    part.load()
    state.totals.add(part.id)
  }
}

const PROPERTY = "property:"
const isPropertyDictionary = (name: DictionaryName): boolean => name.startsWith(PROPERTY)

/** Returns the key of the property whose values a dictionary has. */
const propertyOf = (name: DictionaryName, numbers: SiteNumbers): string =>
  numbers.dictionary("property").text(Number(name.slice(PROPERTY.length)))

/** Name of the first column of a unit. */
const firstOf = (unit: string): string => (unit.includes(" ") || unit === "starts" || unit === "sequences" ? unit : `${unit} row`)

/** Returns the columns of the table that contain the texts of a dictionary. */
const columnsWith = (name: DictionaryName): string[] =>
  isPropertyDictionary(name) ? ["p.value"] : Object.keys(TEXT_COLUMNS).filter((column) => TEXT_COLUMNS[column] === name)

const textsOf = (lister: Lister, numbers: SiteNumbers, name: DictionaryName, from: number, to: number): string[] =>
  isPropertyDictionary(name) ? lister.propertyValues(propertyOf(name, numbers), from, to) : lister.texts(columnsWith(name), from, to)

/** Returns native visits, and of imports those on visible days. */
function visibleParts(parts: readonly SlicePart[], imports: Imports): Part[] {
  if (imports === "all") return [...parts]
  const visible = new Map(imports.map((one) => [one.id, one]))
  return parts.flatMap<Part>((part) => {
    if (part.importId === 0) return [part]
    const found = visible.get(part.importId)
    return found && part.run <= found.run ? (visiblePart(part, found.spans) ?? []) : []
  })
}
