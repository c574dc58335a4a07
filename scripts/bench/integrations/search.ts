/** Search data: the back-fill from a fake of the Search Console API over HTTP, the report on it, and its size on disk. */
import { Database } from "bun:sqlite"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { google } from "../../../test/fakes/google.ts"
import { searchConsole } from "../../../test/fakes/search-console.ts"
import { FROM_SOURCE, prepareSite, prepareUser, serveFootfall } from "../../instance.ts"
import { type Client, signedIn } from "../people/writes.ts"
import { DAY_MS } from "../stores/reports.ts"
import { count, ms, table } from "../table.ts"
import { timed } from "../timing.ts"

/** Rows of a day by detail: 10,000 in all. */
const ROWS = { "date,page": 1_500, "date,country,device": 500, "date,query,page": 8_000 } as const
const ROWS_A_DAY = Object.values(ROWS).reduce((sum: number, one) => sum + one, 0)
const [QUERIES, PAGES] = [60_000, 5_000]
/** Days of 16 months. */
const ALL_DAYS = 487
const PROPERTY = "sc-domain:shop.example"

/** `days` below 487 answers older days without data, and scales the bars down. */
export async function measureSearch({ days, end }: { days: number; end: number }): Promise<void> {
  const dataDir = mkdtempSync(join(tmpdir(), "footfall-bench-"))
  const fake = await google({ now: Date.now })
  try {
    const api = searchConsole(fake)
    api.properties = [{ siteUrl: PROPERTY, permissionLevel: "siteOwner" }]
    const first = new Date(end - (days - 1) * DAY_MS).toISOString().slice(0, 10)
    api.rows = ({ startDate, dimensions }) => (startDate < first ? [] : rowsOf(startDate, dimensions.join()))
    await prepareUser(FROM_SOURCE, dataDir)
    const site = await prepareSite(FROM_SOURCE, dataDir)
    // A service account needs no client at Google.
    const urls = Object.entries(fake.settings).filter(([name]) => !name.startsWith("google_client_"))
    const flags = urls.flatMap(([name, value]) => [`--${name.replaceAll("_", "-")}`, value])
    await using server = await serveFootfall({ dataDir, flags })
    const client = await signedIn(server.address, site.siteId)
    const rows: (string | number)[][] = []
    const add = (name: string, figure: number, bar: number) => rows.push([name, ms(figure), ms(bar), figure <= bar ? "yes" : "no"])

    const seconds = await backfill(client, fake.serviceAccount())
    add(`back-fill of ${days} days, seconds`, seconds, (600 * days) / ALL_DAYS)
    const to = new Date(end).toISOString().slice(0, 10)
    const from28 = new Date(end - 27 * DAY_MS).toISOString().slice(0, 10)
    for (const group of ["query", "page", "country"]) {
      const report = (from: string) => timed(() => client.send("GET", `/search-console/report?group_by=${group}&from=${from}&to=${to}`))
      add(`report of 28 days by ${group}, ms`, (await report(from28)).median, 100)
      add(`report of ${days} days by ${group}, ms`, (await report(first)).median, 2_000)
    }
    add("bytes a row beyond the texts", bytesPerRow(dataDir, days * ROWS_A_DAY), 48)
    console.log(`\n### Search data, ${count(days)} days of ${count(ROWS_A_DAY)} rows\n`)
    console.log(table(["What", "Figure", "Bar", "Bar met"], rows))
  } finally {
    await fake[Symbol.asyncDispose]()
    rmSync(dataDir, { recursive: true, force: true })
  }
}

/** Connects a service account, maps the property and waits for the first run. Returns its duration in seconds. */
async function backfill(client: Client, service_account: object): Promise<number> {
  const { id } = await client.send<{ id: number }>("POST", "/integrations/search-console/connect", { service_account })
  const from = performance.now()
  const mapping = await client.send<{ id: number }>("PUT", "/integrations/search-console/mapping", {
    integration_id: id,
    property: PROPERTY,
  })
  for (;;) {
    await Bun.sleep(500)
    const { next_run_at, last_error } = await client.send<{ next_run_at: string; last_error: object | null }>(
      "GET",
      `/integrations/${mapping.id}`,
    )
    if (last_error) throw new Error(`The back-fill failed: ${JSON.stringify(last_error)}`)
    if (Date.parse(next_run_at) > Date.now()) return (performance.now() - from) / 1_000
  }
}

/** Returns the size of all pages of the tables and their indexes without the stored texts, per row. */
function bytesPerRow(dataDir: string, rows: number): number {
  using db = new Database(join(dataDir, "events.db"), { readonly: true })
  const size = (sql: string): number => (db.query(sql).get() as { n: number }).n // an aggregate has one row
  const pages = size("select sum(pgsize) as n from dbstat where name like '%integrations_search_%'")
  return (pages - size("select sum(length(cast(value as blob))) as n from integrations_search_terms")) / rows
}

/** Returns the rows of a day, in a mixture that the day decides. Popular texts appear every day, rare ones now and then. */
function rowsOf(day: string, dimensions: string): object[] {
  const seed = Bun.hash.wyhash(day)
  const count = dimensions === "date" ? 1 : ROWS[dimensions as keyof typeof ROWS]
  const random = generator(Number(seed % 2_147_483_647n))
  const rare = (size: number): number => Math.floor(size * random() ** 2)
  return Array.from({ length: count }, (_, i) => {
    const impressions = 1 + Math.floor(200 * random() ** 4)
    const clicks = Math.floor(impressions * random() * 0.2)
    return { keys: keysOf(day, dimensions, i, rare), clicks, impressions, ctr: clicks / impressions, position: 1 + 40 * random() }
  })
}

function keysOf(day: string, dimensions: string, i: number, rare: (size: number) => number): string[] {
  const page = (n: number) => `https://shop.example/products/category-${n % 50}/a-product-with-a-longer-name-${n}`
  if (dimensions === "date,page") return [day, page((3 * i) % PAGES)]
  if (dimensions === "date,country,device") return [day, COUNTRIES[i % COUNTRIES.length]!, DEVICES[i % 3]!]
  if (dimensions === "date,query,page") return [day, `a query of several words ${rare(QUERIES)}`, page(rare(PAGES))]
  return [day]
}

const COUNTRIES = ["deu", "usa", "fra", "gbr", "esp", "ita", "nld", "bra", "jpn", "pol"]
const DEVICES = ["MOBILE", "DESKTOP", "TABLET"]

/** A small linear congruential generator. */
function generator(seed: number): () => number {
  let state = seed % 2_147_483_647 || 1
  return () => {
    state = (state * 48_271) % 2_147_483_647
    return state / 2_147_483_647
  }
}
