/**
 * Benchmarks: `bun run bench [--events 100000,1000000] [--only stores,many-sites,ingest,mcp,memory,pressure,sign-in,links,link-batches,
 * dashboard,people,imports]`.
 * Generates the data, runs each case next to its contenders in the same run, and prints tables in the format of docs/benchmarks.md.
 */
import { parseArgs } from "node:util"
import { measureDashboard } from "./dashboard.ts"
import { measureImports } from "./imports.ts"
import { measureIngest } from "./ingest.ts"
import { measureLinkBatches } from "./link-batches.ts"
import { measureLinks } from "./links.ts"
import { measureMcp } from "./mcp.ts"
import { measureMemory } from "./memory.ts"
import { measurePeople } from "./people.ts"
import { measurePeopleMemory } from "./people-memory.ts"
import { measurePeopleWrites } from "./people-writes.ts"
import { measurePressure } from "./pressure.ts"
import { DAY_MS } from "./reports.ts"
import { measureSignIn } from "./sign-in.ts"
import { fill, printStorage, timeReports } from "./stores.ts"
import { occasion } from "./table.ts"

const { values } = parseArgs({
  options: {
    events: { type: "string", default: "100000,1000000,10000000" },
    only: { type: "string", default: "stores,many-sites,ingest,mcp,memory,pressure,sign-in,links,link-batches,dashboard,people,imports" },
    seed: { type: "string", default: "7" },
  },
})
const wanted = new Set(values.only.split(","))
const sizes = values.events.split(",").map(Number)
const now = Date.now()
const year = { days: 365, seed: Number(values.seed), end: Math.floor(now / DAY_MS) * DAY_MS }

console.log(occasion(now))
for (const events of wanted.has("stores") ? sizes : []) {
  await using filled = await fill({ ...year, events, sites: 1 })
  printStorage(filled)
  await timeReports(filled)
}
if (wanted.has("many-sites")) {
  await using filled = await fill({ ...year, events: 600_000, sites: 300 })
  printStorage(filled)
  await timeReports(filled)
}
const largest = { ...year, events: Math.max(...sizes), sites: 1 }
if (wanted.has("ingest")) await measureIngest()
if (wanted.has("mcp")) await measureMcp({ ...year, events: 1_000_000, sites: 1 })
if (wanted.has("memory")) await measureMemory(largest)
if (wanted.has("pressure")) await measurePressure(largest)
if (wanted.has("sign-in")) await measureSignIn()
if (wanted.has("links")) await measureLinks()
if (wanted.has("link-batches")) await measureLinkBatches()
if (wanted.has("dashboard")) await measureDashboard({ ...year, days: 28, events: 1_000_000, sites: 1 })
if (wanted.has("people")) {
  await measurePeople({ ...largest, users: true })
  await measurePeopleMemory()
  await measurePeopleWrites(largest)
}
if (wanted.has("imports")) await measureImports({ ...year, rows: Math.min(1_000_000, largest.events), large: largest.events })
