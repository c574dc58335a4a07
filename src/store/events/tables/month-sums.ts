import type { Database } from "bun:sqlite"
import type { Journal, LaterCommit } from "../journal.ts"

/**
 * Sums of months, which query workers compute and the writer stores for the next start. They are about segments that exist, take a small
 * share of the space of their events, and can be lost at any time: then they are computed again.
 */
export interface MonthSums {
  /** Stores sums, unless a segment of the month was replaced meanwhile. Nothing depends on it, so a failure has no consequence. */
  storeSums(sums: NewSums): void
}

export interface NewSums extends SumsKey {
  siteId: number
  /** The segments of the month. */
  segments: readonly number[]
  /** Number of their events. */
  events: number
  data: Uint8Array
}

export interface SumsKey {
  /** Name of the month, which differs for other segments. */
  month: string
  /** The kind of sums, such as those of a query. */
  name: string
  /** The visitors of the month who can also be elsewhere, by which the sums were made. */
  crossing: string
}

/** Name of what is kept of the visitors of a month. */
export const VISITORS = "visitors"

/** Space for the sums of a month, for each of its events. The latest sums remain. */
const BYTES_PER_EVENT = 0.3

export const monthSumsOf = (journal: Journal, version: string): MonthSums => ({
  storeSums(sums) {
    const write = () => {
      try {
        journal.append(() => store(journal.db, sums, version))
      } catch {}
    }
    if (journal.held) void journal.free().then(write)
    else write()
  },
})

function store(db: Database, { siteId, month, segments, events, name, crossing, data }: NewSums, version: string): void {
  const monthId = idOf(db, month) ?? insertMonth(db, { siteId, month, segments }, version)
  if (monthId === undefined) return
  const sql = "insert or replace into month_sums (month_id, name, crossing, data) values (?, ?, ?, ?)"
  db.query(sql).run(monthId, name, crossing, data)
  dropOldest(db, monthId, events * BYTES_PER_EVENT)
}

const idOf = (db: Database, month: string): number | undefined =>
  db.query<{ id: number }, [string]>("select id from summed_months where name = ?").get(month)?.id

/** Inserts a month and returns its id, or undefined if one of its segments is no longer in use. */
function insertMonth(db: Database, { siteId, month, segments }: Pick<NewSums, "siteId" | "month" | "segments">, version: string) {
  const ids = JSON.stringify(segments)
  const unused = "select 1 from json_each(?) where not exists (select 1 from segments where id = value and retired_at is null)"
  if (db.query(unused).get(ids) !== null) return undefined
  dropSums(db, ids)
  const sql = "insert into summed_months (site_id, name, segments, version) values (?, ?, ?, ?) returning id"
  return db.query<{ id: number }, [number, string, string, string]>(sql).get(siteId, month, ids, version)!.id // it returns a row
}

/** Deletes the oldest sums of a month beyond a number of bytes. What all sums depend on remains. */
function dropOldest(db: Database, monthId: number, limit: number): void {
  const sql = `select id, length(data) as bytes from month_sums where month_id = ? order by name = '${VISITORS}' desc, id desc`
  let total = 0
  for (const { id, bytes } of db.query<{ id: number; bytes: number }, [number]>(sql).all(monthId)) {
    total += bytes
    if (total > limit) db.query("delete from month_sums where id = ?").run(id)
  }
}

/** Returns stored sums, if there are any. */
export function findSums(db: Database, { month, name, crossing }: SumsKey): Uint8Array | undefined {
  const sql = `select data from month_sums s join summed_months m on m.id = s.month_id
    where m.name = ? and s.name = ? and s.crossing = ?`
  return db.query<{ data: Uint8Array }, [string, string, string]>(sql).get(month, name, crossing)?.data
}

/** Returns the names of the stored sums of a month, the latest first, without what all of them depend on. */
export function namesOfSums(db: Database, month: string): string[] {
  const sql = `select s.name from month_sums s join summed_months m on m.id = s.month_id
    where m.name = ? and s.name <> '${VISITORS}' order by s.id desc`
  return db
    .query<{ name: string }, [string]>(sql)
    .all(month)
    .map(({ name }) => name)
}

/** Chooses the months that contain one of some segments, given as a JSON array. */
const OF_SEGMENTS = `from summed_months where site_id in (select site_id from segments where id in (select value from json_each(?1)))
  and exists (select 1 from json_each(segments) where value in (select value from json_each(?1)))`

/** Deletes the sums of the months that contain one of some segments, given as a JSON array, in the caller's transaction. */
export function dropSums(db: Database, segments: string): void {
  db.query(`delete ${OF_SEGMENTS}`).run(segments)
}

/**
 * Deletes the sums of the months that contain one of some segments, month by month, before the transaction that replaces the segments.
 * Deleted rows are overwritten, which takes time for many months. That transaction deletes those that are stored meanwhile.
 */
export async function dropMostSums(db: Database, segments: readonly number[], commit: LaterCommit): Promise<void> {
  const months = db.query<{ id: number }, [string]>(`select id ${OF_SEGMENTS}`).all(JSON.stringify(segments))
  for (const { id } of months) {
    await commit(() => db.query("delete from summed_months where id = ?").run(id))
    await Bun.sleep(0)
  }
}

/** Deletes the sums of other versions of the code that computes them, whose figures may be others, in the caller's transaction. */
export const dropForeignSums = (db: Database, version: string): void =>
  void db.query("delete from summed_months where version <> ?").run(version)
