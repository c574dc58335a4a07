import { type AppliedMigration, type Migration, type MigrationStamp, pendingOf, StoreRefusal } from "../migrations.ts"
import { type Clickhouse, ClickhouseFault } from "./client.ts"
import visits from "./migrations/0001_visits.sql" with { type: "text" }
import totals from "./migrations/0002_totals.sql" with { type: "text" }
import drops from "./migrations/0003_drops.sql" with { type: "text" }
import dropSamples from "./migrations/0004_drop_samples.sql" with { type: "text" }
import ingestMinutes from "./migrations/0005_ingest_minutes.sql" with { type: "text" }
import userIds from "./migrations/0006_user_ids.sql" with { type: "text" }
import eventIds from "./migrations/0007_event_ids.sql" with { type: "text" }
import closed from "./migrations/0008_closed.sql" with { type: "text" }

/**
 * Lets the server delete replaced parts ten seconds after a merge or deletion instead of eight minutes, so that an erasure ends soon. The
 * default protects merged parts that are not on disk yet, so they are synced.
 */
const forgetParts = (table: string): Migration => ({
  name: `0009_old_parts_of_${table}`,
  sql: `alter table ${table} modify setting old_parts_lifetime = 10, min_rows_to_fsync_after_merge = 1`,
})

/** The migrations of the schema, in order. Each is one statement that can be repeated, because changes of a schema have no transactions. */
export const MIGRATIONS: readonly Migration[] = [
  { name: "0001_visits", sql: visits },
  { name: "0002_totals", sql: totals },
  { name: "0003_drops", sql: drops },
  { name: "0004_drop_samples", sql: dropSamples },
  { name: "0005_ingest_minutes", sql: ingestMinutes },
  { name: "0006_user_ids", sql: userIds },
  { name: "0007_event_ids", sql: eventIds },
  { name: "0008_closed", sql: closed },
  ...["drop_samples", "drops", "ingest_minutes", "totals", "user_ids", "visits"].map(forgetParts),
]

const OWNER = "core"
const RECORDED = `create table if not exists migrations (
  name String, version String, applied_at Int64
) engine = ReplacingMergeTree order by name settings fsync_after_insert = 1, fsync_part_directory = 1`

/**
 * Applies the migrations that the server does not have yet. Throws `StoreRefusal` when a newer version wrote the schema, or when a
 * migration fails. Only one node at a time may do this.
 */
export async function migrateClickhouse(clickhouse: Clickhouse, { version, now }: MigrationStamp): Promise<void> {
  await clickhouse.run(RECORDED)
  const sql = "select name, argMax(version, applied_at) as version from migrations group by name order by name"
  const applied = (await clickhouse.rows<Omit<AppliedMigration, "owner">>(sql)).map((row) => ({ owner: OWNER, ...row }))
  for (const { name, sql } of pendingOf([{ owner: OWNER, migrations: MIGRATIONS }], applied, version)) {
    await clickhouse.run(sql).catch((error) => Promise.reject(toRefusal(error, name)))
    const parameters = { name, version, now }
    await clickhouse.run("insert into migrations select {name:String}, {version:String}, {now:Int64}", { parameters })
  }
}

function toRefusal(error: unknown, name: string): unknown {
  if (!(error instanceof ClickhouseFault) || error.code === undefined) return error
  return new StoreRefusal("migration", `The migration ${name} of ClickHouse failed: ${error.message}`)
}
