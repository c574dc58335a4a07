import type { Database } from "bun:sqlite"
import type { DictionaryName } from "../../../domain/dimension.ts"
import { IMPORTED_KINDS } from "../../../domain/imported.ts"
import { kindOfLane, laneOf, siteOfLane } from "../../events/bytes/lanes.ts"
import { ColumnCache } from "../../events/cache.ts"
import { openForReading } from "../../events/database.ts"
import { ReadDictionary, TextBlocks } from "../../events/dictionary/read-dictionary.ts"
import { TakenVisits } from "../../events/early-visits.ts"
import { translateErrors } from "../../events/fault.ts"
import { withoutTaken } from "../../events/masked-part.ts"
import type { Part } from "../../events/part.ts"
import { Segment, type SegmentRow, segmentById } from "../../events/segment.ts"
import { nextUnshipped, openingsIn, openingsOf, shippedRecord } from "../../events/spool/spool.ts"
import { VisitorValues } from "../../events/spool/visitor-values.ts"
import { runSteps } from "../../events/steps.ts"
import { orderOfChosen } from "../../events/tail/order.ts"
import type { SiteTail } from "../../events/tail/tail.ts"
import { readState, Tails } from "../../events/tail/tails.ts"
import { openTotals } from "../../events/totals.ts"
import type { Hash64 } from "../../events/writer.ts"
import type { ArrivedId } from "../event-ids.ts"
import type { VisitRow } from "../visit-row.ts"
import type { ChangedTotals, TotalsKey } from "./totals.ts"
import { type RowContext, rowsOf, storedByVisit } from "./visit-rows.ts"

/** Visits of one part that the engine does not have, as rows. */
export interface ChangedVisits {
  siteId: number
  /** Rows of the part, ascending. */
  visits: readonly number[]
  /** Number of events of a visit, of any name. */
  size(visit: number): number
  /** Last record of the log that concerns a visit. */
  version(visit: number): number
  /** Creates the function that returns a visit. The key of the site is needed for its visitors. */
  open(siteKey: Uint8Array): (visit: number) => VisitRow
}

/** A segment that the engine does not have. */
export interface ChangedSegment {
  id: number
  /** Whether its visits were among the changes of earlier calls of `read`, so that the engine has those that were shipped. */
  isKnown: boolean
  /** Reads the segment. Its rows stay readable for 20 seconds after upkeep has replaced it. */
  read(): ChangedVisits
}

/** What the store contains and the engine may not have, at one moment. The visits can be opened until the next call of `read`. */
export interface Changes {
  /** Last record of the log at that moment. */
  record: number
  /** Visits of the log that have changed after a record. */
  visits: ChangedVisits[]
  /** The oldest segment after the given one. */
  segment: ChangedSegment | undefined
  /** Ids of the events of the records after the last shipped one. */
  ids: ArrivedId[]
}

/** Memory for decoded columns and texts. */
const CACHE_BYTES = 16 << 20
/** Number of sites whose dictionaries and visitors are in memory. */
const MAX_SITES = 200

/** Number of ids in memory. Of a longer outage the first ones are forgotten: their events were acknowledged, so no one repeats them. */
const MAX_IDS = 100_000

/** What is in memory of a site. */
interface KnownSite {
  dictionaries: Map<DictionaryName, ReadDictionary>
  values: VisitorValues
}

/** Follows a store for the engine, through the same replay as query workers. Each thread needs its own. */
export class ChangeReader {
  readonly #db: Database
  readonly #node: number
  readonly #cache = new ColumnCache(CACHE_BYTES)
  readonly #texts = new TextBlocks(this.#cache)
  #tails = new Tails()
  #taken = new TakenVisits()
  #generation = -1
  #epoch = -1
  #idsFloor = 0
  /** Last record of the log whose visits may have been sealed before they were shipped. */
  #missed = 0
  readonly #sites = new Map<number, KnownSite>()
  /** By site and ordinal: rotating ids in the log, which may not be in the table yet. */
  readonly #logged = new Map<number, Map<number, { id: Hash64; record: number }>>()
  /** Ids of the events of records that were not shipped, by record in ascending order. */
  readonly #ids = new Map<number, ArrivedId[]>()
  #idCount = 0
  /** Last record whose visits were shipped. */
  #shipped = 0

  constructor(path: string, node: number) {
    this.#db = openForReading(path)
    this.#node = node
    this.#missed = readState(this.#db, "log_floor")
  }

  /** Returns the last record whose changes the engine has confirmed, as stored. */
  confirmed(): number {
    return translateErrors(() => shippedRecord(this.#db) ?? 0)
  }

  /**
   * Returns the visits that have changed after a record, and the next segment after another one. `shipped` is the last record whose visits
   * were shipped, except for some that are shipped later.
   */
  read(after: number, shipped: number, afterSegment: number): Changes {
    this.#cache.beginReport()
    this.#shipped = shipped
    return translateErrors(() =>
      this.#db.transaction(() => {
        this.#follow(shipped)
        const record = this.#tails.lastRecord
        const visits = [...this.#tails.all()].flatMap((tail) => this.#changedIn(tail, after) ?? [])
        const next = nextUnshipped(this.#db, afterSegment)
        const segment = next && this.#segment(segmentById(this.#db, next.id), record, (next.floor ?? 0) > this.#missed)
        return { record, visits, segment, ids: this.#unshippedIds() }
      })(),
    )
  }

  /**
   * Returns how the segments of imported totals differ from those that the engine has, by segment. Undefined when the store has not changed since
   * a state, given by number.
   */
  changedTotals(known: ReadonlyMap<number, TotalsKey>, since: number): ChangedTotals | undefined {
    return translateErrors(() =>
      this.#db.transaction(() => {
        const generation = readState(this.#db, "generation")
        if (generation === since) return undefined
        const epoch = readState(this.#db, "dictionary_epoch")
        const stored = totalsSegments(this.#db)
        const ids = new Set(stored.map(({ segment }) => segment))
        const sites = new Set(stored.filter(({ segment }) => !known.has(segment)).map(({ siteId }) => siteId))
        const added = [...sites].flatMap((siteId) => {
          const dictionary = (name: DictionaryName) => new ReadDictionary(this.#db, this.#texts, { siteId, name, epoch })
          const parts = openTotals(this.#db, siteId, this.#cache).filter(({ id }) => !known.has(id))
          return parts.map((part) => ({ siteId, kind: part.kind, part, dictionary: memoized(dictionary) }))
        })
        return { generation, added, removed: [...known.values()].filter(({ segment }) => !ids.has(segment)) }
      })(),
    )
  }

  close(): void {
    this.#db.close()
  }

  #follow(shipped: number): void {
    const floor = readState(this.#db, "log_floor")
    if (floor > shipped) this.#missed = floor
    if (!this.#tails.follow(this.#db, this.#callbacksOf)) {
      this.#tails = new Tails()
      this.#ids.clear()
      this.#idCount = 0
      this.#tails.follow(this.#db, this.#callbacksOf)
    }
    const generation = readState(this.#db, "generation")
    if (generation !== this.#generation && this.#taken.isStale(this.#db)) this.#taken = new TakenVisits()
    this.#generation = generation
    this.#taken.follow(this.#db)
    const epoch = readState(this.#db, "dictionary_epoch")
    if (epoch !== this.#epoch) {
      this.#sites.clear()
      this.#texts.clear()
    }
    this.#epoch = epoch
    this.#forgetStored()
  }

  readonly #callbacksOf = (record: number) => ({
    visitor: (siteId: number, _: string, id: Hash64, ordinal: number) => {
      const ofSite = this.#logged.get(siteId) ?? new Map<number, { id: Hash64; record: number }>()
      this.#logged.set(siteId, ofSite)
      ofSite.set(ordinal, { id, record })
    },
    idOfEvent: (id: Hash64, arrivedAt: number) => {
      if (record > this.#shipped) this.#addId(record, { id, arrivedAt })
    },
  })

  #addId(record: number, id: ArrivedId): void {
    const ofRecord = this.#ids.get(record) ?? []
    this.#ids.set(record, ofRecord)
    ofRecord.push(id)
    this.#idCount++
    for (const [oldest, { length }] of this.#ids) {
      if (this.#idCount <= MAX_IDS) return
      this.#ids.delete(oldest)
      this.#idCount -= length
    }
  }

  /** Returns the ids of the events after the last shipped record, and forgets those before. */
  #unshippedIds(): ArrivedId[] {
    for (const [record, { length }] of this.#ids) {
      if (record > this.#shipped) break
      this.#ids.delete(record)
      this.#idCount -= length
    }
    return [...this.#ids.values()].flat()
  }

  /** Forgets the rotating ids that are in the table by now. */
  #forgetStored(): void {
    const floor = readState(this.#db, "ids_floor")
    if (floor === this.#idsFloor) return
    this.#idsFloor = floor
    for (const ofSite of this.#logged.values()) for (const [ordinal, { record }] of ofSite) if (record <= floor) ofSite.delete(ordinal)
  }

  #changedIn(tail: SiteTail, after: number): ChangedVisits | undefined {
    const visits: number[] = []
    for (let row = 0; row < tail.visits; row++) if (tail.lastRecord(row) > after) visits.push(row)
    if (visits.length === 0) return undefined
    const version = (row: number) => tail.lastRecord(row)
    const siteId = siteOfLane(tail.siteId)
    return {
      ...{ siteId, visits, version },
      size: (row) => tail.visitPlace(row).size,
      open: (siteKey) => {
        const chosen = new Uint8Array(tail.visits)
        for (const row of visits) chosen[row] = 1
        const context = { ...this.#context(siteId, siteKey), kind: kindOfLane(tail.siteId), run: 0, version, opened: openingsIn(tail) }
        return rowsOf(tail, runSteps(orderOfChosen(tail, chosen)), siteId, context)
      },
    }
  }

  #segment(row: SegmentRow, record: number, isKnown: boolean): ChangedSegment {
    const { id, run, kind, site_id: siteId } = row
    const lane = laneOf(siteId, kind)
    return {
      ...{ id, isKnown },
      read: () => {
        const segment = new Segment(row, this.#db, this.#cache)
        // A visit that was taken back is in the log, and what the segment has of it is outdated.
        const part: Part = withoutTaken(segment, this.#taken.of(lane))
        const events = storedByVisit(part)
        // No visit of the segment can change after the record without being taken back under a later one.
        const version = () => record
        return {
          ...{ siteId, version },
          visits: Array.from({ length: part.visits }, (_, visit) => visit),
          size: (visit) => events.ends[visit + 1]! - events.ends[visit]!,
          open: (siteKey) =>
            rowsOf(part, events, siteId, {
              ...this.#context(siteId, siteKey),
              kind,
              run,
              version,
              opened: openingsOf(this.#db, lane, part),
            }),
        }
      },
    }
  }

  /** Returns what the rows of a part need that concerns the site. Its texts are those of the moment of the call. */
  #context(siteId: number, siteKey: Uint8Array): Pick<RowContext, "node" | "text" | "value"> {
    const { dictionaries, values } = this.#site(siteId, siteKey)
    const followed = new Map<DictionaryName, ReadDictionary>()
    const dictionary = (name: DictionaryName) => {
      const known = dictionaries.get(name)
      known?.follow()
      const found = known ?? new ReadDictionary(this.#db, this.#texts, { siteId, name, epoch: this.#epoch })
      dictionaries.set(name, found)
      followed.set(name, found)
      return found
    }
    const text = (name: DictionaryName, id: number) => (id === 0 ? "" : (followed.get(name) ?? dictionary(name)).text(id))
    return { node: this.#node, text, value: (ordinal) => values.of(ordinal) }
  }

  #site(siteId: number, siteKey: Uint8Array): KnownSite {
    const known = this.#sites.get(siteId)
    if (known) return known
    if (this.#sites.size >= MAX_SITES) this.#sites.clear()
    const logged = (ordinal: number) => this.#logged.get(siteId)?.get(ordinal)?.id
    const site = { dictionaries: new Map(), values: new VisitorValues(this.#db, { siteId, siteKey, node: this.#node, logged }) }
    this.#sites.set(siteId, site)
    return site
  }
}

/** Returns the segments of imported totals. */
function totalsSegments(db: Database): TotalsKey[] {
  const kinds = IMPORTED_KINDS.map((kind) => `'${kind}'`).join(", ")
  const sql = `select site_id as siteId, id as segment from segments where retired_at is null and kind in (${kinds})`
  return db.query<TotalsKey, []>(sql).all()
}

/** Memoizes the dictionaries of a site. */
function memoized(open: (name: DictionaryName) => ReadDictionary): (name: DictionaryName) => ReadDictionary {
  const opened = new Map<DictionaryName, ReadDictionary>()
  return (name) => {
    const dictionary = opened.get(name) ?? open(name)
    opened.set(name, dictionary)
    return dictionary
  }
}
