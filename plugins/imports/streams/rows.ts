import { type OwnStatements, raw, type Sql, sql } from "#plugin"
import type { DayRules } from "../days.ts"

/** Statements on the table of streams. */

/** A row of `imports_streams`. It exists from the first run of its import until this is undone, or fails at its first run. */
export interface StreamRow {
  site_id: number
  stream: string
  import_id: number
  /** A `Coverage`. */
  covered_json: string
  /** Last completed run; 0 before the first one. */
  run: number
  /** A `PendingRun` while one more run is in progress. The first run is that of the import. */
  pending_json: string | null
  key_secret_id: number | null
  salts_secret_id: number | null
  salts_expire_at: number | null
  waiting_since: number | null
}

/** A run that extends a completed import, and its staged source. */
export interface PendingRun {
  folder: string
  files: readonly { name: string; bytes: number }[]
  options: Readonly<Record<string, unknown>>
  /** Fixed when the run starts. */
  rules?: DayRules
}

/** Returns the run in progress that extends a stream. */
export const pendingOf = (stream: Pick<StreamRow, "pending_json"> | undefined): PendingRun | undefined =>
  stream?.pending_json == null ? undefined : (JSON.parse(stream.pending_json) as PendingRun) // written with the run

const COLUMNS = raw(
  "site_id, stream, import_id, covered_json, run, pending_json, key_secret_id, salts_secret_id, salts_expire_at, waiting_since",
)
const MAX_ROWS = 500

export const insertStream = (
  statements: OwnStatements,
  row: Pick<StreamRow, "site_id" | "stream" | "import_id" | "covered_json" | "key_secret_id">,
): Promise<void> =>
  statements.run(sql`
    insert into imports_streams (site_id, stream, import_id, covered_json, key_secret_id)
    values (${row.site_id}, ${row.stream}, ${row.import_id}, ${row.covered_json}, ${row.key_secret_id})`)

export const streamByName = (statements: OwnStatements, siteId: number, stream: string): Promise<StreamRow | undefined> =>
  statements.get(sql`select ${COLUMNS} from imports_streams where site_id = ${siteId} and stream = ${stream}`)

export const streamOfImport = (statements: OwnStatements, importId: number): Promise<StreamRow | undefined> =>
  statements.get(sql`select ${COLUMNS} from imports_streams where import_id = ${importId}`)

/** Returns the streams of a site after a name. */
export async function streamsOfSite(statements: OwnStatements, siteId: number): Promise<StreamRow[]> {
  const all: StreamRow[] = []
  for (;;) {
    const after = all.at(-1)?.stream ?? ""
    const rows = await statements.all<StreamRow>(sql`
      select ${COLUMNS} from imports_streams where site_id = ${siteId} and stream > ${after} order by stream limit ${MAX_ROWS}`)
    all.push(...rows)
    if (rows.length < MAX_ROWS) return all
  }
}

/** Returns streams whose oldest salt is due to be destroyed. */
export const streamsWithExpiredSalts = (statements: OwnStatements, now: number): Promise<StreamRow[]> =>
  statements.all(sql`select ${COLUMNS} from imports_streams where salts_expire_at <= ${now} limit ${MAX_ROWS}`)

/** Returns streams without a run in progress whose open visits have waited since a time. */
export const streamsWaitingSince = (statements: OwnStatements, time: number): Promise<StreamRow[]> =>
  statements.all(sql`
    select ${COLUMNS} from imports_streams where waiting_since <= ${time} and pending_json is null and run > 0 limit ${MAX_ROWS}`)

/** Returns streams with a run in progress, by import. */
export const pendingStreams = (statements: OwnStatements, after: number): Promise<StreamRow[]> =>
  statements.all(sql`
    select ${COLUMNS} from imports_streams where pending_json is not null and import_id > ${after} order by import_id limit ${MAX_ROWS}`)

export type StreamChange = Partial<Omit<StreamRow, "site_id" | "stream" | "import_id">>

export async function updateStream(statements: OwnStatements, importId: number, change: StreamChange): Promise<void> {
  const sets = Object.entries(change).map(([name, value]) => sql`${raw(name)} = ${value}`)
  const [first, ...others] = sets
  if (!first) return
  const list = others.reduce<Sql>((all, one) => sql`${all}, ${one}`, first)
  await statements.run(sql`update imports_streams set ${list} where import_id = ${importId}`)
}

export const deleteStream = (statements: OwnStatements, importId: number): Promise<void> =>
  statements.run(sql`delete from imports_streams where import_id = ${importId}`)
