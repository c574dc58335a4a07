import type { Database } from "bun:sqlite"
import { groupRow } from "../bytes/columns.ts"
import { laneOf, SEGMENT_KINDS, type SegmentKind } from "../bytes/lanes.ts"
import { ColumnCache } from "../cache.ts"
import { hideAgain, lastTaken, readTakenVisits } from "../early-visits.ts"
import type { LaterCommit } from "../journal.ts"
import { withoutTaken } from "../masked-part.ts"
import type { Part } from "../part.ts"
import { FORMAT, listAllSegmentIds, Segment, type SegmentChoice, segmentById } from "../segment.ts"
import { spoolSegments } from "../spool/spool.ts"
import { runStepsYielding } from "../steps.ts"
import { dropMostSums, dropSums } from "../tables/month-sums.ts"
import { dropMostSales, dropSales, salesOfVisits } from "../tables/sales.ts"
import { readState, writeState } from "../tail/tails.ts"
import { buildSegments, SEGMENT_EVENTS, type Source, type StoredSegment } from "./build.ts"
import type { Candidates } from "./candidates.ts"

/** Number of small segments of a site from which merging is worthwhile. */
const SMALL_SEGMENTS = 8
const SMALL_EVENTS = SEGMENT_EVENTS / 2
/** Size of the column cache. It is small, because upkeep reads each segment once. */
const CACHE_BYTES = 8 << 20
/** `retired_at` of a segment that is written but not published yet. One that a crash leaves behind is deleted at the next start. */
const PENDING = 0

const KINDS = SEGMENT_KINDS.map((kind) => `'${kind}'`).join(", ")

/** Returns a mask with 1 for each chosen visit of a part, whose visits are records in a part of another kind. */
export type Choose = (part: Part, kind: SegmentKind) => Uint8Array

/** Properties of a segment that do not depend on its rows. */
interface SegmentOptions {
  kind: SegmentKind
  /** Run of the import that wrote the segment; 0 for a native one. */
  run: number
  /** Until when visits can be taken back, epoch ms; absent when all of them are closed. */
  openUntil?: number | undefined
}

interface OpenSegment extends SegmentOptions {
  segment: Segment
  /** The segment without the visits that were taken back. */
  part: Part
  id: number
}

/**
 * Opens a site's segments for upkeep, records and those of all imports included: those that exist at the first step, each when it is reached,
 * because opening thousands of them holds the thread. Only upkeep replaces segments, one operation after another.
 */
export function* openSegments(db: Database, siteId: number, choice: SegmentChoice = {}): Generator<OpenSegment> {
  const cache = new ColumnCache(CACHE_BYTES, false)
  const ids = listAllSegmentIds(db, siteId, choice)
  const taken = listAllSegmentIds(db, siteId, { ...choice, isOpen: true }).length > 0 ? readTakenVisits(db) : undefined
  for (const id of ids) {
    const { run, kind, ...row } = segmentById(db, id)
    const segment = new Segment({ ...row, run, kind }, db, cache)
    const part = taken ? withoutTaken(segment, taken.of(laneOf(siteId, kind))) : segment
    yield { segment, part, id, run, kind, openUntil: segment.openUntil }
  }
}

/** Stores a segment that readers do not see yet. Call it in one transaction per segment, so that transactions stay short. */
export function insertPending(
  db: Database,
  siteId: number,
  importId: number,
  segment: StoredSegment,
  { kind, run, openUntil }: SegmentOptions = { kind: "visits", run: 0 },
): number {
  const { groups, header, visits, events, min_start, max_start, min_at, max_at, visitor_limit, bytes } = segment
  const facts = { visits, events, min_start, max_start, min_at, max_at, visitor_limit, bytes }
  const { id } = db
    .query<{ id: number }, Record<string, string | number | Uint8Array | null>>(`insert into segments
      (site_id, import_id, kind, format, visits, events, min_start, max_start, min_at, max_at, visitor_limit, bytes, header, run, open_until,
      retired_at)
      values ($siteId, $importId, $kind, ${FORMAT}, $visits, $events, $min_start, $max_start, $min_at, $max_at,
        $visitor_limit, $bytes, $header, $run, $openUntil, ${PENDING})
      returning id`)
    .get({ siteId, importId, kind, header, run, openUntil: openUntil ?? null, ...facts })!
  const insert = db.query("insert into segment_columns (id, data) values (?, ?)")
  for (const { group, data } of groups) insert.run(groupRow(id, group), data)
  return id
}

/**
 * Makes pending segments visible to readers and hides replaced ones, in the caller's transaction. `floor` is the last record of the log
 * that concerns a visit of the added segments, if they do not come from others.
 */
export function publishSegments(db: Database, added: readonly number[], retired: readonly number[], now: number, floor?: number): void {
  spoolSegments(db, added, retired, now, floor)
  const chosen = "id in (select value from json_each(?))"
  db.query(`update segments set retired_at = null where ${chosen}`).run(JSON.stringify(added))
  db.query(`update segments set retired_at = ? where ${chosen}`).run(Math.max(now, 1), JSON.stringify(retired))
  if (retired.length > 0) dropSums(db, JSON.stringify(retired))
  writeState(db, "generation", readState(db, "generation") + 1)
}

/**
 * Deletes segments that were replaced before a moment, and pending ones that a failure left behind, at most `limit` of them (-1 for
 * all), in the caller's transaction. Returns their number.
 */
export function dropRetired(db: Database, before: number, limit = -1): number {
  const chosen = "select id from segments where retired_at is not null and retired_at < ? limit ?"
  const moment = Math.min(Math.floor(before), Number.MAX_SAFE_INTEGER)
  const rows = db.query<{ id: number }, [number, number]>(`delete from segments where id in (${chosen}) returning id`).all(moment, limit)
  const remove = db.query("delete from segment_columns where id between ? and ?")
  for (const { id } of rows) remove.run(id * 128, id * 128 + 127)
  return rows.length
}

/** The same with one transaction per segment, because deleted rows are overwritten, which takes time. */
export async function dropRetiredInTurn(db: Database, before: number, commit: LaterCommit): Promise<void> {
  while ((await commit(() => dropRetired(db, before, 1))) > 0) await Bun.sleep(0)
}

/** Builds segments from the sources. Returns a function that replaces the old segments with them, in the caller's transaction. */
export async function rewrite(
  db: Database,
  oldIds: readonly number[],
  sources: readonly Source<Part>[],
  options: SegmentOptions,
  now: number,
  commit: LaterCommit,
): Promise<() => void> {
  const added = await rebuilt(db, sources, options, commit)
  return () => publishSegments(db, added, oldIds, now)
}

/** Builds and stores segments from the sources, which readers do not see yet. Returns their ids. */
async function rebuilt(db: Database, sources: readonly Source<Part>[], options: SegmentOptions, commit: LaterCommit): Promise<number[]> {
  const added: number[] = []
  for await (const segment of buildSegments(sources)) {
    const { siteId, importId } = sources[0]!.part
    added.push(await commit(() => insertPending(db, siteId, importId, segment, options)))
  }
  return added
}

/** Lists the sites with so many small segments that merging is worthwhile. */
export function mergeableSites(db: Database): number[] {
  const sql = `select distinct site_id as siteId from segments where kind in (${KINDS}) and retired_at is null and events < ${SMALL_EVENTS}
    and open_until is null group by site_id, kind, import_id, run having count(*) >= ${SMALL_SEGMENTS}`
  return db
    .query<{ siteId: number }, []>(sql)
    .all()
    .map(({ siteId }) => siteId)
}

/** Merges runs of small adjacent segments of the same import. */
export async function mergeSite(db: Database, siteId: number, now: number, commit: LaterCommit): Promise<void> {
  const closed = [...openSegments(db, siteId)].filter(({ openUntil }) => openUntil === undefined)
  const groups = Map.groupBy(closed, ({ segment, run, kind }) => `${kind} ${segment.importId} ${run}`)
  for (const segments of groups.values()) {
    if (segments.filter(({ segment }) => segment.events < SMALL_EVENTS).length < SMALL_SEGMENTS) continue
    for (const run of smallRuns(segments)) {
      const sources = run.map(({ segment }) => ({ part: segment }))
      const ids = run.map(({ id }) => id)
      await commit(await rewrite(db, ids, sources, run[0]!, now, commit))
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

/** What to remove from the segments of a site. */
interface Removal {
  choose: Choose
  /** Only segments that begin before are read, epoch ms. */
  startsBefore: number
  now: number
  /** Receives what the removed visits referred to. */
  candidates: Candidates
}

/** Number of segments from which visits are removed above which it takes less time to examine all texts of the site. */
const MAX_READ = 64

/**
 * Removes chosen visits from all segments of a site, all at the same time. Returns their number, and whether the candidates include what all
 * of them referred to.
 */
export async function eraseVisits(
  db: Database,
  siteId: number,
  { choose, startsBefore, now, candidates }: Removal,
  commit: LaterCommit,
): Promise<{ visits: number; hasCandidates: boolean }> {
  const [added, retired]: [number[], number[]] = [[], []]
  const sales: number[] = []
  let visits = 0
  const taken = lastTaken(db)
  for (const { segment, part, id, run, kind, openUntil } of openSegments(db, siteId, { startsBefore })) {
    await Bun.sleep(0)
    const chosen = choose(part, kind)
    const count = chosen.reduce((sum, each) => sum + each, 0)
    await Bun.sleep(0)
    // Visits that were taken back may be among the erased ones in the tail, so they must not remain in the file.
    if (count === 0 && part === segment) continue
    visits += count
    if (count > 0 && retired.length < MAX_READ) await runStepsYielding(candidates.add(part, chosen))
    if (kind === "visits") for (const sequence of await salesOfVisits(db, part, chosen)) sales.push(sequence)
    const rest = count === part.visits ? [] : [{ part, keep: chosen.map((each) => 1 - each) }]
    for (const built of await rebuilt(db, rest, { kind, run, openUntil }, commit)) added.push(built)
    retired.push(id)
  }
  const hasCandidates = retired.length <= MAX_READ
  if (retired.length === 0) return { visits, hasCandidates }
  const rest = await dropMostSales(db, sales, commit)
  await dropMostSums(db, retired, commit)
  await commit(() => {
    publishSegments(db, added, retired, now)
    hideAgain(db, taken)
    dropSales(db, rest)
  })
  return { visits, hasCandidates }
}

/** Removes all segments of an import, or those of one run, with its cursors, in the caller's transaction. */
export function dropImport(db: Database, siteId: number, importId: number, run: number | undefined, now: number): void {
  publishSegments(db, [], idsOfImport(db, siteId, importId, run), now)
  const cursors = "delete from import_cursors where import_id = ?1 and (?2 is null or run = ?2)"
  db.query<unknown, [number, number | null]>(cursors).run(importId, run ?? null)
  if (run === undefined) forgetImportedVisitors(db, importId)
  else db.query("delete from import_visitors where import_id = ? and run = ?").run(importId, run)
}

/** Longer than any hash of a visitor, so that it follows all that begin with the same prefix. */
const LAST_HASH = Buffer.alloc(64, 0xff)

/**
 * Forgets which visitors the visitors of a source became whose hash begins with a prefix in hex, at most `limit` of them (-1 for all), in
 * the caller's transaction. Returns their number.
 */
export function forgetImportedVisitors(db: Database, importId: number, { prefix = "", limit = -1 } = {}): number {
  const first = Buffer.from(prefix, "hex")
  const chosen = "select key from import_visitors where import_id = ?1 and key >= ?2 and key < ?3 limit ?4"
  const sql = `delete from import_visitors where import_id = ?1 and key in (${chosen})`
  return db.query<unknown, [number, Buffer, Buffer, number]>(sql).run(importId, first, Buffer.concat([first, LAST_HASH]), limit).changes
}

/** Gives the segments of runs up to a completed one its first number, and deletes the cursors of the others, in the caller's transaction. */
export function joinRuns(db: Database, importId: number, lastRun: number): void {
  db.query("update segments set run = 1 where import_id = ?1 and run between 2 and ?2").run(importId, lastRun)
  db.query("delete from import_cursors where import_id = ?1 and run < ?2").run(importId, lastRun)
}

/** Forgets the cursors and visitors of all imports of a site, in the caller's transaction. */
export function forgetImports(db: Database, siteId: number): void {
  const ofSite =
    "select import_id from import_cursors where site_id = ?1 union select import_id from segments where site_id = ?1 and import_id > 0"
  db.query(`delete from import_visitors where import_id in (${ofSite})`).run(siteId)
  db.query("delete from import_cursors where site_id = ?").run(siteId)
}

function idsOfImport(db: Database, siteId: number, importId: number, run: number | undefined): number[] {
  const sql = "select id from segments where site_id = ?1 and import_id = ?2 and (?3 is null or run = ?3) and retired_at is null"
  return db
    .query<{ id: number }, [number, number, number | null]>(sql)
    .all(siteId, importId, run ?? null)
    .map(({ id }) => id)
}
