import type { Database } from "bun:sqlite"
import type { Counter, DropReason } from "../../../domain/event.ts"
import type { DropSample } from "../writer.ts"

/** Entries (hosts, pages, rules …) told apart per site, day and reason; more are counted together. */
const ENTRIES = 100
const OTHER = "(other)"
/** Dropped events kept to be shown, per site. */
const SAMPLES = 100

/** Counts of one group commit, gathered so that a flood of drops costs one row a reason. */
export class DropCounts {
  readonly #counts = new Map<string, { siteId: number; day: string; reason: string; entry: string; count: number }>()
  readonly #samples = new Map<number, DropSample[]>()

  /** Under the reason as a whole and, where told, under the entry that caused it. */
  add(siteId: number, day: string, reason: DropReason | Counter, entry?: string, count = 1): void {
    this.#count(siteId, day, reason, "", count)
    if (entry) this.#count(siteId, day, reason, entry, count)
  }

  sample(siteId: number, sample: DropSample): void {
    const samples = this.#samples.get(siteId)
    if (!samples) this.#samples.set(siteId, [sample])
    else if (samples.length < SAMPLES) samples.push(sample)
  }

  /** In the transaction of the caller. */
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
  return count < ENTRIES
}

function saveSamples(db: Database, siteId: number, samples: readonly DropSample[]): void {
  const insert = db.query(`insert into drop_samples (site_id, at, reason, hostname, page, browser, country) values (?, ?, ?, ?, ?, ?, ?)`)
  for (const { at, reason, hostname, page, browser, country } of samples) {
    insert.run(siteId, at, reason, hostname, page, browser, country)
  }
  db.query(`delete from drop_samples where site_id = ? and id <= (
    select id from drop_samples where site_id = ? order by id desc limit 1 offset ${SAMPLES})`).run(siteId, siteId)
}

export interface DropRow {
  day: string
  reason: DropReason | Counter
  /** "" is the reason as a whole. */
  entry: string
  count: number
}

/** Counts of a site from one local day to another, both included. */
export function listDrops(db: Database, siteId: number, from: string, to: string): DropRow[] {
  const sql = `select day, reason, entry, count from drops
    where site_id = ? and day between ? and ? order by day, reason, count desc, entry`
  return db.query<DropRow, [number, string, string]>(sql).all(siteId, from, to)
}

/** The youngest first. */
export function listDropSamples(db: Database, siteId: number): DropSample[] {
  const sql = `select at, reason, hostname, page, browser, country from drop_samples where site_id = ? order by id desc limit ${SAMPLES}`
  return db.query<DropSample, [number]>(sql).all(siteId)
}

/** The youngest first, of all sites. */
export function latestDropSamples(db: Database, reason: DropReason | undefined, limit: number): (DropSample & { site_id: number })[] {
  const sql = `select site_id, at, reason, hostname, page, browser, country from drop_samples
    where $reason is null or reason = $reason order by id desc limit $limit`
  return db.query<DropSample & { site_id: number }, Record<string, string | number | null>>(sql).all({ reason: reason ?? null, limit })
}

/** Forgets counts and counted new values of days before this one. */
export function forgetDays(db: Database, before: string): void {
  db.query("delete from drops where day < ?").run(before)
  db.query("delete from new_values where day < ?").run(before)
}
