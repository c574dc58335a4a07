import { afterAll, beforeAll, expect, test } from "bun:test"
import { join } from "node:path"
import { DuckDBInstance } from "@duckdb/node-api"
import { startInstance, type TestInstance, temporaryFolder } from "../../kit.ts"

const EXPORT = "/api/public/v1/sites/1/export"
const MINUTE = 60_000
let instance: TestInstance
let key: string

beforeAll(async () => {
  instance = await startInstance({ now: "2026-11-21T12:00:00Z" })
  key = await instance.makeKey(["export:read"])
  const { app, clock, collect, site } = instance
  await app.instance.goals.create(site, { kind: "event", value: "Buy" })
  const at = (path: string, more: object = {}) => ({ n: "pageview", u: `https://shop.example${path}`, d: "shop.example", ...more })
  await collect(at("/a?utm_source=News", { t: "=1+1", l: "de-DE", tz: "Europe/Berlin" }))
  clock.advance(1_500)
  await collect(at("/a", { n: "engagement", e: 1_200, sd: 60 }))
  await collect(at("/b", { n: "Buy", p: { plan: 'pro "2"', seats: "3" }, $: { currency: "EUR", amount: "9.90" } }))
  clock.advance(MINUTE)
  await collect(at("/ü", { n: "-1+1", i: false }), { address: "198.51.100.8" })
})
afterAll(() => instance[Symbol.asyncDispose]())

async function load(query: string, { as = key, method = "GET" } = {}) {
  const answer = await instance.fetch(
    new Request(`http://localhost${EXPORT}?${query}`, { method, headers: { authorization: `Bearer ${as}` } }),
  )
  return { status: answer.status, headers: answer.headers, bytes: new Uint8Array(await answer.arrayBuffer()) }
}

const linesOf = (bytes: Uint8Array) =>
  new TextDecoder()
    .decode(bytes)
    .split("\n")
    .filter(Boolean)
    .map((line) => JSON.parse(line) as Record<string, unknown>)

test("an export since the header of the last one contains the visits that have ended in between", async () => {
  const first = await load("type=visits&format=ndjson&since=2000-01-01T00:00:00Z")
  expect(first.headers.get("x-next-since")).toBe("2026-11-21T11:31:00.500Z")
  expect(linesOf(first.bytes)).toEqual([])
  instance.clock.advance(30 * MINUTE)
  const second = await load(`type=visits&format=ndjson&since=${first.headers.get("x-next-since")}`)
  expect(linesOf(second.bytes)).toMatchObject([{ started_at: "2026-11-21T12:00:00Z", events: 2 }])
  instance.clock.advance(2 * MINUTE)
  const third = await load(`type=events&format=json&since=${second.headers.get("x-next-since")}`)
  expect(third.headers.get("content-disposition")).toBe('attachment; filename="1-events-until-2026-11-21T120300500Z.json"')
  expect(JSON.parse(new TextDecoder().decode(third.bytes))).toMatchObject({
    since: "2026-11-21T12:01:00.500Z",
    next_since: "2026-11-21T12:03:00.500Z",
    data: [{ at: "2026-11-21T12:01:01.500Z", name: "-1+1", page: "/ü", position: 1 }],
  })
  const last = await load("type=visits&since=2026-11-21T12:03:00.5Z", { method: "HEAD" })
  expect([last.headers.get("x-next-since"), last.bytes.length]).toEqual(["2026-11-21T12:03:00.500Z", 0])
})

test("a filter limits an incremental export", async () => {
  const filters = encodeURIComponent('[{"dimension":"country","values":["DE"]}]')
  const { bytes } = await load(`type=visits&format=ndjson&since=2000-01-01T00:00:00Z&filters=${filters}`)
  expect(linesOf(bytes).map(({ country }) => country)).toEqual(["DE"])
})

test.each([
  ["type=visits&since=yesterday", [["/since", "invalid_date"]]],
  ["type=visits&since=2026-11-21", [["/since", "invalid_date"]]],
  ["type=visits&since=", [["/since", "too_short"]]],
  ["type=page&since=2026-11-21T12:00:00Z", [["/since", "unsupported_combination"]]],
  ["type=events&since=2026-11-21T12:00:00Z&period=7d", [["/period", "unsupported_combination"]]],
  [
    "type=events&since=2026-11-21T12:00:00Z&from=2026-11-20&to=2026-11-21",
    [
      ["/from", "unsupported_combination"],
      ["/to", "unsupported_combination"],
    ],
  ],
] as const)("rejects ?%s", async (query, faults) => {
  const { status, bytes } = await load(query)
  const { errors } = JSON.parse(new TextDecoder().decode(bytes)) as { errors: { pointer: string; code: string }[] }
  expect({ status, faults: errors.map(({ pointer, code }) => [pointer, code]) }).toEqual({
    status: 400,
    faults: faults.map((one) => [...one]),
  })
})

/** Reads a Parquet file with DuckDB. Times are texts, and missing values are left out, as in NDJSON. */
async function readParquet(bytes: Uint8Array): Promise<{ rows: Record<string, unknown>[]; types: Record<string, string>; facts: unknown }> {
  using folder = temporaryFolder()
  const path = join(folder.path, "export.parquet")
  await Bun.write(path, bytes)
  const database = await DuckDBInstance.create()
  const connection = await database.connect()
  const all = async (sql: string) => (await connection.runAndReadAll(sql)).getRowObjectsJson()
  await connection.run("set timezone = 'UTC'")
  const described = await all(`describe select * from '${path}'`)
  const types = Object.fromEntries(described.map(({ column_name, column_type }) => [String(column_name), String(column_type)]))
  const metadata = await all(`select decode(value) as value from parquet_kv_metadata('${path}') where decode(key) = 'footfall'`)
  const rows = (await all(`select * from '${path}'`)).map((row) =>
    Object.fromEntries(Object.entries(row).flatMap((cell) => plain(types, cell))),
  )
  connection.closeSync()
  database.closeSync()
  return { rows, types, facts: JSON.parse(String(metadata[0]?.value)) }
}

function plain(types: Record<string, string>, [name, cell]: [string, unknown]): [string, unknown][] {
  if (cell === null) return []
  if (types[name] === "BIGINT") return [[name, Number(cell)]]
  if (types[name] === "JSON") return [[name, JSON.parse(String(cell)) as unknown]]
  if (!types[name]?.startsWith("TIMESTAMP")) return [[name, cell]]
  const text = new Date(`${String(cell).replace(" ", "T").replace(/\+00$/, "")}Z`).toISOString()
  return [[name, name === "at" ? text : text.replace(".000Z", "Z")]]
}

test.each([
  "type=events&period=today",
  "type=visits&period=today",
  "type=visits&since=2000-01-01T00:00:00Z",
  "type=timeseries&period=today&metrics=visitors,bounce_rate,revenue",
  "type=goals&period=today",
  "type=country&period=today&metrics=visits,bounce_rate",
  "type=events&period=yesterday",
  "type=page&period=yesterday",
])("a Parquet file has the rows of NDJSON: %s", async (query) => {
  const { status, headers, bytes } = await load(`${query}&format=parquet`)
  expect([status, headers.get("content-type")]).toEqual([200, "application/vnd.apache.parquet"])
  const expected = linesOf((await load(`${query}&format=ndjson`)).bytes)
  const { rows } = await readParquet(bytes)
  expect(rows).toEqual(expected)
  expect(rows.length > 0).toBe(!query.includes("yesterday"))
})

test("a Parquet file has typed columns and says what it covers", async () => {
  const { types, facts } = await readParquet((await load("type=events&since=2000-01-01T00:00:00Z&format=parquet")).bytes)
  expect(types).toMatchObject({
    ...{ at: "TIMESTAMP WITH TIME ZONE", name: "VARCHAR", interactive: "BOOLEAN", revenue_amount: "DOUBLE", props: "JSON" },
    ...{ position: "BIGINT", engaged_ms: "BIGINT", import_id: "BIGINT" },
  })
  expect(facts).toEqual({ since: "2000-01-01T00:00:00.000Z", next_since: "2026-11-21T12:03:00.500Z" })
})
