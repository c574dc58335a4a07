/** Moving an instance with imports, clicks, opens and sales, compared with one whose events stay in its data folder. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test"
import { type Destination, releaseSource } from "../../../src/services/moving/moving.ts"
import { fixedQueries } from "../../../src/services/moving/queries.ts"
import { siteFacts } from "../../../src/services/stats/open-report.ts"
import { hasClickhouse, startClickhouse, type TestServer } from "../../store/clickhouse/server.ts"
import { Stage } from "./stage.ts"
import { answersTo, eventOf, sendTraffic } from "./traffic.ts"

setDefaultTimeout(600_000)

const SITE = "/api/private/sites/1"
const [FROM, TO] = ["2026-09-01", "2026-11-30"]
const RANGE = `from=${FROM}&to=${TO}`
const REPORTS = [
  `${SITE}/stats/summary?${RANGE}`,
  `${SITE}/stats/timeseries?${RANGE}&interval=day&metrics=visitors,events`,
  `${SITE}/stats/breakdown?${RANGE}&dimension=page&metrics=visitors,pageviews&limit=100`,
  ...["source", "entry_page", "event", "browser", "country"].map(
    (dimension) => `${SITE}/stats/breakdown?${RANGE}&dimension=${dimension}&metrics=visitors,events&limit=100`,
  ),
  `${SITE}/stats/properties?${RANGE}`,
  `${SITE}/stats/summary?${RANGE}&imports=false`,
  `${SITE}/retention-preview?days=30`,
  `${SITE}/power-users?window=7`,
  `${SITE}/engagement?${RANGE}`,
  `${SITE}/revenue/report?${RANGE}`,
  `${SITE}/revenue/report?${RANGE}&group_by=source`,
  `${SITE}/revenue/transactions?limit=100`,
  `${SITE}/links/1`,
  `${SITE}/links/1/stats?${RANGE}&conversions=true`,
  `${SITE}/links/1/timeseries?${RANGE}&interval=day&metrics=human,bot,unique`,
  ...["utm_source", "device"].map((dimension) => `${SITE}/links/1/breakdown?${RANGE}&dimension=${dimension}`),
  `${SITE}/pixels/1`,
  `${SITE}/pixels/1/stats?${RANGE}`,
  `${SITE}/pixels/1/timeseries?${RANGE}&interval=day`,
  `${SITE}/pixels/1/breakdown?${RANGE}&dimension=via`,
]

/** A page of each import. */
const IMPORTED = ["/2026-10/3", "/old", "/2026-09/3"]
const importedIn = (answers: string): string[] => IMPORTED.filter((page) => answers.includes(`"${page}"`))

/** Returns the file of visits of another product, each with two pageviews. */
function visitsFile(month: string, visits: number): object {
  const rows = Array.from({ length: visits * 2 }, (_, row) => {
    const [visit, step] = [row >> 1, row & 1]
    const at = `${month}-${10 + (visit % 9)}T1${visit % 10}:0${step}:00Z`
    return `${at},/${month}/${(visit + step) % 6},s${visit},DE,shop.example,pageview`
  })
  const content = ["added_iso,path,session_id,country_code,hostname,datapoint", ...rows].join("\n")
  return { source: "simple_analytics", files: [{ name: "export.csv", content }] }
}

const TOTALS = {
  source: "plausible",
  files: [
    {
      name: "imported_visitors_20260901_20260902.csv",
      content: "date,visitors,pageviews,bounces,visits,visit_duration\n2026-09-01,10,25,4,12,600\n2026-09-02,8,20,2,9,500",
    },
    {
      name: "imported_pages_20260901_20260902.csv",
      content: "date,hostname,page,visitors,pageviews,visits\n2026-09-01,shop.example,/,9,15,10\n2026-09-02,shop.example,/old,8,20,9",
    },
  ],
}

/** Runs the jobs that follow a request, and counts what was recorded. */
async function settle(stage: Stage): Promise<void> {
  await stage.app.collector.recorded()
  stage.clock.advance(60_000)
  await Bun.sleep(300) // the confirmation of what was acknowledged is recorded
  stage.clock.advance(300_000)
  await stage.runJobs()
  stage.clock.advance(60_000)
  await stage.runJobs()
}

async function change(stage: Stage, method: string, path: string, body?: unknown): Promise<void> {
  const { status, body: answer } = await stage.send(method, SITE + path, body)
  if (status >= 300) throw new Error(`${method} ${path}: ${status} ${JSON.stringify(answer)}`)
}

/** Lets visitors click on the link and open the pixel. */
async function clickAndOpen(stage: Stage, visitors: number): Promise<void> {
  for (let visitor = 0; visitor < visitors; visitor++) {
    expect(await stage.visit(`/l/spring?utm_source=${visitor % 2 ? "news" : "post"}`, 20 + visitor)).toBe(302)
    expect(await stage.visit("/p/news.gif", 40 + visitor)).toBe(200)
  }
  await stage.app.collector.recorded()
}

/** Fills an instance with native visits, sales, three imports, clicks and opens. */
async function fill(stage: Stage): Promise<void> {
  await sendTraffic(stage, 3)
  for (const input of [visitsFile("2026-10", 30), TOTALS, visitsFile("2026-09", 20)]) {
    await change(stage, "POST", "/imports", input)
    await settle(stage)
  }
  await change(stage, "POST", "/links", { destination: "https://shop.example/prices", slug: "spring" })
  await change(stage, "POST", "/pixels", { name: "News", kind: "email", slug: "news" })
  await clickAndOpen(stage, 6)
  await settle(stage)
}

/** Returns the answers to the fixed queries of a move, as the running instance gives them. */
async function fixedAnswers({ app }: Stage): Promise<string[]> {
  const site = app.instance.sites.directory.byId(1)!
  const answers: string[] = []
  for (const { kind, query } of fixedQueries(siteFacts(site, []), site.timezone, { from: Date.parse(FROM), to: Date.parse(TO) }))
    answers.push(JSON.stringify(await app.engine[kind](query as never, { organizationId: site.organization_id })))
  return answers
}

describe.skipIf(!hasClickhouse())("moving everything that an instance can contain", () => {
  let running: TestServer
  beforeAll(async () => {
    running = await startClickhouse()
  })
  afterAll(() => running[Symbol.asyncDispose]())

  test("gives the answers of an instance that stays, there and back and there again, whatever was changed where", async () => {
    await using moved = await Stage.start(running.server)
    await using stays = await Stage.start(running.server)
    const both = async (work: (stage: Stage) => Promise<void>) => {
      for (const stage of [moved, stays]) await work(stage)
    }
    /** Starts both again. An instance counts clicks and opens when it stops. */
    async function openAt(engine: Destination): Promise<void> {
      await moved.open(engine)
      await stays.open("embedded")
    }
    async function expectEqual(): Promise<string> {
      const expected = await answersTo(stays, REPORTS)
      expect(expected.filter(({ status }) => status !== 200)).toEqual([])
      expect(await answersTo(moved, REPORTS)).toEqual(expected)
      const fixed = await fixedAnswers(stays)
      expect(fixed).toHaveLength(60)
      expect(await fixedAnswers(moved)).toEqual(fixed)
      return JSON.stringify(expected)
    }
    await both(fill)
    await expectEqual()
    // Clicks and opens that no counter has yet, and visits that are open.
    await both((stage) => clickAndOpen(stage, 3))
    await both(async (stage) => {
      for (const visitor of [1, 3, 5]) expect(await stage.collect(visitor, eventOf(visitor, 0, 9))).toBe(202)
    })
    expect(importedIn(await expectEqual())).toEqual(IMPORTED)
    await both((stage) => stage.stop())
    expect(await moved.move("clickhouse")).toMatchObject({ sites: 1, fetched: 0, queries: 60 })
    await openAt("clickhouse")
    await expectEqual()

    await both(settle)
    await both((stage) => clickAndOpen(stage, 4))
    await both((stage) => sendTraffic(stage, 1))
    await both(settle)
    await both((stage) => change(stage, "PATCH", "/imports/1", { enabled: false }))
    await both((stage) => change(stage, "POST", "/imports/3/undo"))
    await both(settle)
    expect(importedIn(await expectEqual())).toEqual(["/old"])
    await both((stage) => change(stage, "PATCH", "/imports/1", { enabled: true }))
    await both((stage) => change(stage, "POST", "/imports", visitsFile("2026-09", 25)))
    await both(settle)
    expect(importedIn(await expectEqual())).toEqual(IMPORTED)

    // Everything that ClickHouse has is dropped, so that the way back has to fetch it.
    const { events } = moved.app.instance
    await events.seal(moved.clock.now(), true)
    await moved.app.instance.shipped!.shipping.settled()
    events.releaseSource()
    await Bun.sleep(300)
    await events.dropShipped(Number.MAX_SAFE_INTEGER, moved.clock.now())
    expect(events.facts().segments).toBeLessThan(5)
    await both((stage) => stage.stop())
    const { fetched, visits } = await moved.move("embedded")
    expect(fetched).toBeGreaterThan(visits / 2)
    await openAt("embedded")
    expect(importedIn(await expectEqual())).toEqual(IMPORTED)
    await both((stage) => clickAndOpen(stage, 2))
    await both(settle)
    await both((stage) => change(stage, "POST", "/imports/4/undo"))
    await both((stage) => change(stage, "PATCH", "/imports/2", { enabled: false }))
    await both(settle)
    expect(importedIn(await expectEqual())).toEqual(["/2026-10/3"])

    await both((stage) => stage.stop())
    expect(await moved.whileStopped(releaseSource)).toEqual({ copy: "clickhouse" })
    expect(await moved.move("clickhouse")).toMatchObject({ queries: 60 })
    await openAt("clickhouse")
    await expectEqual()
    await both((stage) => change(stage, "POST", "/imports/1/undo"))
    await both((stage) => change(stage, "POST", "/imports/2/undo"))
    await both((stage) => clickAndOpen(stage, 1))
    await both(settle)
    expect(importedIn(await expectEqual())).toEqual([])
  })
})
