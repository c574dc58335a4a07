/** The list of recorded visits and the timeline of one, which read only the segments that they need. */
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import type { Filter } from "../../../src/domain/filter.ts"
import type { GoalRule, SiteFacts } from "../../../src/domain/query.ts"
import type { VisitListQuery } from "../../../src/domain/visit-list.ts"
import { visitTimeline } from "../../../src/query/visits/timeline.ts"
import { visitList } from "../../../src/query/visits/visits.ts"
import type { Snapshot } from "../../../src/store/events/part.ts"
import { openEventReader } from "../../../src/store/events/reader.ts"
import { count, ms, table } from "../table.ts"
import { timed } from "../timing.ts"
import { benchData, type DataOptions, KNOWN } from "./data.ts"
import { openFootfall } from "./footfall.ts"
import { DAY_MS } from "./reports.ts"

const unwatched = () => {}
const GOALS = KNOWN.goals.map((goal, id): GoalRule => ({ ...goal, id, name: goal.value }))
const SITE: SiteFacts = { id: 1, bounceEngagedSeconds: 0, revenueCurrency: "EUR", goals: GOALS }
/** Bar of the first page at 10,000,000 events (issue 19). */
const BAR_MS = 50
const CACHE_BYTES = 96 << 20

const is = (dimension: "country" | "page", value: string): Filter => ({
  ...{ op: "is", dimension, values: [value], missing: false, caseSensitive: true },
})

/** Prints how long a page of visits takes: with an empty cache, as after a restart, and with a warm one. */
export async function measureVisits(options: DataOptions): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "footfall-bench-"))
  const store = openFootfall(folder, options.end - options.days * DAY_MS)
  for (const visits of benchData(options)) await store.load(visits)
  await store.finish()
  const warm = openEventReader(store.path, { cacheBytes: CACHE_BYTES })
  const first: VisitListQuery = {
    site: SITE,
    range: { from: options.end - 28 * DAY_MS, to: options.end },
    bounds: {},
    limit: 50,
    count: false,
  }
  const year = { ...first, range: { from: 0, to: options.end } }
  const newest = visitList(warm.snapshot(SITE.id), first, unwatched).visits
  const oldest = visitList(warm.snapshot(SITE.id), { ...year, range: { from: 0, to: options.end - 360 * DAY_MS } }, unwatched).visits
  const cases: readonly (readonly [name: string, work: (snapshot: Snapshot) => unknown])[] = [
    ["first page of 28 days", (snapshot) => visitList(snapshot, first, unwatched)],
    ["first page of a year", (snapshot) => visitList(snapshot, year, unwatched)],
    ["second page", (snapshot) => visitList(snapshot, { ...first, before: newest.at(-1)! }, unwatched)],
    ["first page of a country", (snapshot) => visitList(snapshot, { ...first, filter: is("country", KNOWN.country) }, unwatched)],
    ["first page of a page", (snapshot) => visitList(snapshot, { ...first, filter: is("page", KNOWN.page) }, unwatched)],
    ["timeline of the newest visit", (snapshot) => visitTimeline(snapshot, timelineOf(newest[0]!.sequence), unwatched)],
    ["timeline of an old visit", (snapshot) => visitTimeline(snapshot, timelineOf(oldest[0]!.sequence), unwatched)],
  ]
  console.log(`\n### Visits: ${count(options.events)} events over ${options.days} days\n`)
  const rows: (string | number)[][] = []
  for (const [name, work] of cases) {
    const cold = await timed(() => {
      const reader = openEventReader(store.path, { cacheBytes: CACHE_BYTES })
      const from = performance.now()
      work(reader.snapshot(SITE.id))
      reader.close()
      return performance.now() - from
    })
    const hot = await timed(() => work(warm.snapshot(SITE.id)))
    const hasBar = name.startsWith("first page of 28") || name.startsWith("first page of a year")
    rows.push([name, ms(cold.median), ms(hot.median), ms(hot.p95), hasBar ? (hot.median <= BAR_MS ? "yes" : "no") : "–"])
  }
  console.log(table(["Query", "Cold ms", "Warm ms", "p95", `Bar of ${BAR_MS} ms met`], rows))
  warm.close()
  store.close()
  rmSync(folder, { recursive: true, force: true })
}

const timelineOf = (sequence: number) => ({ site: SITE, sequence, offset: 0, limit: 200 })
