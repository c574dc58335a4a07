/**
 * What a store has dropped because a second engine has it: its time span, and what it still refers to. Texts, people and sales of these
 * visits stay in the store until the visits are removed from the engine.
 */
import type { Database } from "bun:sqlite"
import type { DictionaryName } from "../../../domain/dimension.ts"
import { laneOf, type SegmentKind } from "../bytes/lanes.ts"
import { ColumnCache } from "../cache.ts"
import { Segment, segmentById } from "../segment.ts"

/** Times of the first and the last event, epoch ms. */
export interface TimeSpan {
  firstAt: number
  lastAt: number
}

/** What the engine has of a site. */
export interface Elsewhere {
  /**
   * Returns the function that tells whether a visit refers to a text of a dictionary. For the values of a property, `key` is its key.
   */
  texts(siteId: number, name: DictionaryName, key?: string): Promise<(text: string) => boolean>
  /** Returns those of some visitors, given by number, who have a visit. */
  visitors(siteId: number, numbers: readonly number[]): Promise<ReadonlySet<number>>
}

/** The same for a store, which knows visitors by ordinal. */
export interface ElsewhereOf extends Pick<Elsewhere, "texts"> {
  /** Returns those of some visitors who have a visit. */
  visitors(siteId: number, ordinals: readonly number[]): Promise<readonly number[]>
}

/** Returns the span of a kind, or undefined when nothing of it was dropped. */
export function droppedSpan(db: Database, siteId: number, kind: SegmentKind): TimeSpan | undefined {
  const sql = "select first_at as firstAt, last_at as lastAt from dropped where site_id = ? and kind = ?"
  return db.query<TimeSpan, [number, string]>(sql).get(siteId, kind) ?? undefined
}

/** Stores the span of a kind as the engine knows it, in the transaction of the caller. */
export function setDroppedSpan(db: Database, siteId: number, kind: SegmentKind, span: TimeSpan | undefined): void {
  db.query("delete from dropped where site_id = ? and kind = ?").run(siteId, kind)
  if (span) db.query("insert into dropped values (?, ?, ?, ?)").run(siteId, kind, span.firstAt, span.lastAt)
}

/** Extends the spans by segments that are about to be dropped, in the transaction of the caller. Imports do not count. */
export function addToDropped(db: Database, segments: readonly number[]): void {
  db.query(`insert into dropped select site_id, kind, min(min_start), max(max_at) from segments
    where id in (select value from json_each(?)) and import_id = 0 group by site_id, kind
    on conflict do update set first_at = min(first_at, excluded.first_at), last_at = max(last_at, excluded.last_at)`).run(
    JSON.stringify(segments),
  )
}

/** Returns the segments without those of records that are not in the counters of their area. `counted` are positions by lane. */
export function withoutUncounted(db: Database, segments: readonly number[], counted: ReadonlyMap<number, number>): number[] {
  const cache = new ColumnCache(1 << 20, false)
  return segments.filter((id) => {
    const row = segmentById(db, id)
    if (row.kind === "visits" || row.import_id > 0) return true
    const last = new Segment(row, db, cache).sequences().reduce((highest, sequence) => Math.max(highest, sequence), 0)
    return last <= (counted.get(laneOf(row.site_id, row.kind)) ?? -1)
  })
}
