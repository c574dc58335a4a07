import type { DictionaryName } from "../../../domain/dimension.ts"
import { IMPORTED_TABLES, type VisibleImport } from "../../../domain/imported.ts"
import { laneOf, type SegmentKind } from "../../events/bytes/lanes.ts"
import { ColumnCache } from "../../events/cache.ts"
import { OutdatedSnapshot } from "../../events/dictionary/read-dictionary.ts"
import { visiblePart } from "../../events/masked-part.ts"
import type { Dictionary, EventReader, Imports, Part, Snapshot, VisitorNumbers } from "../../events/part.ts"
import { Results } from "../../events/results.ts"
import { type AskedSlice, ReadAhead } from "./ahead.ts"
import type { Channel } from "./channel.ts"
import { bundleOf, decodeUnits, type ReadColumn, TEXT_COLUMNS } from "./columns.ts"
import type { NativeBlock } from "./native.ts"
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

interface SiteState {
  numbers: SiteNumbers
  slices: Map<SegmentKind, SliceList>
  /** Ids of the slices whose texts are all numbered, by the name of the dictionary. */
  numbered: Map<DictionaryName, ReadonlySet<number>>
  /** Ids of the totals whose texts are all numbered. */
  totals: Set<number>
  /** Ids of the slices whose visitors are all numbered. */
  visitors: Set<number>
  /** What the last queries found changed, until one finds nothing. */
  outdated: Outdated | undefined
}

/** Openings of the visits that changed while a query ran, half-open, and the units that it had read. */
interface Outdated {
  from: number
  to: number
  units: Set<string>
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

  snapshot(siteId: number, kind: SegmentKind = "visits", imports: Imports = [], alongside?: SegmentKind): Snapshot {
    this.#cache.beginReport()
    this.#ahead.clear()
    const state = this.#stateOf(siteId)
    if (state.outdated?.isSettled) state.outdated = undefined
    else if (state.outdated) state.outdated.isSettled = true
    const read = this.#partsOf(siteId, state, kind, imports)
    const others = alongside && this.#partsOf(siteId, state, alongside, imports)
    const slices = [...read.slices, ...(others?.slices ?? [])]
    const local = this.#local.snapshot(siteId, kind)
    const shown = imports === "all" ? [] : imports
    const totals = kind === "visits" && shown.length > 0 ? this.#totalsOf(siteId, state, read.lister, shown) : []
    const unnumbered = slices.filter(({ id }) => !state.visitors.has(id))
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
      state = {
        numbers: new SiteNumbers(),
        slices: new Map(),
        numbered: new Map(),
        totals: new Set(),
        visitors: new Set(),
        outdated: undefined,
      }
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

  #partsOf(siteId: number, state: SiteState, kind: SegmentKind, imports: Imports): KindParts {
    let list = state.slices.get(kind)
    if (!list) {
      list = new SliceList(() => ++this.#lastSlice)
      state.slices.set(kind, list)
    }
    const lister = new Lister(this.#channel, { siteId, kind }, this.#check)
    const slices = list.follow(lister).map((slice) => this.#settled(lister, state, slice))
    /** Units that this snapshot has read so far. Further slices are read with all of them at once. */
    const units = new Set<string>()
    const isMissing = (slice: Slice, unit: string) => this.#cache.get(`${slice.id} ${firstOf(unit)}`) === undefined
    const ask = (slice: Slice, unit: string) => {
      const missing = [...units].filter((other) => other === unit || isMissing(slice, other))
      return { units: missing, query: lister.ask(slice, missing) }
    }
    /** Place of the slice that was read last. */
    let last = Number.NaN
    const read = (slice: Slice, unit: string, column: string): ReadColumn => {
      const known = this.#cache.get(`${slice.id} ${column}`) as ReadColumn | undefined // a name always stands for the same type
      if (known) return known
      for (const one of bundleOf(unit)) units.add(one)
      const asked = this.#ahead.take(slice, unit) ?? ask(slice, unit)
      const place = slices.indexOf(slice)
      // A query that goes on to the next slice has asked for all units that it needs, and goes on.
      if (place === last + 1)
        for (const next of slices.slice(place + 1, place + 1 + AHEAD))
          if (next.importId === slice.importId && isMissing(next, unit)) this.#ahead.add(next, () => ask(next, unit))
      last = place
      return this.#received(lister, state, slice, asked, units).get(column)!
    }
    const parts = slices.filter(({ visits }) => visits > 0).map((slice) => new SlicePart(siteId, slice, read))
    return { lister, slices, parts: visibleParts(parts, imports) }
  }

  /**
   * Returns a slice as it is at one moment. If its visits changed during the last attempt at a query, all columns that the attempt read are
   * read again here, together with what the slice is now, so that nothing can change between the two.
   */
  #settled(lister: Lister, state: SiteState, slice: Slice): Slice {
    const { outdated } = state
    if (!outdated || slice.importId !== 0 || slice.from >= outdated.to || slice.to <= outdated.from) return slice
    const units = [...outdated.units]
    const { blocks, slice: current } = lister.current(slice, units)
    const settled = { ...current, id: ++this.#lastSlice }
    this.#keep(state, settled, units, blocks)
    return settled
  }

  #received(
    lister: Lister,
    state: SiteState,
    slice: Slice,
    { query, units }: AskedSlice,
    allUnits: ReadonlySet<string>,
  ): Map<string, ReadColumn> {
    const blocks = lister.receive(query, slice)
    if (!blocks) {
      const { from, to, units: former } = state.outdated ?? { ...slice, units: new Set<string>() }
      const all = new Set([...former, ...allUnits])
      state.outdated = { from: Math.min(from, slice.from), to: Math.max(to, slice.to), units: all, isSettled: false }
      throw new OutdatedSnapshot("Visits were changed since the snapshot")
    }
    return this.#keep(state, slice, units, blocks)
  }

  #keep(state: SiteState, slice: Slice, units: readonly string[], blocks: readonly NativeBlock[]): Map<string, ReadColumn> {
    const columns = decodeUnits(units, blocks, state.numbers)
    for (const [name, column] of columns) this.#cache.set(`${slice.id} ${name}`, column)
    if (units.includes("visit visitor")) state.visitors.add(slice.id)
    return columns
  }

  /** Returns a dictionary that has all texts of the snapshot: filters are compiled against it once. */
  #dictionary(state: SiteState, name: DictionaryName, kinds: readonly KindParts[]): Dictionary {
    const dictionary = state.numbers.dictionary(name)
    const numbered = state.numbered.get(name)
    for (const { lister, slices } of kinds) {
      const missing = slices.filter(({ id }) => !numbered?.has(id))
      if (missing.length === 0) continue
      const from = Math.min(...missing.map((slice) => slice.from))
      const to = Math.max(...missing.map((slice) => slice.to))
      for (const text of textsOf(lister, state.numbers, name, from, to)) dictionary.number(text)
    }
    state.numbered.set(name, new Set(kinds.flatMap(({ slices }) => slices.map(({ id }) => id))))
    return dictionary
  }
}

/** Number of slices that are asked for before a query needs them. */
const AHEAD = 2

interface KindParts {
  lister: Lister
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

function textsOf(lister: Lister, numbers: SiteNumbers, name: DictionaryName, from: number, to: number): string[] {
  if (isPropertyDictionary(name)) return lister.propertyValues(propertyOf(name, numbers), from, to)
  const columns = Object.keys(TEXT_COLUMNS).filter((column) => TEXT_COLUMNS[column] === name)
  return lister.texts(columns, from, to)
}

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
