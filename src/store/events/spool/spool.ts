/**
 * The spool: this store as the source of a second engine. It consists of the log after the last confirmed record, and of the segments
 * whose visits are not all confirmed. Nothing is recorded here before `begin`.
 */
import type { Database } from "bun:sqlite"
import { StoreRefusal } from "../../migrations.ts"
import { laneOf, SEGMENT_KINDS, type SegmentKind } from "../bytes/lanes.ts"
import { storedEarlyVisits } from "../early-visits.ts"
import type { Journal } from "../journal.ts"
import type { Part } from "../part.ts"
import type { SiteTail } from "../tail/tail.ts"
import { readState, writeState } from "../tail/tails.ts"
import type { Hash64 } from "../writer.ts"
import { droppedSpan, setDroppedSpan, type TimeSpan } from "./dropped.ts"
import { sharedSequence } from "./sequences.ts"

const KINDS = SEGMENT_KINDS.map((kind) => `'${kind}'`).join(", ")

/** What the second engine does not have yet. */
export interface Unshipped {
  /** Records of the log after the last confirmed one. */
  records: number
  /** Bytes of the segments, and of the tail if it has such records. */
  bytes: number
}

export interface Spool {
  /**
   * Returns where the visits are: `shipped` once the second engine has them, `moving` while it only gets them, and `none` before the first
   * one.
   */
  holding(): "none" | "local" | "moving" | "shipped"
  /** Returns the number of the node that this store belongs to; undefined for a new store. */
  ownNode(): number | undefined
  /** Makes the store that of a node, whose number it keeps. */
  joinAs(node: number): void
  /** Returns the last record of the log. */
  lastRecord(): number
  /** Returns the sequence of the next event, outside the store. */
  nextSequence(): number
  /**
   * Records that the engine has every change up to a record, and all visits of some segments. Does not wait for the disk: what is
   * forgotten in a power failure is shipped again.
   */
  confirmShipped(record: number, segments: readonly number[], now: number): void
  /** Returns what the engine does not have yet. */
  unshipped(): Unshipped
  /** Resolves when reports can include what is stored. The caller that ships to a second engine replaces it. */
  shipped(signal: AbortSignal): Promise<void>
  /**
   * Resolves when other nodes have removed what was removed here. The caller that shares events with them replaces it. Not within `exclusive`,
   * in which another node may wait for this one.
   */
  removedElsewhere(signal?: AbortSignal): Promise<void>
  /** Returns whether there are segments, such as those of an import, that the engine does not have yet. */
  hasUnshippedSegments(): boolean
  /** Returns whether there are such segments with recorded visits: those that were sealed before they were shipped. */
  hasUnshippedVisits(): boolean
  /** Takes note that the records of a kind up to a sequence are in the counters of their area. Others are not dropped. */
  counted(siteId: number, kind: SegmentKind, sequence: number): void
  /** Stores the time span of what the engine has of a kind, after visits were removed there. */
  setDroppedSpan(siteId: number, kind: SegmentKind, span: TimeSpan | undefined): void
  /** Returns whether the time span of what the engine has of a kind is stored. */
  hasDroppedSpan(siteId: number, kind: SegmentKind): boolean
  /** Returns the sequence before which the engine is known to have all events. Without a spool there is no limit. */
  shippedBelow(): number
  /** Makes the hashes of event ids those of all nodes. `agree` gets the key of this store and returns that of the first node. */
  shareEventIds(agree: (own: number) => Promise<number>): Promise<void>
  /** Returns the hash of an event id, or undefined if this store has the event. */
  unknownEventId(siteId: number, eventId: string, now: number): Hash64 | undefined
  /** Returns the last removal of another node that was repeated in this store. Its id is 0 before the first one. */
  repeatedRemoval(): RepeatedRemoval
  /** Stores which removal of another node was repeated last. */
  noteRepeatedRemoval(repeated: RepeatedRemoval): void
}

/** A removal of another node that was repeated. */
export interface RepeatedRemoval {
  id: number
  /** Sequence of the next event at that time, outside the store. */
  next: number
}

interface OwnSpool extends Spool {
  begin(node: number, isMove: boolean): void
  /** Positions of the counters of records, by lane. */
  readonly positions: ReadonlyMap<number, number>
}

export function spoolOf(journal: Journal): OwnSpool {
  const { db } = journal
  /** Last record up to which the engine has every change. */
  let confirmed = shippedRecord(db) ?? 0
  /** The last record and the next sequence at a moment, until the engine has everything up to then. */
  let mark: { record: number; sequence: number } | undefined
  const positions = new Map<number, number>()
  let below = shippedRecord(db) === undefined ? Number.POSITIVE_INFINITY : 0

  function follow(): void {
    const { tails, sequence } = journal.memory
    // A segment that waits may have been sealed before its visits were shipped.
    if (nextUnshipped(db, 0) !== undefined) return
    if (confirmed >= tails.lastRecord) {
      below = sequence
      mark = undefined
      return
    }
    mark ??= { record: tails.lastRecord, sequence }
    if (confirmed < mark.record) return
    below = mark.sequence
    mark = undefined
  }

  return {
    /**
     * Starts the spool of a node with everything that is stored; for a move, which the second engine's copy counts from when it is complete.
     * Throws if another number is part of what was shipped.
     */
    begin(node, isMove) {
      journal.commit(() => begin(db, node, isMove))
      below = 0
    },
    holding() {
      if (shippedRecord(db) !== undefined) return isMoving(db) ? "moving" : "shipped"
      const segment = db.query(`select 1 from segments where kind in (${KINDS}) limit 1`).get()
      return segment === null && journal.memory.tails.lastRecord === 0 ? "none" : "local"
    },
    ownNode: () => readState(db, "joined") || readState(db, "node") || undefined,
    joinAs: (node) => journal.commit(() => writeState(db, "joined", node)),
    nextSequence: () => sharedSequence(journal.memory.sequence, readState(db, "node")),
    lastRecord: () => journal.memory.tails.lastRecord,
    confirmShipped(record, segments, now) {
      journal.append(() => {
        if (record > (shippedRecord(db) ?? 0)) writeState(db, "shipped_record", record)
        const update = db.query("update spool set shipped_at = ? where segment = ? and shipped_at is null")
        for (const segment of segments) update.run(now, segment)
      })
      confirmed = Math.max(confirmed, record)
      follow()
    },
    shipped: async () => {},
    removedElsewhere: async () => {},
    hasUnshippedSegments: () => nextUnshipped(db, 0) !== undefined,
    hasUnshippedVisits: () => db.query("select 1 from spool where shipped_at is null and floor is not null limit 1").get() !== null,
    positions,
    counted: (siteId, kind, sequence) => void positions.set(laneOf(siteId, kind), sequence),
    hasDroppedSpan: (siteId, kind) => droppedSpan(db, siteId, kind) !== undefined,
    setDroppedSpan: (siteId, kind, span) => journal.append(() => setDroppedSpan(db, siteId, kind, span)),
    async shareEventIds(agree) {
      const seed = await agree(readState(db, "event_id_seed"))
      journal.commit(() => journal.memory.eventIds.share(seed))
    },
    unknownEventId(siteId, eventId, now) {
      const { eventIds } = journal.memory
      const id = eventIds.hash(siteId, eventId)
      return eventIds.has(id, now) ? undefined : id
    },
    repeatedRemoval: () => ({ id: readState(db, "repeated_removal"), next: readState(db, "repeated_before") }),
    noteRepeatedRemoval({ id, next }) {
      journal.commit(() => {
        writeState(db, "repeated_removal", id)
        writeState(db, "repeated_before", next)
      })
    },
    shippedBelow() {
      if (below < Number.POSITIVE_INFINITY) follow()
      return below
    },
    unshipped() {
      const { tails } = journal.memory
      const records = tails.lastRecord - (shippedRecord(db) ?? 0)
      const sql = "select coalesce(sum(bytes), 0) as bytes from segments join spool on segment = id where shipped_at is null"
      const { bytes } = db.query<{ bytes: number }, []>(sql).get()! // it returns a row
      return { records, bytes: bytes + (records > 0 ? tails.bytes : 0) }
    },
  }
}

function begin(db: Database, node: number, isMove: boolean): void {
  const known = readState(db, "node")
  if (known !== 0 && known !== node) throw new StoreRefusal("foreign", `The event store is that of node ${known} of another catalog`)
  writeState(db, "node", node)
  if (shippedRecord(db) !== undefined) return
  writeState(db, "shipped_record", 0)
  if (isMove) writeState(db, "moving", 1)
  saveEarlyOpenings(db)
  db.run("create index visitor_ids_ordinal on visitor_ids (site_id, ordinal)")
  db.run(`insert into spool (segment) select id from segments where retired_at is null and kind in (${KINDS})`)
}

/** Ends the spool, in the transaction of the caller. The store is then as if it had never had one. */
export function endSpool(db: Database): void {
  for (const table of ["spool", "openings", "visitor_values", "dropped"]) db.run(`delete from ${table}`)
  const keys = ["shipped_record", "node", "moving", "event_ids_shared", "repeated_removal", "repeated_before"]
  db.query("delete from state where key in (select value from json_each(?))").run(JSON.stringify(keys))
  db.run("drop index visitor_ids_ordinal")
}

/** Returns whether the second engine gets the visits and does not count yet. */
export const isMoving = (db: Database): boolean => readState(db, "moving") === 1

/** Stores how visits of segments were opened that events may still join. A tail that takes one back knows it by its first arrival. */
function saveEarlyOpenings(db: Database): void {
  const sql = "insert or replace into openings (lane, sequence, opening, opened_at, rotating, record) values (?, ?, ?, ?, ?, 0)"
  const save = db.query(sql)
  for (const { lane, sequence, rotating, events } of storedEarlyVisits(db)) {
    const [{ sequence: opening, at }] = events
    save.run(lane, sequence, opening, at, rotating)
  }
}

/** Returns the last record whose changes the second engine has, or undefined when the store has no spool. */
export function shippedRecord(db: Database): number | undefined {
  const sql = "select value from state where key = 'shipped_record'"
  return db.query<{ value: number }, []>(sql).get()?.value
}

/** A segment with visits that the engine may not have. */
interface UnshippedSegment {
  id: number
  /** Last record of the log that concerns one of its visits. Null for a segment of an import. */
  floor: number | null
}

/** Returns the oldest such segment after another one. */
export function nextUnshipped(db: Database, after: number): UnshippedSegment | undefined {
  const sql = "select segment as id, floor from spool where shipped_at is null and segment > ? order by segment limit 1"
  return db.query<UnshippedSegment, [number]>(sql).get(after) ?? undefined
}

/**
 * Adds published segments to the spool and removes those that they replace, in the transaction of the caller. The engine has their visits
 * if it has those of the replaced segments, or every change up to `floor`, the last record that concerns one of the visits.
 */
export function spoolSegments(db: Database, added: readonly number[], retired: readonly number[], now: number, floor?: number): void {
  const shipped = shippedRecord(db)
  if (shipped === undefined) return
  const former = retired.flatMap((id) => removeSegment(db, id) ?? [])
  const waiting = former.filter(({ shipped_at }) => shipped_at === null)
  // The lowest one decides: what the engine has up to a higher one does not include the visits of the others.
  const last = former.length > 0 ? lowestFloor(waiting.length > 0 ? waiting : former) : (floor ?? null)
  const isShipped = former.length > 0 ? waiting.length === 0 : last !== null && last <= shipped
  const add = db.query(
    `insert into spool (segment, floor, shipped_at) select id, ?2, ?3 from segments where id = ?1 and kind in (${KINDS})`,
  )
  for (const id of added) add.run(id, last, isShipped ? now : null)
}

const lowestFloor = (rows: readonly SpoolRow[]): number | null =>
  rows.map(({ floor }) => floor).reduce((a, b) => (a === null || b === null ? null : Math.min(a, b)))

interface SpoolRow {
  floor: number | null
  shipped_at: number | null
}

const removeSegment = (db: Database, id: number): SpoolRow | null =>
  db.query<SpoolRow, [number]>("delete from spool where segment = ? returning floor, shipped_at").get(id)

/** Returns the segments all of whose visits are closed, and which the engine has had since before a moment. */
export function shippedBefore(db: Database, before: number): number[] {
  const sql = "select segment as id from spool join segments on id = segment where shipped_at < ? and open_until is null"
  return db
    .query<{ id: number }, [number]>(sql)
    .all(before)
    .map(({ id }) => id)
}

/** Deletes the openings and values that no segment of the spool needs any more, in the transaction of the caller. */
export function dropUnneeded(db: Database): void {
  const { lowest } = db.query<{ lowest: number | null }, []>("select min(floor) as lowest from spool").get()! // it returns a row
  const shipped = shippedRecord(db) ?? 0
  for (const table of ["openings", "visitor_values"])
    db.query(`delete from ${table} where record < ?`).run(Math.min(lowest ?? shipped, shipped))
}

/** How a visit was opened. It does not change. */
export interface Opening {
  /** Sequence of the event that arrived first. */
  opening: number
  /** Time of that event, epoch ms. */
  openedAt: number
  /** Ordinal of the rotating visitor. */
  rotating: number
}

/** Returns how the visits of a tail were opened, by row. */
export function openingsIn(tail: SiteTail): (row: number) => Opening {
  const { first, at } = tail.firstArrivals()
  return (row) => ({ opening: first[row]!, openedAt: at[row]!, rotating: tail.rotating(row) })
}

/** Of each visit of a new segment: its row in the tail, and the sequence of its first event by time. */
interface BuiltRows {
  rows: Uint32Array
  sequences: Float64Array
}

/**
 * Stores how the visits of a new segment were opened, as far as the segment does not tell: an event with an earlier time may have arrived
 * later, and the visitor may have been identified. Call it in the transaction that stores the segment.
 */
export function saveOpenings(db: Database, tail: SiteTail, built: BuiltRows, opened: (row: number) => Opening, record: number): void {
  const visitors = tail.visit("visitor")
  const sql = "insert or replace into openings (lane, sequence, opening, opened_at, rotating, record) values (?, ?, ?, ?, ?, ?)"
  const save = db.query(sql)
  built.rows.forEach((row, visit) => {
    const sequence = built.sequences[visit]!
    const { opening, openedAt, rotating } = opened(row)
    if (opening !== sequence || rotating !== visitors[row]) save.run(tail.siteId, sequence, opening, openedAt, rotating, record)
  })
}

/** Returns how visits of a segment were opened, by row. */
export function openingsOf(db: Database, lane: number, segment: Part): (row: number) => Opening {
  const find = db.query<Opening, [number, number]>(
    "select opening, opened_at as openedAt, rotating from openings where lane = ? and sequence = ?",
  )
  const [sequences, starts, visitors] = [segment.sequences(), segment.starts(), segment.visit("visitor")]
  return (row) => {
    const known = { opening: sequences[row]!, openedAt: starts[row]!, rotating: visitors[row]! }
    return find.get(lane, known.opening) ?? known
  }
}
