/**
 * Benchmarks: `bun run bench [--events 100000,1000000] [--sales 1000000] [--deliveries 100000] [--rows 1000000] [PART...]`, such as
 * `bun run bench imports`. Without parts, all are measured.
 * Generates the data, runs each case next to its contenders in the same run, and prints tables in the format of docs/benchmarks.md.
 */
import { parseArgs } from "node:util"
import { measureDashboard } from "./dashboards/dashboard.ts"
import { measureDashboards } from "./dashboards/dashboards.ts"
import { measureBoardFrames } from "./dashboards/frames.ts"
import { measureBoardViewers } from "./dashboards/viewers.ts"
import { measureHundred } from "./hundred/hundred.ts"
import { measureImports } from "./imports/imports.ts"
import { measureIngest } from "./ingest/ingest.ts"
import { measureNodes } from "./ingest/nodes.ts"
import { measurePressure } from "./ingest/pressure.ts"
import { measureShipping } from "./ingest/shipping.ts"
import { measureSignIn } from "./ingest/sign-in.ts"
import { measureTail } from "./ingest/tail.ts"
import { measureReportEmails } from "./integrations/report-emails.ts"
import { measureSearch } from "./integrations/search.ts"
import { measureWebhooks } from "./integrations/webhooks.ts"
import { measureLinkBatches } from "./links/batches.ts"
import { measureLinks } from "./links/links.ts"
import { measurePeopleMemory } from "./people/memory.ts"
import { measurePeople } from "./people/people.ts"
import { measurePeopleWrites } from "./people/writes.ts"
import { measureRevenueReports } from "./revenue/reports.ts"
import { measureSales } from "./revenue/sales.ts"
import { measureRevenueWrites } from "./revenue/writes.ts"
import { measureMcp } from "./server/mcp.ts"
import { measureMemory } from "./server/memory.ts"
import { DAY_MS } from "./stores/reports.ts"
import { measureSecondEngine } from "./stores/second-engine.ts"
import { fill, printStorage, timeReports } from "./stores/stores.ts"
import { measureVisits } from "./stores/visits.ts"
import { occasion } from "./table.ts"

const PARTS: Readonly<Record<string, () => Promise<void>>> = {
  async stores() {
    for (const events of sizes) {
      await using filled = await fill({ ...year, events, sites: 1 })
      printStorage(filled)
      await timeReports(filled)
    }
  },
  async "many-sites"() {
    await using filled = await fill({ ...year, events: 600_000, sites: 300 })
    printStorage(filled)
    await timeReports(filled)
  },
  ingest: measureIngest,
  mcp: () => measureMcp({ ...year, events: 1_000_000, sites: 1 }),
  memory: () => measureMemory(largest),
  /** A hundred million, unless another number is given. */
  hundred: () => measureHundred({ ...year, events: values.events === ALL_SIZES ? 100_000_000 : largest.events }),
  pressure: () => measurePressure(largest),
  async shipping() {
    await measureShipping()
    await measureNodes()
  },
  /** A million events, unless another number is given. */
  "second-engine": () => measureSecondEngine({ ...year, events: values.events === ALL_SIZES ? 1_000_000 : largest.events }),
  sales: measureSales,
  reports: () => measureReportEmails({ sites: Number(values.sites) }),
  search: () => measureSearch({ days: Number(values["search-days"]), end: year.end }),
  /** A back-fill is measured with a million events, unless another number is given. */
  tail: () => measureTail({ ...largest, events: values.events === ALL_SIZES ? 1_000_000 : largest.events }),
  "sign-in": measureSignIn,
  links: measureLinks,
  "link-batches": measureLinkBatches,
  dashboard: () => measureDashboard({ ...year, days: 28, events: 1_000_000, sites: 1 }),
  dashboards: () => measureDashboards({ ...year, days: 28, events: 1_000_000, sites: 1 }),
  "board-frames": () => measureBoardFrames({ ...year, days: 28, events: 1_000_000, sites: 1 }),
  "board-viewers": () => measureBoardViewers({ ...year, days: 28, events: 300_000, sites: 1 }),
  async people() {
    await measurePeople({ ...largest, users: true })
    await measurePeopleMemory()
    await measurePeopleWrites(largest)
  },
  visits: () => measureVisits(largest),
  revenue: () => measureRevenueWrites({ ...year, sales: Number(values.sales) }),
  webhooks: () => measureWebhooks(Number(values.deliveries)),
  async "revenue-reports"() {
    for (const transactions of [100_000, 1_000_000])
      if (transactions <= Number(values.sales)) await measureRevenueReports({ transactions, compared: 100_000, end: year.end })
  },
  imports: () => measureImports({ ...year, rows: Math.min(Number(values.rows), largest.events), large: largest.events }),
}

const ALL_SIZES = "100000,1000000,10000000"
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    events: { type: "string", default: ALL_SIZES },
    sales: { type: "string", default: "1000000" },
    rows: { type: "string", default: "1000000" },
    sites: { type: "string", default: "1000" },
    "search-days": { type: "string", default: "487" },
    deliveries: { type: "string", default: "100000" },
    seed: { type: "string", default: "7" },
  },
})
const unknown = positionals.filter((name) => !PARTS[name])
if (unknown.length > 0) throw new Error(`Unknown parts: ${unknown.join(", ")}. Available: ${Object.keys(PARTS).join(", ")}.`)
const sizes = values.events.split(",").map(Number)
const now = Date.now()
const year = { days: 365, seed: Number(values.seed), end: Math.floor(now / DAY_MS) * DAY_MS }
const largest = { ...year, events: Math.max(...sizes), sites: 1 }

console.log(occasion(now))
for (const [name, measure] of Object.entries(PARTS)) if (positionals.length === 0 || positionals.includes(name)) await measure()
