/**
 * The process that `kill-import.ts` kills: a whole instance on a data folder, without a web server. Prints lines of JSON: the phases of
 * jobs as they begin, and what the site holds.
 * `bun scripts/reliability/import-run.ts <data folder> prepare|import|fetch|refunds|undo|finish <JSON of Connected>`
 */
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync, writeSync } from "node:fs"
import { join } from "node:path"
import { unzipSync } from "fflate"
import { loadConfig } from "../../config/load.ts"
import { version } from "../../package.json" with { type: "json" }
import { plugins } from "../../plugins/index.ts"
import { type App, createApp } from "../../src/app.ts"
import { sql } from "../../src/store/sql.ts"

/** What a site holds of an import. */
export interface ImportState {
  /** State of the import, or "none" before it. */
  state: string
  /** Hash of everything that answers show: visits with their events, totals and definitions. */
  shown: string
  visits: number
  /** Rows of totals. */
  totals: number
  definitions: number
  /** Hash of the transactions, which follow an import after it is shown. */
  sold: string
  transactions: number
  /** Files in the staging folder. */
  staged: number
}

/** The fake of Google that an import fetches reports from. */
export interface Connected {
  settings: Record<string, string>
  /** Key of a service account. */
  key: Record<string, string>
  property: string
  from: string
  to: string
}

const [dataDir = "", action = "", given = ""] = Bun.argv.slice(2)
const connected = JSON.parse(given) as Connected // written by kill-import.ts
const say = (line: object) => writeSync(1, `${JSON.stringify(line)}\n`)
const quiet = { debug() {}, info() {}, warn() {}, error: console.error }
const worker = (path: string) => new URL(`../../src/${path}`, import.meta.url).href

async function openApp(): Promise<App> {
  const flags = { ...connected.settings, data_dir: dataDir }
  const { config, described } = loadConfig({ flags, environment: {}, workingDirectory: dataDir, plugins })
  const app = await createApp({
    ...{ config, described, plugins, version, log: quiet, clock: { now: Date.now, monotonic: () => performance.now() } },
    random: (bytes) => crypto.getRandomValues(new Uint8Array(bytes)),
    workers: {
      query: worker("query/engine/worker.ts"),
      backup: worker("services/backup/worker.ts"),
      plugin: worker("plugin-worker.ts"),
      hash: worker("services/sign-in/hash-worker.ts"),
      shipping: worker("services/shipping/worker.ts"),
      network: worker("services/shipping/network-worker.ts"),
      rows: worker("store/rows/worker.ts"),
    },
  })
  await app.instance.outbox.start()
  return app
}

async function runCommand({ operations }: App, name: string, given: Record<string, string>, rest: string[] = []): Promise<void> {
  await operations["plugin.run"]({ name, given: { site: "1", ...given }, rest, folder: dataDir }, () => {})
}

/** Product events are turned into jobs that run about a second later. */
const SOON_MS = 1_500

/** Runs the jobs and prints their phases as they begin. Also runs the jobs that follow from their product events. */
async function work({ instance: { jobs, outbox } }: App): Promise<void> {
  for (const { id } of await jobs.list({ state: "queued" }, { before: Number.MAX_SAFE_INTEGER, limit: 10 })) {
    let phase = ""
    jobs.watch(id, ({ progress }) => {
      if (!progress || progress.phase === phase) return
      phase = progress.phase
      say({ phase })
    })
  }
  for (;;) {
    await jobs.drain()
    await outbox.deliver()
    const queued = await jobs.list({ state: "queued" }, { before: Number.MAX_SAFE_INTEGER, limit: 10 })
    if (!queued.some(({ run_at }) => run_at < Date.now() + SOON_MS)) break
    await Bun.sleep(SOON_MS)
  }
  say({ phase: "end" })
}

async function stateOf(app: App): Promise<ImportState> {
  const imports = await app.instance.catalog.all<{ state: string }>(sql`select state from imports_imports`)
  const path = join(dataDir, "look.zip")
  rmSync(path, { force: true })
  await app.operations["site.export"]({ id: "1", path })
  const files = unzipSync(readFileSync(path))
  rmSync(path)
  const lines = (name: string) => new TextDecoder().decode(files[name]).split("\n").filter(Boolean)
  const visits = lines("visits.ndjson").map((line) => JSON.parse(line) as { visitor: string })
  // Visitors have other names in each archive, so they are numbered in the order of their first visits.
  const numbers = new Map<string, number>()
  const numbered = visits.map((visit) => {
    if (!numbers.has(visit.visitor)) numbers.set(visit.visitor, numbers.size)
    return JSON.stringify({ ...visit, visitor: numbers.get(visit.visitor) })
  })
  const definitions = ["goals", "funnels", "segments", "annotations"].map((name) => {
    const things = JSON.parse(lines(`${name}.json`).join("\n")) as { name?: string; text?: string }[]
    return things.map(({ name, text }) => name ?? text)
  })
  const transactions = lines("revenue_transactions.ndjson").map((line) => {
    const { type, external_id, amount, occurred_at } = JSON.parse(line)
    return JSON.stringify([type, external_id, amount, occurred_at])
  })
  const shown = [...numbered.sort(), ...lines("imported.ndjson").sort(), JSON.stringify(definitions)].join("\n")
  const staging = join(dataDir, "staging/imports")
  return {
    state: imports[0]?.state ?? "none",
    shown: hashOf(shown),
    visits: visits.length,
    totals: lines("imported.ndjson").length,
    definitions: definitions.flat().length,
    sold: hashOf(transactions.sort().join("\n")),
    transactions: transactions.length,
    staged: existsSync(staging) ? readdirSync(staging, { recursive: true }).length : 0,
  }
}

const hashOf = (text: string): string => new Bun.CryptoHasher("sha256").update(text).digest("hex").slice(0, 16)

const VISITS = 1_500
const TOTALS = 150
const GOALS = 20
const START = Date.parse("2024-03-01T00:00:00Z")
const MINUTE = 60_000

/** Writes the archive of a site with visits, totals of several kinds and goals, so that every phase takes some time. */
function writeArchive(): string[] {
  const lines = (count: number, row: (at: number) => object) =>
    Array.from({ length: count }, (_, at) => `${JSON.stringify(row(at))}\n`).join("")
  const event = (visit: number, second: number, name: string) => {
    const at = START + visit * 7 * MINUTE + second * 1_000
    return { at, name, page: `/${visit % 300}`, hostname: "shop.example", interactive: true, props: [["plan", String(visit % 9)]] }
  }
  const visits = lines(VISITS, (visit) => ({
    visitor: String(visit % 700).padStart(16, "0"),
    visitor_kind: "rotating",
    country: visit % 2 ? "DE" : "FR",
    events: [event(visit, 0, "pageview"), event(visit, 20, "pageview"), event(visit, 40, `Event ${visit % 5}`)],
  }))
  const day = (at: number) => new Date(START - (at + 1) * 1_440 * MINUTE).toISOString().slice(0, 10)
  const counts = (at: number) => ({ visitors: 3 + at, visits: 4 + at, pageviews: 9 + at, bounces: 1, visit_duration: 60 * at })
  const totals = [
    lines(TOTALS, (at) => ({ kind: "imported_visitors", day: day(at), ...counts(at) })),
    lines(TOTALS, (at) => ({ kind: "imported_devices", day: day(at), device: "Mobile", ...counts(at) })),
    lines(TOTALS, (at) => ({ kind: "imported_pages", day: day(at), page: `/${at}`, visitors: 2, visits: 3, pageviews: 4 + at })),
    lines(TOTALS, (at) => ({ kind: "imported_locations", day: day(at), country: "DE", ...counts(at) })),
  ].join("")
  const files = {
    "manifest.json": JSON.stringify({ format: "footfall-site", version: 2 }),
    "visits.ndjson": visits,
    "imported.ndjson": totals,
    "goals.json": JSON.stringify(Array.from({ length: GOALS }, (_, at) => ({ kind: "page", value: `/${at}` }))),
    "annotations.json": JSON.stringify([1, 2, 3].map((at) => ({ text: `Launch ${at}`, at: "2024-03-02T10:00:00Z", scope: "site" }))),
  }
  for (const [name, content] of Object.entries(files)) writeFileSync(join(dataDir, name), content)
  return Object.keys(files)
}

/** More refunds than are published in one transaction, and the orders that they belong to. */
const REFUNDS = 700
const ORDERS = 50

/** Writes an export of BigQuery with orders and refunds. */
function writeRefunds(): string[] {
  const row = (event_name: string, order: number, seconds: number, ecommerce: object) => ({
    ...{ event_name, event_timestamp: `${START + order * MINUTE + seconds * 1_000}002`, user_pseudo_id: `1.${order}` },
    event_params: Object.entries({ page_location: "https://shop.example/thanks", ga_session_id: "1", currency: "EUR" }).map(
      ([key, string_value]) => ({ key, value: { string_value } }),
    ),
    ecommerce: { transaction_id: `order-${order}`, ...ecommerce },
  })
  const orders = Array.from({ length: ORDERS }, (_, order) => row("purchase", order, 0, { purchase_revenue: 90 }))
  const refunds = Array.from({ length: REFUNDS }, (_, at) => row("refund", at % ORDERS, 60 + at, { refund_value: 1.5 }))
  writeFileSync(join(dataDir, "events.json"), JSON.stringify([...orders, ...refunds]))
  return ["events.json"]
}

async function prepare({ instance: { connections, organizations, sites } }: App): Promise<void> {
  const { id } = await organizations.create({ name: "Acme" })
  await sites.create(id, { name: "Shop", hosts: ["shop.example"], timezone: "Europe/Berlin", revenue_currency: "EUR" })
  const scopes = ["https://www.googleapis.com/auth/analytics.readonly"]
  await connections.connectServiceAccount("google", connected.key, { organizationId: id, userId: null, scopes })
}

const app = await openApp()
if (action === "prepare") await prepare(app)
if (action === "import") {
  await runCommand(app, "import run", { source: "footfall", options: '{"create_definitions": true}' }, writeArchive())
  // The rows were sorted for the former time zone, so the run sorts them again.
  await app.operations["site.set"]({ id: "1", patch: { timezone: "Europe/Paris" } })
}
if (action === "fetch") {
  const { property, from, to } = connected
  await runCommand(app, "import run", { source: "ga4_api", options: JSON.stringify({ connection_id: 1, property, from, to }) })
}
if (action === "refunds") await runCommand(app, "import run", { source: "ga4_bigquery" }, writeRefunds())
if (action === "undo") await runCommand(app, "import undo", { id: "1" })
if (action === "finish") {
  say(await stateOf(app))
  await app.instance.jobs.recover()
}
await work(app)
say(await stateOf(app))
await app.stop()
process.exit(0)
