/** Memory of a worker that answers queries about three million users, each query in a process of its own. */
import { mkdtempSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { PEOPLE_SORTS, type PeopleScope, type PeopleSort, type RetentionQuery } from "../../../src/domain/people.ts"
import type { Query, SiteFacts } from "../../../src/domain/query.ts"
import { TRAITS, type VisitTraits } from "../../../src/domain/visit.ts"
import { aggregate } from "../../../src/query/measure/aggregate.ts"
import { activeDays } from "../../../src/query/people/active-days.ts"
import { engagement } from "../../../src/query/people/engagement.ts"
import { peopleList } from "../../../src/query/people/people-list.ts"
import { peopleStates } from "../../../src/query/people/sets.ts"
import { retention } from "../../../src/query/retention/retention.ts"
import type { Snapshot } from "../../../src/store/events/part.ts"
import { openEventReader } from "../../../src/store/events/reader.ts"
import type { BenchVisit } from "../stores/data.ts"
import { openFootfall } from "../stores/footfall.ts"
import { DAY_MS } from "../stores/reports.ts"
import { count, table } from "../table.ts"
import { signedUpNotBought } from "./sets.ts"

const USERS = 3_000_000
const BATCH = 5_000
const WINDOW = 28
const END = Date.parse("2026-11-21T00:00:00Z")
const CACHE_BYTES = 32 << 20
/** The second run shows whether the arrays of the first one are released. */
const RUNS = 2

const SITE: SiteFacts = { id: 1, bounceEngagedSeconds: 0, revenueCurrency: "EUR", goals: [] }
const KEY = new Uint8Array(32)
const SCOPE: PeopleScope = { site: SITE, timezone: "UTC", now: END, identifiedOnly: true, saltEdges: [], deviceMs: 0, siteKey: KEY }

const unwatched = () => {}
const dayEdges = (days: number, end = END) => Array.from({ length: days + 1 }, (_, day) => end - (days - day) * DAY_MS)
const WEEKS = dayEdges(WINDOW)

const listBy = (sort: PeopleSort) => (snapshot: Snapshot) =>
  peopleList(snapshot, { site: SITE, scope: SCOPE, days: WEEKS, sort, currency: "EUR", limit: 50 }, unwatched)

const retentionOf = (more: Partial<RetentionQuery>) => (snapshot: Snapshot) =>
  retention(
    snapshot,
    {
      ...{ site: SITE, scope: SCOPE, edges: WEEKS, cohorts: WINDOW, periods: WINDOW, returnCount: 1, isSame: true },
      ...{ mode: "first_time", firstEver: false, counting: "exact", elapsed: false },
      ...more,
    },
    unwatched,
  )

const QUERIES: Readonly<Record<string, (snapshot: Snapshot) => unknown>> = {
  [`histogram of ${WINDOW} days`]: (snapshot) =>
    activeDays(snapshot, { site: SITE, scope: SCOPE, days: WEEKS, previous: dayEdges(WINDOW, WEEKS[0]) }, unwatched),
  "engagement over 90 days": (snapshot) =>
    engagement(snapshot, { site: SITE, scope: SCOPE, edges: dayEdges(91), days: dayEdges(90 + WINDOW) }, unwatched),
  [`retention of ${WINDOW} days`]: retentionOf({}),
  [`retention of ${WINDOW} days by country, in elapsed days`]: retentionOf({ elapsed: true, breakdown: "country" }),
  "cohort of 3 conditions": (snapshot) => peopleStates(snapshot, signedUpNotBought({ site: SITE, scope: SCOPE, end: END }), unwatched),
  ...Object.fromEntries(PEOPLE_SORTS.map((sort) => [`first page of the list by ${sort}`, listBy(sort)])),
}

export async function measurePeopleMemory(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "footfall-bench-"))
  try {
    const store = openFootfall(folder, WEEKS[0]!)
    for (let from = 0; from < USERS; from += BATCH) await store.load(Array.from({ length: BATCH }, (_, i) => visitOf(from + i)))
    await store.finish()
    const rows: (string | number)[][] = []
    for (const name of Object.keys(QUERIES)) {
      const run = Bun.spawn([process.execPath, import.meta.path, store.path, name], { stdout: "pipe" })
      rows.push([name, Number(await new Response(run.stdout).text())])
    }
    console.log(`\n### Memory of a worker with ${count(USERS)} users, all active on one of ${WINDOW} days\n`)
    console.log(table(["Query", "MiB more than after a summary"], rows))
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

const NO_TRAITS = Object.fromEntries(TRAITS.map((trait) => [trait, ""])) as VisitTraits // every trait is listed in TRAITS

function visitOf(user: number): BenchVisit {
  const at = WEEKS[0]! + Math.floor((user / USERS) * WINDOW * DAY_MS)
  const event = { at, name: "pageview", page: "/", hostname: "shop.example.com", title: "", interactive: true, props: [] }
  return { siteId: SITE.id, visitor: user + 1, kind: "user", traits: NO_TRAITS, events: [event] }
}

const summary: Query = {
  site: SITE,
  range: { from: WEEKS[0]!, to: END },
  timezone: "UTC",
  now: END,
  metrics: ["visits", "pageviews"],
  groupings: [],
  order: [],
  offset: 0,
  limit: 1,
  fillBuckets: false,
}

/** Prints the growth of this process's peak memory by a query, in MiB. The summary fills the cache of columns before. */
function measureQuery(path: string, name: string): void {
  const reader = openEventReader(path, { cacheBytes: CACHE_BYTES })
  for (let run = 0; run < RUNS; run++) aggregate(reader.snapshot(SITE.id), summary, unwatched)
  const before = peakMebibytes()
  for (let run = 0; run < RUNS; run++) QUERIES[name]!(reader.snapshot(SITE.id))
  console.log(Math.round(peakMebibytes() - before))
}

const peakMebibytes = (): number => Number(/VmHWM:\s+(\d+)/.exec(readFileSync("/proc/self/status", "utf8"))![1]) / 1024

if (import.meta.main) measureQuery(process.argv[2]!, process.argv[3]!)
