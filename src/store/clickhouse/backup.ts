/** Backups that ClickHouse makes of its own tables. */
import { type Clickhouse, ClickhouseFault } from "./client.ts"

/** What the tables of an instance had in a backup. */
export interface BackedUp {
  bytes: number
}

const TABLES = ["visits", "totals", "migrations"]
/** Table into which a part of the backup is restored, to see whether it can be read. */
const RESTORED = "migrations_of_backup"
/** Time for what the server copies before it answers. */
const CHECK_MS = 600_000
const POLL_MS = 500

/** Where ClickHouse writes a backup: an expression such as `S3('https://…/{name}', 'key', 'secret')`, in which `{name}` is replaced. */
export const destinationOf = (place: string, name: string): string => place.replaceAll("{name}", name)

/**
 * Makes a backup and reads its smallest table again. Resolves when the backup is complete. Throws the failure of the server, whose message
 * does not contain the destination.
 */
export async function backUpTables(clickhouse: Clickhouse, destination: string, signal?: AbortSignal): Promise<BackedUp> {
  const tables = TABLES.map((name) => `table ${name}`).join(", ")
  const [begun] = await clickhouse.rows<{ id: string }>(`backup ${tables} to ${destination} async`)
  const made = await completed(clickhouse, begun!.id, signal) // it returns a row
  await clickhouse.run(`drop table if exists ${RESTORED}`)
  try {
    await clickhouse.run(`restore table migrations as ${RESTORED} from ${destination}`, { timeoutMs: CHECK_MS })
    const [compared] = await clickhouse.rows<{ lost: string }>(`select toString(count()) as lost from migrations
      where name not in (select name from ${RESTORED})`)
    if (compared!.lost !== "0") throw new ClickhouseFault(undefined, "the backup lacks rows") // a count is a row
  } finally {
    await clickhouse.run(`drop table if exists ${RESTORED}`)
  }
  return made
}

/** Waits for a backup that goes on after its statement. */
async function completed(clickhouse: Clickhouse, id: string, signal?: AbortSignal): Promise<BackedUp> {
  const sql = "select toString(status) as status, error, toString(total_size) as bytes from system.backups where id = {id:String}"
  for (; ; await Bun.sleep(POLL_MS)) {
    signal?.throwIfAborted()
    const [found] = await clickhouse.rows<{ status: string; error: string; bytes: string }>(sql, { parameters: { id } })
    if (found?.status === "BACKUP_CREATED") return { bytes: Number(found.bytes) }
    if (found?.status !== "CREATING_BACKUP") throw faultOf(found?.error)
  }
}

/** Converts the text of a failure. A server that has restarted knows nothing of the backup any more. */
function faultOf(error = "the backup was interrupted"): ClickhouseFault {
  const [message] = error.split(", Stack trace")
  const code = /^Code: (\d+)/.exec(error)?.[1]
  return new ClickhouseFault(code === undefined ? undefined : Number(code), message!)
}
