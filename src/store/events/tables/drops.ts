import type { Database } from "bun:sqlite"
import type { Counter, DropReason } from "../../../domain/event.ts"
import { compareCodePoints } from "../../../domain/text.ts"
import type { DropSample } from "../writer.ts"

/** Maximum number of entries (hosts, pages, rules) per site, day and reason. Further ones are counted as `(other)`. */
const MAX_ENTRIES = 100
const OTHER = "(other)"
/** Number of dropped events that are kept for display per site. */
const MAX_SAMPLES = 100

/** The drop counts of one group commit, summed up so that many drops of one reason write one row. */
export class DropCounts {
  readonly #counts = new Map<string, { siteId: number; day: string; reason: string; entry: string; count: number }>()
  readonly #samples = new Map<number, DropSample[]>()

  /** Counts drops under their reason and, if given, under the entry that caused them. */
  add(siteId: number, day: string, reason: DropReason | Counter, entry?: string, count = 1): void {
    this.#count(siteId, day, reason, "", count)
    if (entry) this.#count(siteId, day, reason, entry, count)
  }

  sample(siteId: number, sample: DropSample): void {
    const samples = this.#samples.get(siteId)
    if (!samples) this.#samples.set(siteId, [sample])
    else if (samples.length < MAX_SAMPLES) samples.push(sample)
  }

  /** Writes the counts and samples in the caller's transaction. */
  save(db: Database): void {
    for (const { siteId, day, reason, entry, count } of this.#counts.values()) {
      const isKnown = entry === "" || hasRoom(db, siteId, day, reason, entry)
      db.query(`insert into drops (site_id, day, reason, entry, count) values (?, ?, ?, ?, ?)
        on conflict do update set count = count + excluded.count`).run(siteId, day, reason, isKnown ? entry : OTHER, count)
    }
    for (const [siteId, samples] of this.#samples) saveSamples(db, siteId, samples)
  }

  #count(siteId: number, day: string, reason: string, entry: string, count: number): void {
    const key = `${siteId} ${day} ${reason} ${entry}`
    const row = this.#counts.get(key)
    if (row) row.count += count
    else this.#counts.set(key, { siteId, day, reason, entry, count })
  }
}

function hasRoom(db: Database, siteId: number, day: string, reason: string, entry: string): boolean {
  const where = "from drops where site_id = ? and day = ? and reason = ?"
  if (db.query(`select 1 ${where} and entry = ?`).get(siteId, day, reason, entry)) return true
  const { count } = db
    .query<{ count: number }, [number, string, string]>(`select count(*) as count ${where} and entry <> ''`)
    .get(siteId, day, reason)!
  return count < MAX_ENTRIES
}

function saveSamples(db: Database, siteId: number, samples: readonly DropSample[]): void {
  const insert = db.query(`insert into drop_samples (site_id, at, reason, hostname, page, browser, country) values (?, ?, ?, ?, ?, ?, ?)`)
  for (const { at, reason, hostname, page, browser, country } of samples) {
    insert.run(siteId, at, reason, hostname, page, browser, country)
  }
  db.query(`delete from drop_samples where site_id = ? and id <= (
    select id from drop_samples where site_id = ? order by id desc limit 1 offset ${MAX_SAMPLES})`).run(siteId, siteId)
}

export interface DropRow {
  day: string
  reason: DropReason | Counter
  /** Empty for the total of the reason. */
  entry: string
  count: number
}

/** Lists the drop counts of a site between two local days, both inclusive. */
export function listDrops(db: Database, siteId: number, from: string, to: string): DropRow[] {
  const sql = `select day, reason, entry, count from drops
    where site_id = ? and day between ? and ?`
  return db.query<DropRow, [number, string, string]>(sql).all(siteId, from, to).sort(byDayAndCount)
}

/** Compares rows by day, by reason and by count, the largest first. */
export const byDayAndCount = (a: DropRow, b: DropRow): number =>
  compareCodePoints(a.day, b.day) || compareCodePoints(a.reason, b.reason) || b.count - a.count || compareCodePoints(a.entry, b.entry)

/** Lists the dropped events of a site, newest first. */
export function listDropSamples(db: Database, siteId: number): DropSample[] {
  const sql = `select at, reason, hostname, page, browser, country from drop_samples where site_id = ? order by id desc limit ${MAX_SAMPLES}`
  return db.query<DropSample, [number]>(sql).all(siteId)
}

/** Lists the dropped events of all sites, newest first. */
export function latestDropSamples(db: Database, reason: DropReason | undefined, limit: number): (DropSample & { site_id: number })[] {
  const sql = `select site_id, at, reason, hostname, page, browser, country from drop_samples
    where $reason is null or reason = $reason order by id desc limit $limit`
  return db.query<DropSample & { site_id: number }, Record<string, string | number | null>>(sql).all({ reason: reason ?? null, limit })
}

/** Deletes the drop counts and the counts of new values of days before one. */
export function forgetDays(db: Database, before: string): void {
  db.query("delete from drops where day < ?").run(before)
  db.query("delete from new_values where day < ?").run(before)
}
