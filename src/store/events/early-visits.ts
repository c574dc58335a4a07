import type { Database } from "bun:sqlite"
import { VISIT_IDLE_MS, VISITOR_KINDS } from "../../domain/visit.ts"
import { replay } from "./log.ts"
import type { TailEvent, TailVisit } from "./tail/rows.ts"
import { SiteTail } from "./tail/tail.ts"
import type { OpenVisit } from "./writer.ts"

/**
 * The open visits that were moved into segments before they were closed, so that the tail keeps its limit. They are looked up in a table,
 * because there can be more of them than fit into memory.
 */
export class EarlyVisits {
  readonly #db: Database
  /** Whether the table has no rows, so that events need not be looked up in it. */
  #isEmpty = false

  constructor(db: Database) {
    this.#db = db
    this.expired()
  }

  /** Takes note that rows of closed visits were deleted. */
  expired(): void {
    this.#isEmpty = this.#db.query("select 1 from early_visits limit 1").get() === null
  }

  /** Records that a batch is part of the store now. */
  published(): void {
    this.#isEmpty = false
  }

  /** Returns the most recently active of these visits that is open at `now` and satisfies `fits`. See `Writer.findOpenVisit`. */
  find(lane: number, rotating: number, user: number | undefined, now: number, fits: (visit: OpenVisit) => boolean): EarlyVisit | undefined {
    if (this.#isEmpty) return undefined
    const rows = this.#db
      .query<EarlyRow, (number | null)[]>(FIND)
      .iterate(lane, rotating, now - VISIT_IDLE_MS, now + VISIT_IDLE_MS, user ?? null)
    for (const row of rows) {
      const visit = openVisitOf(row)
      if (fits(visit)) return visit
    }
    return undefined
  }

  /**
   * Takes a visit back: removes it from the table, in the transaction of the caller, and hides it in its segment. Returns the visit with
   * its events in the form of the log.
   */
  take(lane: number, { sequence }: EarlyVisit): Uint8Array {
    const { record } = this.#db
      .query<{ record: Uint8Array }, [number]>("delete from early_visits where sequence = ? returning record")
      .get(sequence)!
    hideInSegments(this.#db, lane, sequence)
    return record
  }
}

/** Hides a visit in all segments that exist, in the transaction of the caller. */
export function hideInSegments(db: Database, lane: number, sequence: number): void {
  const limit = "(select seq from sqlite_sequence where name = 'segments')"
  db.query(`insert into taken_visits (lane, sequence, segment_limit) values (?, ?, ${limit})`).run(lane, sequence)
}

/** Returns the id of the last visit that was taken back. */
export const lastTaken = (db: Database): number =>
  db.query<{ id: number }, []>("select coalesce(max(id), 0) as id from taken_visits").get()!.id // it returns a row

/**
 * Hides the visits that were taken back after another one also in the segments that have been written since, in the transaction that
 * publishes these.
 */
export function hideAgain(db: Database, after: number): void {
  const limit = "(select seq from sqlite_sequence where name = 'segments')"
  const sql = `insert into taken_visits (lane, sequence, segment_limit) select lane, sequence, ${limit} from taken_visits where id > ?`
  db.query(sql).run(after)
}

/** A visit in a segment that events may still join. */
export interface EarlyVisit extends OpenVisit {
  /** Sequence of its first event. */
  readonly sequence: number
}

/** Returns a visit with its events, in order of arrival, as an open visit of a segment is stored. */
export function readStoredVisit(record: Uint8Array): { visit: TailVisit; events: TailEvent[] } {
  const tail = new SiteTail(0)
  replay(record, { record: 0, arrivedAt: 0 }, { tail: () => tail })
  return { visit: tail.visitAt(0), events: Array.from({ length: tail.events }, (_, row) => tail.eventAt(row)) }
}

interface StoredVisit {
  lane: number
  sequence: number
  rotating: number
  /** In order of arrival. */
  events: readonly [TailEvent, ...TailEvent[]]
}

/** Yields the open visits of segments with their events. */
export function* storedEarlyVisits(db: Database): Generator<StoredVisit> {
  const sql = `select lane, sequence, rotating, record from early_visits
    where batch in (select batch from early_batches where sealed_at is not null)`
  for (const { record, ...row } of db.query<Omit<StoredVisit, "events"> & { record: Uint8Array }, []>(sql).iterate())
    yield { ...row, events: readStoredVisit(record).events as [TailEvent, ...TailEvent[]] } // a visit has an event
}

interface EarlyRow {
  sequence: number
  visitor: number
  kind: number
  started_at: number
  active_at: number
  arrived_at: number
  size: number
}

const USER = VISITOR_KINDS.indexOf("user")

const FIND = `select sequence, visitor, kind, started_at, active_at, arrived_at, size from early_visits
  where lane = ?1 and rotating = ?2 and arrived_at between ?3 and ?4 and (?5 is null or kind <> ${USER} or visitor = ?5)
    and batch in (select batch from early_batches where sealed_at is not null)
  order by active_at desc, sequence`

const openVisitOf = ({ sequence, visitor, kind, started_at, active_at, arrived_at, size }: EarlyRow): EarlyVisit => ({
  sequence,
  id: sequence,
  startedAt: started_at,
  activeAt: active_at,
  arrivedAt: arrived_at,
  size,
  visitor,
  visitorKind: VISITOR_KINDS[kind]!,
})

/** The visits that were taken back, by lane: their sequences, each with the last segment that contains it. Follows the table. */
export class TakenVisits {
  readonly #lanes = new Map<number, Map<number, number>>()
  /** Id of the last row that was read. */
  last = 0
  #size = 0

  of(lane: number): ReadonlyMap<number, number> {
    return this.#lanes.get(lane) ?? NONE
  }

  /** Reads the rows that were added since the last call. */
  follow(db: Database): void {
    const sql = "select id, lane, sequence, segment_limit as last from taken_visits where id > ? order by id"
    for (const { id, lane, sequence, last } of db.query<TakenRow, [number]>(sql).iterate(this.last)) {
      const taken = this.#lanes.get(lane) ?? new Map<number, number>()
      this.#lanes.set(lane, taken)
      taken.set(sequence, Math.max(last, taken.get(sequence) ?? 0))
      this.last = id
      this.#size++
    }
  }

  /** Returns whether most of the rows that were read do not exist any more. */
  isStale(db: Database): boolean {
    if (this.#size < MIN_STALE) return false
    const sql = "select count(*) as n from taken_visits"
    return this.#size > 2 * db.query<{ n: number }, []>(sql).get()!.n // it returns a row
  }
}

/** Number of rows below which old ones are kept in memory. */
const MIN_STALE = 10_000

interface TakenRow {
  id: number
  lane: number
  sequence: number
  last: number
}

const NONE: ReadonlyMap<number, number> = new Map()

/** Reads all visits that were taken back. */
export function readTakenVisits(db: Database): TakenVisits {
  const taken = new TakenVisits()
  taken.follow(db)
  return taken
}
