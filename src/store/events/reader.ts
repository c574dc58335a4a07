import type { Database } from "bun:sqlite"
import type { DictionaryName } from "../../domain/dimension.ts"
import { laneOf, type SegmentKind } from "./bytes/lanes.ts"
import { ColumnCache } from "./cache.ts"
import { openForReading } from "./database.ts"
import { OutdatedSnapshot, ReadDictionary, TextBlocks } from "./dictionary/read-dictionary.ts"
import { TakenVisits } from "./early-visits.ts"
import { translateErrors } from "./fault.ts"
import { visiblePart, withoutTaken } from "./masked-part.ts"
import type { Dictionary, EventReader, Imports, Part, Snapshot, SnapshotOptions, StoredSums, VisitorNumbers } from "./part.ts"
import { Results } from "./results.ts"
import { listSegmentIds, listSegments, Segment, type SegmentRow, segmentById } from "./segment.ts"
import { findSums, type NewSums, namesOfSums } from "./tables/month-sums.ts"
import { type RowTables, rowTablesOf, type SentStatement } from "./tables/row-tables.ts"
import { listVisitsOfSales } from "./tables/sales.ts"
import { readState, Tails } from "./tail/tails.ts"
import { openTotals, type Totals } from "./totals.ts"

export interface EventReaderOptions {
  /** Limits the cache of decoded columns, and the results and texts that share it. */
  cacheBytes: number
  /** Row tables of areas. Default: those of the event store. */
  rowTables?: RowTables
  /** Passes sums of months on to the writer. Default: they are kept in memory only. */
  storeSums?(sums: NewSums): void
}

/**
 * Opens the event store for reading while the writer has it open. A snapshot contains what was committed before it; its columns stay
 * readable for at least 15 seconds after upkeep has replaced them.
 */
export function openEventReader(path: string, { cacheBytes, rowTables, storeSums = () => {} }: EventReaderOptions): EventReader {
  const db = openForReading(path)
  return new Reader(db, new ColumnCache(cacheBytes), rowTables ?? rowTablesOf(db), storeSums)
}

/** Share of the cache of columns by which the results of reports are bounded, and the least that they need. */
const RESULT_SHARE = 8
const MIN_RESULT_BYTES = 4 << 20

/** The segments of a lane, and a text that differs for other segments. Ids of segments are never used again. */
interface LaneSegments {
  segments: Segment[]
  name: string
  generation: number
}

/** Number of sites whose segments and dictionaries are listed in memory. */
const MAX_SITES = 200

/** Number of latest segments that determine the busiest site. */
const LATEST_SEGMENTS = 200

class Reader implements EventReader {
  readonly #db: Database
  readonly #cache: ColumnCache
  readonly #rowTables: RowTables
  #tails = new Tails()
  #generation = -1
  #epoch = -1
  readonly #results: Results
  readonly #sums: StoredSums
  /** By lane. */
  readonly #segments = new Map<number, LaneSegments>()
  /** By site. */
  readonly #totals = new Map<number, Totals[]>()
  /** By site, then by name. */
  readonly #dictionaries = new Map<number, Map<DictionaryName, ReadDictionary>>()
  readonly #texts: TextBlocks
  #taken = new TakenVisits()
  /** Segments without the visits that were taken back, as of the last such visit. */
  readonly #rests = new WeakMap<Segment, { last: number; rest: Part }>()

  constructor(db: Database, cache: ColumnCache, rowTables: RowTables, storeSums: (sums: NewSums) => void) {
    this.#sums = {
      find: (key) => translateErrors(() => findSums(db, key)),
      names: (month) => translateErrors(() => namesOfSums(db, month)),
      set: storeSums,
    }
    this.#db = db
    this.#rowTables = rowTables
    this.#cache = cache
    this.#results = new Results(Math.max(MIN_RESULT_BYTES, cache.limit / RESULT_SHARE), cache)
    this.#texts = new TextBlocks(cache)
  }

  snapshot(siteId: number, kind: SegmentKind = "visits", imports: Imports = [], { alongside, isPassing }: SnapshotOptions = {}): Snapshot {
    this.#cache.beginReport(isPassing)
    const read = () => {
      const snapshot = this.#read(siteId, kind, imports)
      return alongside ? withOthers(snapshot, this.#read(siteId, alongside, imports)) : snapshot
    }
    return translateErrors(() => this.#db.transaction(read)())
  }

  rows(statement: SentStatement, limit: number, check: () => void): object[] {
    return this.#rowTables.rows(statement, limit, check)
  }

  own(): EventReader {
    return this
  }

  fullestSite(): number | undefined {
    const latest = `select site_id, events from segments where retired_at is null and events > 0 order by id desc limit ${LATEST_SEGMENTS}`
    const sql = `select site_id as siteId from (${latest}) group by site_id order by sum(events) desc limit 1`
    return translateErrors(() => this.#db.query<{ siteId: number }, []>(sql).get()?.siteId)
  }

  close(): void {
    this.#rowTables.close()
    this.#db.close()
  }

  #read(siteId: number, kind: SegmentKind, imports: Imports): Snapshot {
    this.#follow()
    const { segments, name } = this.#segmentsOf(siteId, kind)
    const lane = laneOf(siteId, kind)
    const visible = visibleParts(segments, imports)
      .map((part) => this.#withoutTaken(part, lane))
      .filter((part) => part.visits > 0)
    const tail = this.#tails.find(lane)
    const parts: Part[] = tail && tail.events > 0 ? [...visible, tail] : visible
    let visitorLimit = 0
    for (const segment of segments) visitorLimit = Math.max(visitorLimit, segment.visitorLimit)
    for (const ordinal of tail?.visit("visitor") ?? []) visitorLimit = Math.max(visitorLimit, ordinal + 1)
    const shown = imports === "all" ? [] : imports
    const isShown = ({ importId, run }: Totals) => shown.some((one) => one.id === importId && run <= one.run)
    const epoch = this.#epoch
    const totals = shown.length > 0 && kind === "visits" ? this.#totalsOf(siteId).filter(isShown) : []
    return {
      siteId,
      visitorLimit,
      visitors: ordinalsAsNumbers(visitorLimit),
      parts,
      dictionary: (name) => this.#dictionary(siteId, name, epoch),
      imports: shown,
      totals: (kind) => totals.filter((part) => part.kind === kind),
      version: {
        sealed: `${lane} ${name} ${this.#epoch} ${JSON.stringify(imports)}`,
        // A seal can remove visits without a record.
        tail: `${this.#tails.lastRecordOf(lane)} ${tail?.visits} ${tail?.events}`,
      },
      results: this.#results,
      sums: this.#sums,
      eachRow: this.#rowTables.eachRow,
      saleVisits: (sequences) => translateErrors(() => listVisitsOfSales(this.#db, siteId, sequences)),
    }
  }

  #follow(): void {
    if (!this.#tails.follow(this.#db)) {
      this.#tails = new Tails()
      this.#tails.follow(this.#db)
    }
    const generation = readState(this.#db, "generation")
    if (generation !== this.#generation) {
      this.#totals.clear()
      if (this.#taken.isStale(this.#db)) this.#taken = new TakenVisits()
    }
    this.#generation = generation
    this.#taken.follow(this.#db)
    const epoch = readState(this.#db, "dictionary_epoch")
    if (epoch !== this.#epoch) {
      this.#dictionaries.clear()
      this.#texts.clear()
    }
    this.#epoch = epoch
  }

  /** Returns a part without the visits that were taken back. The result is kept until more are. */
  #withoutTaken(part: Part, lane: number): Part {
    if (!(part instanceof Segment) || part.openUntil === undefined) return part
    const { last } = this.#taken
    const known = this.#rests.get(part)
    if (known?.last === last) return known.rest
    const rest = withoutTaken(part, this.#taken.of(lane))
    this.#rests.set(part, { last, rest })
    return rest
  }

  #segmentsOf(siteId: number, kind: SegmentKind): LaneSegments {
    const lane = laneOf(siteId, kind)
    const known = this.#segments.get(lane)
    if (known?.generation === this.#generation) return known
    const segments = this.#listed(siteId, kind, known?.segments ?? [])
    const name = Bun.hash(segments.map(({ id }) => id).join()).toString(36)
    const found = { segments, name, generation: this.#generation }
    if (this.#segments.size >= MAX_SITES) this.#segments.clear()
    this.#segments.set(lane, found)
    return found
  }

  /** Lists the segments of a lane. Those of the former list are kept, because few change between two generations. */
  #listed(siteId: number, kind: SegmentKind, former: readonly Segment[]): Segment[] {
    const opened = (row: SegmentRow) => new Segment(row, this.#db, this.#cache)
    if (former.length === 0) return listSegments(this.#db, siteId, kind).map(opened)
    const known = new Map(former.map((segment) => [segment.id, segment]))
    return listSegmentIds(this.#db, siteId, kind).map(({ id, run, open_until }) => {
      const segment = known.get(id)
      const isSame = segment?.run === run && segment.openUntil === (open_until ?? undefined)
      return isSame ? segment : opened(segmentById(this.#db, id))
    })
  }

  #totalsOf(siteId: number): Totals[] {
    const totals = this.#totals.get(siteId) ?? openTotals(this.#db, siteId, this.#cache)
    if (this.#totals.size >= MAX_SITES) this.#totals.clear()
    this.#totals.set(siteId, totals)
    return totals
  }

  /** Returns a dictionary. Values are only added, so one that has grown since the snapshot still gives the same texts for its numbers. */
  #dictionary(siteId: number, name: DictionaryName, epoch: number): Dictionary {
    if (epoch !== this.#epoch) throw new OutdatedSnapshot("Texts were erased since the snapshot")
    let ofSite = this.#dictionaries.get(siteId)
    if (!ofSite) {
      if (this.#dictionaries.size >= MAX_SITES) this.#dictionaries.clear()
      ofSite = new Map()
      this.#dictionaries.set(siteId, ofSite)
    }
    let dictionary = ofSite.get(name)
    if (dictionary) dictionary.follow()
    else {
      dictionary = new ReadDictionary(this.#db, this.#texts, { siteId, name, epoch })
      ofSite.set(name, dictionary)
    }
    return dictionary
  }
}

/** Adds the parts of another kind to a snapshot of the same moment. Visitors are numbered over both. */
function withOthers(snapshot: Snapshot, others: Snapshot): Snapshot {
  const visitorLimit = Math.max(snapshot.visitorLimit, others.visitorLimit)
  return { ...snapshot, visitorLimit, visitors: ordinalsAsNumbers(visitorLimit), alongside: others.parts }
}

/** In one store, ordinals are given once and never change. */
const ordinalsAsNumbers = (visitorLimit: number): VisitorNumbers => ({
  number: (ordinal) => ordinal,
  ordinal: (number) => (number < visitorLimit ? number : undefined),
})

/** Returns native segments, and of imports the visits on visible days. */
function visibleParts(segments: readonly Segment[], imports: Imports): Part[] {
  if (imports === "all") return [...segments]
  const visible = new Map(imports.map((one) => [one.id, one]))
  return segments.flatMap((segment) => {
    if (segment.importId === 0) return [segment]
    const found = visible.get(segment.importId)
    return found && segment.run <= found.run ? (visiblePart(segment, found.spans) ?? []) : []
  })
}
