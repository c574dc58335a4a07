/**
 * What changes of the counters and stored user ids of a node. A second engine gets it, which has those of all nodes. Nothing is recorded
 * before `beginTallyChanges`.
 */
import type { Database } from "bun:sqlite"
import { hashOf } from "../dictionary/hash-table.ts"
import { translateErrors } from "../fault.ts"
import type { Journal } from "../journal.ts"
import type { DropSample, Hash64 } from "../writer.ts"
import { type DropRow, listDropSamples } from "./drops.ts"
import type { IngestMinute } from "./tallies.ts"

interface Changed {
  site_id: number
  /** Grows with each change of the row. */
  version: number
}

/** Rows that have changed, as they are now. */
export interface TallyChanges {
  /** Number of the last of these changes. */
  last: number
  drops: (DropRow & Changed)[]
  minutes: (IngestMinute & Changed)[]
  /** All dropped events that are kept for a site, newest first. */
  samples: (Changed & { samples: readonly DropSample[] })[]
  /** Stored user ids by person key; null for one that was deleted. */
  userIds: (Changed & { key: Hash64; userId: string | null })[]
}

export interface ChangedTallies {
  /** Records from now on what changes, beginning with everything that is stored. Call it at each start. */
  beginTallyChanges(): void
  /** Returns the next changes. Undefined when there are none. */
  tallyChanges(limit: number): TallyChanges | undefined
  /** Makes everything that is stored of a site part of the next changes. */
  repeatTallies(siteId: number): Promise<void>
  /** Forgets changes up to a number. What is forgotten again in a power failure is returned once more. */
  forgetTallyChanges(last: number): void
}

export function tallyChangesOf(journal: Journal): ChangedTallies {
  const { db } = journal
  return {
    beginTallyChanges: () => journal.commit(() => begin(db)),
    tallyChanges: (limit) => translateErrors(() => listChanges(db, limit)),
    repeatTallies: (siteId) => repeatTallies(journal, siteId),
    forgetTallyChanges: (last) => journal.append(() => db.query("delete from tally_changes where id <= ?").run(last)),
  }
}

/** A table whose rows are followed. Rows that disappear because they are old do so in the second engine as well. */
interface Followed {
  table: string
  /** Expressions that identify a row within its site. */
  key: readonly [string, string, string]
  events: readonly ("insert" | "update" | "delete")[]
  /** Column without which a row does not count. Other changes of the row are not recorded. */
  value?: string
}

const FOLLOWED: readonly Followed[] = [
  { table: "drops", key: ["row.day", "row.reason", "row.entry"], events: ["insert", "update"] },
  { table: "ingest_minutes", key: ["row.minute", "row.outcome", "''"], events: ["insert", "update"] },
  { table: "drop_samples", key: ["''", "''", "''"], events: ["insert"] },
  { table: "identities", key: ["row.person_key", "''", "''"], events: ["insert", "update", "delete"], value: "user_id" },
]

function begin(db: Database): void {
  if (isFollowing(db)) return
  // Numbers are never used again, also when an earlier engine was given up.
  db.run(`create table if not exists tally_changes (
    id integer primary key autoincrement, source text not null, site_id integer not null, a any not null, b any not null, c any not null
  ) strict`)
  db.run("create index if not exists tally_changes_row on tally_changes (site_id, source, a, b, c)")
  for (const followed of FOLLOWED) {
    recordStored(db, followed)
    for (const event of followed.events) db.run(triggerOf(followed, event))
  }
}

const isFollowing = (db: Database): boolean =>
  db.query("select 1 from sqlite_schema where type = 'trigger' and name = 'drops_changed_by_insert'").get() !== null

/** Records nothing any more, in the transaction of the caller. */
export function endTallyChanges(db: Database): void {
  if (!isFollowing(db)) return
  for (const { table, events } of FOLLOWED) for (const event of events) db.run(`drop trigger ${table}_changed_by_${event}`)
  db.run("delete from tally_changes")
}

/** Records all rows of a table, or those that satisfy a condition. */
function recordStored(db: Database, { table, key, value }: Followed, condition = "true"): void {
  db.run(`insert into tally_changes (source, site_id, a, b, c)
    select distinct '${table}', site_id, ${key.join(", ")} from ${table} as row ${value ? `where ${value} is not null and` : "where"} ${condition}`)
}

function triggerOf({ table, key, value }: Followed, event: Followed["events"][number]): string {
  const row = event === "delete" ? "old" : "new"
  const [a, b, c] = key.map((expression) => expression.replace("row.", `${row}.`))
  const condition = { insert: `new.${value} is not null`, update: `new.${value} is not old.${value}`, delete: `old.${value} is not null` }[
    event
  ]
  return `create trigger ${table}_changed_by_${event} after ${event} on ${table} ${value ? `when ${condition}` : ""} begin
    delete from tally_changes where site_id = ${row}.site_id and source = '${table}' and a = ${a} and b = ${b} and c = ${c};
    insert into tally_changes (source, site_id, a, b, c) values ('${table}', ${row}.site_id, ${a}, ${b}, ${c});
  end`
}

/** Deletes the counters of a site, and records its stored user ids again. */
export async function forgetTallies(journal: Journal, siteId: number): Promise<void> {
  const { db } = journal
  journal.append(() => {
    for (const table of ["drops", "drop_samples"]) db.query(`delete from ${table} where site_id = ?`).run(siteId)
    if (!isFollowing(db)) return
    db.query("delete from tally_changes where site_id = ?").run(siteId)
    for (const followed of FOLLOWED.filter(({ value }) => value)) recordStored(db, followed, `site_id = ${siteId}`)
  })
  await inMinutes(journal, (condition) => db.run(`delete from ingest_minutes where site_id = ${siteId} and ${condition}`))
}

/** Records everything that is stored of a site. What is recorded twice is returned twice. */
async function repeatTallies(journal: Journal, siteId: number): Promise<void> {
  const minutes = FOLLOWED.find(({ table }) => table === "ingest_minutes")!
  const { db } = journal
  const ofSite = `site_id = ${siteId}`
  journal.append(() => {
    for (const followed of FOLLOWED) if (followed !== minutes) recordStored(db, followed, ofSite)
  })
  await inMinutes(journal, (condition) => recordStored(db, minutes, `${ofSite} and ${condition}`))
}

/** Number of minutes whose counts are read in one transaction. They are in the order of time. */
const SLICE = 1_440

/** Runs work on all minutes, in slices that are conditions. */
async function inMinutes(journal: Journal, work: (condition: string) => unknown): Promise<void> {
  const span = "select min(minute) as first, max(minute) as last from ingest_minutes"
  const { first, last } = journal.db.query<{ first: number | null; last: number | null }, []>(span).get()! // it returns a row
  for (let from = first ?? 0; first !== null && from <= last!; from += SLICE) {
    journal.append(() => work(`minute between ${from} and ${from + SLICE - 1}`))
    await Bun.sleep(0)
  }
}

function listChanges(db: Database, limit: number): TallyChanges | undefined {
  const latest = "select max(id) as last from (select id from tally_changes order by id limit ?)"
  const { last } = db.query<{ last: number | null }, [number]>(latest).get(limit)! // it returns a row
  if (last === null) return undefined
  const changed = <Row>(columns: string, source: string, join: string): (Row & Changed)[] =>
    db
      .query<Row & Changed, [string, number]>(
        `select change.id as version, change.site_id, ${columns} from tally_changes as change ${join} where source = ? and change.id <= ?`,
      )
      .all(source, last)
  const sites = changed<object>("'' as none", "drop_samples", "")
  const userIds = changed<{ key: Uint8Array; userId: string | null }>(
    "a as key, user_id as userId",
    "identities",
    "left join identities as row on row.site_id = change.site_id and person_key = a",
  )
  return {
    last,
    drops: changed<DropRow>(
      "day, reason, entry, count",
      "drops",
      "cross join drops as row on row.site_id = change.site_id and day = a and reason = b and entry = c",
    ),
    minutes: changed<IngestMinute>(
      "minute, outcome, count",
      "ingest_minutes",
      "cross join ingest_minutes as row on minute = a and row.site_id = change.site_id and outcome = b",
    ),
    samples: sites.map(({ site_id, version }) => ({ site_id, version, samples: listDropSamples(db, site_id) })),
    userIds: userIds.map(({ key, ...row }) => ({ ...row, key: hashOf(key) })),
  }
}
