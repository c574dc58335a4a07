/** The servers of an instance whose events are on ClickHouse, for scripts that start the program: ClickHouse as a library, and two libSQL servers. */
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { type LibsqlServer, libsqlServer } from "../test/fakes/libsql-server.ts"
import { startClickhouse, type TestServer } from "../test/store/clickhouse/server.ts"

export interface ClickhouseServers extends AsyncDisposable {
  /** Flags of every command of an instance that uses the servers. */
  flags: readonly string[]
  clickhouse: TestServer
  /** Returns how often ClickHouse has the event of each number, see `numbered-events.ts`. */
  storedNumbers(siteId: number): Promise<Map<number, number>>
}

/** Starts the servers with their data in a folder. `settings` are further settings of the instance. */
export async function startServers(folder: string, settings: Readonly<Record<string, string>> = {}): Promise<ClickhouseServers> {
  const clickhouse = await startClickhouse()
  const [catalog, rows] = [await libsqlServer(join(folder, "catalog")), await libsqlServer(join(folder, "rows"))]
  const { url, user, password, database } = clickhouse.server
  const all = {
    ...{
      catalog_url: catalog.url,
      rows_url: rows.url,
      secret_key: Buffer.from(crypto.getRandomValues(new Uint8Array(32))).toString("base64"),
    },
    ...{ clickhouse_url: url, clickhouse_user: user, clickhouse_password: password, clickhouse_database: database },
    ...settings,
  }
  const config = join(folder, "footfall.toml")
  const lines = Object.entries(all).map(([key, value]) => `${key} = ${JSON.stringify(value)}\n`)
  writeFileSync(config, lines.join(""))
  return {
    flags: [`--config=${config}`],
    clickhouse,
    async storedNumbers(siteId) {
      const sql = `select arrayJoin(\`r.amount\`) as number, toUInt32(count()) as times from visits final
        where site_id = {site:UInt32} group by number`
      const found = await clickhouse.clickhouse.rows<{ number: string; times: number }>(sql, { parameters: { site: siteId } })
      return new Map(found.map(({ number, times }) => [Number(number), times]))
    },
    async [Symbol.asyncDispose]() {
      for (const server of [catalog, rows, clickhouse] satisfies (LibsqlServer | TestServer)[]) await server[Symbol.asyncDispose]()
    },
  }
}
