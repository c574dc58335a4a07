import type { Database } from "bun:sqlite"
import { columnRow } from "../bytes/columns.ts"
import { SEGMENT_KINDS, type SegmentKind } from "../bytes/lanes.ts"
import { ColumnCache } from "../cache.ts"
import type { Part } from "../part.ts"
import type { ImportedKind } from "../../../domain/imported.ts"
import { FORMAT, listAllSegments, Segment } from "../segment.ts"
import { readState, writeState } from "../tail/tails.ts"
import { type BuiltSegment, buildSegments, SEGMENT_EVENTS, type Source } from "./build.ts"

/** Small neighbours are joined when a site has this many of them. */
const SMALL_SEGMENTS = 8
const SMALL_EVENTS = SEGMENT_EVENTS / 2
/** Upkeep reads each segment once. */
const CACHE_BYTES = 8 << 20
/** Marks a segment that is written but not yet part of any answer; one that a crash leaves behind goes at the next start. */
const PENDING = 0

const KINDS = SEGMENT_KINDS.map((kind) => `'${kind}'`).join(", ")

/** Marks the visits of a part that are meant with 1. */
export type Choose = (part: Part) => Uint8Array
/** Runs work in one transaction. */
export type Commit = <T>(work: () => T) => T

/** What a segment is beside its rows. */
interface SegmentSort {
  kind: SegmentKind | ImportedKind
  run: number
}

/** Opens a site's segments for upkeep, records and those of all imports included. */
export function openSegments(db: Database, siteId: number): ({ segment: Segment; id: number; kind: SegmentKind } & SegmentSort)[] {
  const cache = new ColumnCache(CACHE_BYTES)
  return listAllSegments(db, siteId).map((row) => ({
    segment: new Segment(row, db, cache),
    id: row.id,
    run: row.run,
    kind: row.kind,
  }))
}

/** Stores a segment that no answer sees yet; each in a transaction of its own, so that none takes long. */
export function insertPending(
  db: Database,
  siteId: number,
  importId: number,
  segment: BuiltSegment,
  { kind, run }: SegmentSort = { kind: "visits", run: 0 },
): number {
  const { columns, header, ...facts } = segment
  const { id } = db
    .query<{ id: number }, Record<string, string | number | Uint8Array>>(`insert into segments
      (site_id, import_id, kind, format, visits, events, min_start, max_start, min_at, max_at, visitor_limit, bytes, header, run, retired_at)
      values ($siteId, $importId, $kind, ${FORMAT}, $visits, $events, $min_start, $max_start, $min_at, $max_at,
        $visitor_limit, $bytes, $header, $run, ${PENDING})
      returning id`)
    .get({ siteId, importId, kind, header, run, ...facts })!
  const insert = db.query("insert into segment_columns (id, data) values (?, ?)")
  for (const { name, data } of columns) insert.run(columnRow(id, name), data)
  return id
}

/** From one generation to the next: pending segments take part, replaced ones no longer do. In the transaction of the caller. */
export function turnGeneration(db: Database, added: readonly number[], retired: readonly number[], now: number): void {
  const add = db.query("update segments set retired_at = null where id = ?")
  for (const id of added) add.run(id)
  const retire = db.query("update segments set retired_at = ? where id = ?")
  for (const id of retired) retire.run(Math.max(now, 1), id)
  writeState(db, "generation", readState(db, "generation") + 1)
}

/**
 * Removes segments that were replaced before a moment, and pending ones that a fault left behind; `most` at a time. In the
 * transaction of the caller. Returns how many.
 */
export function dropRetired(db: Database, before: number, most = -1): number {
  const chosen = "select id from segments where retired_at is not null and retired_at < ? limit ?"
  const moment = Math.min(Math.floor(before), Number.MAX_SAFE_INTEGER)
  const rows = db.query<{ id: number }, [number, number]>(`delete from segments where id in (${chosen}) returning id`).all(moment, most)
  const remove = db.query("delete from segment_columns where id between ? and ?")
  for (const { id } of rows) remove.run(id * 128, id * 128 + 127)
  return rows.length
}

/** The same, one segment a transaction: what is deleted is overwritten, which takes its time. */
export async function dropRetiredInTurn(db: Database, before: number, commit: Commit): Promise<void> {
  while (commit(() => dropRetired(db, before, 1)) > 0) await Bun.sleep(0)
}

/** Builds segments of what stays, and exchanges them for the old ones at once. */
async function rewrite(db: Database, olds: readonly number[], sources: readonly Source[], sort: SegmentSort, now: number, commit: Commit) {
  const { siteId, importId } = sources[0]!.part
  const added: number[] = []
  for await (const segment of buildSegments(sources)) added.push(commit(() => insertPending(db, siteId, importId, segment, sort)))
  return { added, retired: olds, turn: () => turnGeneration(db, added, olds, now) }
}

/** Sites with so many small segments that joining them pays. */
export function mergeableSites(db: Database): number[] {
  const sql = `select distinct site_id as siteId from segments where kind in (${KINDS}) and retired_at is null and events < ${SMALL_EVENTS}
    group by site_id, kind, import_id, run having count(*) >= ${SMALL_SEGMENTS}`
  return db
    .query<{ siteId: number }, []>(sql)
    .all()
    .map(({ siteId }) => siteId)
}

/** Joins runs of small neighbours of one import. */
export async function mergeSite(db: Database, siteId: number, now: number, commit: Commit): Promise<void> {
  const groups = Map.groupBy(openSegments(db, siteId), ({ segment, run, kind }) => `${kind} ${segment.importId} ${run}`)
  for (const segments of groups.values()) {
    if (segments.filter(({ segment }) => segment.events < SMALL_EVENTS).length < SMALL_SEGMENTS) continue
    for (const run of smallRuns(segments)) {
      const sources = run.map(({ segment }) => ({ part: segment }))
      const ids = run.map(({ id }) => id)
      const { turn } = await rewrite(db, ids, sources, run[0]!, now, commit)
      commit(turn)
    }
  }
}

function smallRuns<Each extends { segment: Segment }>(segments: readonly Each[]): Each[][] {
  const runs: Each[][] = [[]]
  let events = 0
  for (const each of segments) {
    const isSmall = each.segment.events < SMALL_EVENTS
    if (!isSmall || events + each.segment.events > SEGMENT_EVENTS) {
      runs.push([])
      events = 0
    }
    if (!isSmall) continue
    runs.at(-1)!.push(each)
    events += each.segment.events
  }
  return runs.filter((run) => run.length > 1)
}

/** Removes chosen visits from all segments of a site that begin before a moment, in one generation. Returns how many. */
export async function eraseVisits(
  db: Database,
  siteId: number,
  choose: Choose,
  startsBefore: number,
  now: number,
  commit: Commit,
): Promise<number> {
  const turns: (() => void)[] = []
  let erased = 0
  for (const { segment, id, run, kind } of openSegments(db, siteId)) {
    if (segment.minStart >= startsBefore) continue
    const keep = choose(segment).map((chosen) => 1 - chosen)
    const count = keep.reduce((sum, kept) => sum + 1 - kept, 0)
    if (count === 0) continue
    erased += count
    const { turn } = await rewrite(db, [id], [{ part: segment, keep }], { kind, run }, now, commit)
    turns.push(turn)
  }
  if (turns.length > 0)
    commit(() => {
      for (const turn of turns) turn()
    })
  return erased
}

/** Removes all segments of an import, or those of one run, with its cursors. In the transaction of the caller. */
export function dropImport(db: Database, siteId: number, importId: number, run: number | undefined, now: number): void {
  turnGeneration(db, [], idsOfImport(db, siteId, importId, run), now)
  const cursors = "delete from import_cursors where import_id = ? and (?2 is null or run = ?2)"
  db.query<unknown, [number, number | null]>(cursors).run(importId, run ?? null)
  if (run === undefined) forgetImportedVisitors(db, importId)
}

/** Forgets which visitor a visitor of the source became. In the transaction of the caller. */
export const forgetImportedVisitors = (db: Database, importId: number): void =>
  void db.query("delete from import_visitors where import_id = ?").run(importId)

function idsOfImport(db: Database, siteId: number, importId: number, run: number | undefined): number[] {
  const sql = "select id from segments where site_id = ? and import_id = ? and (?3 is null or run = ?3) and retired_at is null"
  return db
    .query<{ id: number }, [number, number, number | null]>(sql)
    .all(siteId, importId, run ?? null)
    .map(({ id }) => id)
}
