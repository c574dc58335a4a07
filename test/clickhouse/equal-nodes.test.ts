/** Two nodes, compared with one process that has all events in its own store. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test"
import { sql } from "../../src/store/sql.ts"
import { startInstance, type TestInstance } from "../kit.ts"
import { hasClickhouse, startClickhouse, type TestServer } from "../store/clickhouse/server.ts"

setDefaultTimeout(300_000)

const VISITORS = 24
const STEPS = 5
const PAGES = ["/", "/prices", "/prices/large", "/blog/a", "/blog/b"]

/** Returns what a visitor sends as a step: pageviews, a sign-up with a plan, and an order. Some people have two devices. */
function eventOf(visitor: number, step: number): object {
  const place = { u: `https://shop.example${PAGES[(visitor * 3 + step) % PAGES.length]}`, d: "shop.example" }
  const person = visitor % 3 === 0 ? { x: `person ${visitor % 12}` } : {}
  if (step === 2) return { n: "Signup", ...place, ...person, p: { plan: `plan ${visitor % 3}` } }
  if (step === 3)
    return { n: "Purchase", ...place, ...person, p: { order_id: `o${visitor}` }, $: { amount: 9.5 + visitor, currency: "EUR" } }
  return { n: "pageview", ...place, ...person, ...(visitor % 2 && { r: "https://news.example/" }) }
}

const addressOf = (visitor: number) => `198.51.${visitor % 2}.${visitor}`

/** Chooses the node of a request. */
type Route = (visitor: number, step: number) => number

/** Sends the same traffic to an instance on its own, and to nodes by a route. */
async function sendTraffic(alone: TestInstance, nodes: readonly TestInstance[], route: Route): Promise<void> {
  for (let step = 0; step < STEPS; step++) {
    const visitors = Array.from({ length: VISITORS - step }, (_, at) => step + at)
    const sent = (instanceOf: (visitor: number) => TestInstance) =>
      Promise.all(visitors.map((visitor) => instanceOf(visitor).collect(eventOf(visitor, step), { address: addressOf(visitor) })))
    const answers = [...(await sent(() => alone)), ...(await sent((visitor) => nodes[route(visitor, step)]!))]
    expect(answers.filter(({ status }) => status !== 202)).toEqual([])
    for (const { clock } of [alone, nodes[0]!]) clock.advance(20_000)
  }
}

const DIMENSIONS = [
  "page",
  "entry_page",
  "exit_page",
  "hostname",
  "source",
  "referrer",
  "channel",
  "event",
  "goal",
  "country",
  "device",
  "browser",
]
/** Dimensions of events, by which no rate of visits is asked for. */
const IN_NAMES = ["event", "goal", "page", "hostname"]
const STATS = "/api/private/sites/1/stats"
const ofPage = `&filters=${encodeURIComponent('[{"dimension":"page","values":["/prices"]}]')}`

/** Reports that read no figure of a whole visit, which round robin splits. */
const unsplit = (range: string): string[] => [
  `${STATS}/summary?${range}&metrics=visitors,pageviews,events`,
  `${STATS}/timeseries?${range}&interval=hour&metrics=visitors,pageviews,events`,
  ...["page", "event", "device", "browser", "country", "hostname"].map(
    (dimension) => `${STATS}/breakdown?${range}&dimension=${dimension}&metrics=visitors,events`,
  ),
  `${STATS}/goals?${range}`,
  `${STATS}/properties?${range}&event=Signup`,
]

const reports = (range: string): string[] => [
  ...unsplit(range),
  `${STATS}/summary?${range}&metrics=visitors,visits,pageviews,events,views_per_visit,bounce_rate,visit_duration,engaged_time`,
  `${STATS}/summary?${range}${ofPage}`,
  ...DIMENSIONS.map(
    (dimension) =>
      `${STATS}/breakdown?${range}&dimension=${dimension}&metrics=visitors,visits,${IN_NAMES.includes(dimension) ? "events" : "bounce_rate,visit_duration"}`,
  ),
  `${STATS}/breakdown?${range}&dimension=page&metrics=visitors,pageviews,exit_rate,time_on_page${ofPage}`,
  ...["busy-hours", "events", "campaigns", "web-vitals"].map((report) => `${STATS}/${report}?${range}`),
  `${STATS}/realtime`,
  "/api/private/sites/1/power-users",
  "/api/private/sites/1/power-users/histogram",
  "/api/private/sites/1/engagement",
  `/api/private/sites/1/revenue/report?${range}`,
  "/api/private/sites/1/revenue/transactions?limit=100",
  `${STATS}/visits?${range}&limit=100`,
]

const posted = (period: string): [path: string, body: object][] => [
  [
    `${STATS}/funnel`,
    {
      period,
      steps: [
        { type: "page", value: "/prices" },
        { type: "event", value: "Signup" },
        { type: "event", value: "Purchase" },
      ],
    },
  ],
  [`${STATS}/journeys`, { period, start: { page: "/prices" } }],
  ["/api/private/sites/1/retention", {}],
]

/** Removes what each store chooses: ids of visits, pseudonyms of visitors, positions in lists, and when sales were folded. */
const NAMES =
  /"(?:id|visit|visitor|person|label|next_cursor|cursor|now|created_at|received_at|updated_at|generated_at|sale_id)":("[^"]*"|\d+|null)/g
function shown(body: unknown): unknown {
  const unnamed = JSON.parse(JSON.stringify(body).replaceAll(NAMES, '"named":0'))
  // People and visits that are equal otherwise are in the order of their names.
  for (const list of Object.values(unnamed as object))
    if (Array.isArray(list)) list.sort((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1))
  return unnamed
}

interface Answered {
  report: string
  status: number
  body: unknown
}

async function answersOf(instance: TestInstance, asked: readonly string[], questions: ReturnType<typeof posted>): Promise<Answered[]> {
  const cookie = await instance.signIn({ role: "owner" })
  const answers: Answered[] = []
  for (const report of asked) {
    const { status, body } = await instance.api.get(report, undefined, { cookie })
    answers.push({ report, status, body: shown(body) })
  }
  for (const [report, question] of questions) {
    const { status, body } = await instance.api.send("POST", report, question, undefined, { cookie })
    answers.push({ report, status, body: shown(body) })
  }
  return answers
}

/** Returns the exported visits and events, in the order of their content. */
async function exportOf({ api, key }: TestInstance): Promise<string[]> {
  const lines: string[] = []
  for (const type of ["visits", "events"]) {
    const { status, body } = await api.get(`/api/public/v1/sites/1/export?type=${type}&format=ndjson&period=28d`, key)
    expect({ status, body: status === 200 ? "" : body }).toEqual({ status: 200, body: "" })
    lines.push(...String(body).trim().split("\n"))
  }
  return lines.map((line) => JSON.stringify(shown(JSON.parse(line)))).sort()
}

/** Lets nodes know that all of them are live, as they do every few seconds. */
async function renew(nodes: readonly TestInstance[]): Promise<void> {
  for (const { app } of [...nodes, ...nodes]) await app.instance.lease!.renew()
}

const ordersOf = async ({ rows }: TestInstance): Promise<number> =>
  (await rows(({ get }) => get<{ n: number }>(sql`select count(*) as n from revenue_transactions`)))!.n // a count is one row

describe.skipIf(!hasClickhouse())("two nodes", () => {
  let running: TestServer
  beforeAll(async () => {
    running = await startClickhouse()
  })
  afterAll(() => running[Symbol.asyncDispose]())

  /** Starts one process, and two nodes with the same site. */
  async function start() {
    const alone = await startInstance()
    await running.clickhouse.run("truncate table if exists visits")
    const one = await startInstance({ clickhouse: running.server, hasRowServer: true })
    for (const { app, api, goalsKey } of [alone, one]) {
      await app.instance.sites.configure(1, { identity_mode: "identified" })
      for (const value of ["Signup", "Purchase"])
        expect((await api.post("/api/public/v1/sites/1/goals", { kind: "event", value }, goalsKey)).status).toBe(201)
    }
    const two = await startInstance({ clickhouse: running.server, joining: one })
    return {
      alone,
      nodes: [one, two],
      async [Symbol.asyncDispose]() {
        for (const each of [two, one, alone]) await each[Symbol.asyncDispose]()
      },
    }
  }

  test("routed by address answer as one process, in every report and export", async () => {
    await using instances = await start()
    const { alone, nodes } = instances
    for (let day = 0; day < 2; day++) {
      await sendTraffic(alone, nodes, (visitor) => visitor % 2)
      for (const { clock } of [alone, nodes[0]!]) clock.advance(86_400_000)
    }
    await renew(nodes)
    await Bun.sleep(500) // the confirmation of what was acknowledged is recorded
    await alone.runJobs()
    const orders = await ordersOf(alone)
    expect(orders).toBeGreaterThan(0)
    while ((await ordersOf(nodes[0]!)) < orders) {
      // The folding of what was confirmed late is planned for later.
      for (const { clock } of [alone, nodes[0]!]) clock.advance(2_000)
      await renew(nodes)
      for (const { runJobs } of nodes) await runJobs()
    }
    const asked = [reports("period=28d"), posted("28d")] as const
    const expected = await answersOf(alone, ...asked)
    expect(expected.filter(({ status }) => status !== 200)).toEqual([])
    for (const node of nodes) expect(await answersOf(node, ...asked)).toEqual(expected)
    const exported = await exportOf(alone)
    expect(exported.length).toBeGreaterThan(150)
    for (const node of nodes) expect(await exportOf(node)).toEqual(exported)
  })

  test("by turns answer alike where no figure is that of a whole visit", async () => {
    await using instances = await start()
    const { alone, nodes } = instances
    await sendTraffic(alone, nodes, (visitor, step) => (visitor + step) % 2)
    await renew(nodes)
    const asked = [unsplit("period=today"), posted("today").slice(0, 1)] as const
    const expected = await answersOf(alone, ...asked)
    expect(expected.filter(({ status }) => status !== 200)).toEqual([])
    for (const node of nodes) expect(await answersOf(node, ...asked)).toEqual(expected)
  })
})
