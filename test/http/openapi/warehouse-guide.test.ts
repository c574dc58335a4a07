import { afterAll, beforeAll, expect, test } from "bun:test"
import { chmodSync } from "node:fs"
import { join } from "node:path"
import { DuckDBInstance } from "@duckdb/node-api"
import { loadingJob } from "../../../src/http/openapi/page/warehouse-guide.ts"
import { LISTENING } from "../../../src/http/server.ts"
import { startInstance, type TestInstance, temporaryFolder } from "../../kit.ts"

/** The hourly job of the guide runs as it is shown, with the DuckDB of the package. */

const MINUTE = 60_000
let instance: TestInstance
let server: ReturnType<typeof Bun.serve>
let key: string
const folder = temporaryFolder()
beforeAll(async () => {
  instance = await startInstance()
  server = Bun.serve({ ...LISTENING, port: 0, hostname: "127.0.0.1", fetch: (request, peers) => instance.app.fetch(request, peers) })
  key = await instance.makeKey(["export:read"])
  const shim = join(folder.path, "duckdb")
  await Bun.write(shim, `#!/bin/sh\nexec "${process.execPath}" "${join(import.meta.dir, "duckdb-cli.ts")}" "$@"\n`)
  chmodSync(shim, 0o755)
  await Bun.write(join(folder.path, "job.sh"), loadingJob(`http://127.0.0.1:${server.port}/api/public/v1`))
})
afterAll(async () => {
  await server.stop(true)
  await instance[Symbol.asyncDispose]()
  folder[Symbol.dispose]()
})

async function runJob(): Promise<void> {
  const env = { ...process.env, KEY: key, PATH: `${folder.path}:${process.env.PATH}` }
  const job = Bun.spawn(["sh", "-e", "job.sh"], { cwd: folder.path, env, stdout: "inherit", stderr: "pipe" })
  const errors = await new Response(job.stderr).text()
  expect({ code: await job.exited, errors }).toEqual({ code: 0, errors: "" })
}

const since = () => Bun.file(join(folder.path, "since")).text()

/** Reads the keys and a text of the rows in the warehouse. */
async function warehouse(table: "visits" | "events"): Promise<string[]> {
  const database = await DuckDBInstance.create(join(folder.path, "footfall.duckdb"))
  const connection = await database.connect()
  const columns = table === "visits" ? "visit, entry_page, events" : "visit, position, name, page"
  const rows = (await connection.runAndReadAll(`select ${columns} from ${table} order by all`)).getRows()
  connection.closeSync()
  database.closeSync()
  return rows.map(String)
}

const visit = (path: string, address: string) =>
  instance.collect({ n: "pageview", u: `https://shop.example${path}`, d: "shop.example" }, { address })

test("loads each visit and event once, also after an interruption", async () => {
  await runJob()
  expect([await warehouse("visits"), await warehouse("events")]).toEqual([[], []])
  await visit("/a", "198.51.100.1")
  await visit("/b", "198.51.100.2")
  await visit("/c", "198.51.100.2")
  instance.clock.advance(31 * MINUTE)
  await visit("/open", "198.51.100.3")
  const first = await since()
  await runJob()
  const loaded = { visits: await warehouse("visits"), events: await warehouse("events") }
  expect({ visits: loaded.visits.length, events: loaded.events.length }).toEqual({ visits: 2, events: 3 })
  expect(await since()).not.toBe(first)
  // A job that was interrupted before it saved the new time loads the same rows again.
  await Bun.write(join(folder.path, "since"), first)
  await runJob()
  expect({ visits: await warehouse("visits"), events: await warehouse("events") }).toEqual(loaded)

  await visit("/late", "198.51.100.3")
  instance.clock.advance(60 * MINUTE)
  await runJob()
  expect((await warehouse("visits")).length).toBe(3)
  expect((await warehouse("events")).length).toBe(5)
})
