/** A whole instance whose events are on ClickHouse, compared with one whose events are in its own store. */
import { afterAll, afterEach, beforeAll, describe, expect, test } from "bun:test"
import { readFileSync } from "node:fs"
import { startInstance, type TestInstance } from "../kit.ts"
import { startProxy } from "../services/shipping/nodes.ts"
import { hasClickhouse, startClickhouse, type TestServer } from "../store/clickhouse/server.ts"

const PAGES = ["/", "/prices", "/prices/large", "/blog/a", "/blog/b"]

/** Sends the same traffic to instances: visits of one to four events, custom events, amounts and properties. */
async function sendTraffic(instances: readonly TestInstance[], visitors: number): Promise<void> {
  for (let step = 0; step < 4; step++) {
    const sent = Array.from({ length: visitors }, (_, visitor) => visitor).filter((visitor) => visitor % 4 >= step)
    for (const instance of instances) {
      const answers = await Promise.all(
        sent.map((visitor) => instance.collect(eventOf(visitor, step), { address: `198.51.100.${visitor}` })),
      )
      expect(answers.map(({ status }) => status)).toEqual(sent.map(() => 202))
      instance.clock.advance(20_000)
    }
  }
}

function eventOf(visitor: number, step: number): object {
  const place = { u: `https://shop.example${PAGES[(visitor * 3 + step) % PAGES.length]}`, d: "shop.example" }
  if (step < 2) return { n: "pageview", ...place, ...(visitor % 2 && { r: "https://news.example/" }) }
  return { n: "Purchase", ...place, p: { plan: `plan ${visitor % 3}` }, $: { amount: 9.5, currency: "EUR" } }
}

const REPORTS = [
  "summary?period=today&metrics=visitors,visits,pageviews,events,bounce_rate,visit_duration,views_per_visit",
  "timeseries?period=today&interval=hour&metrics=visitors,pageviews",
  ...["page", "entry_page", "exit_page", "source", "referrer", "event", "device", "browser"].map(
    (dimension) => `breakdown?period=today&dimension=${dimension}&metrics=visitors,events`,
  ),
  `summary?period=today&metrics=visitors,events&filters=${encodeURIComponent('[{"dimension":"page","values":["/prices"]}]')}`,
  "realtime",
]

async function reportsOf({ api, statsKey }: TestInstance): Promise<{ report: string; status: number; body: unknown }[]> {
  const answers: Awaited<ReturnType<typeof reportsOf>> = []
  for (const report of REPORTS) {
    const { status, body } = await api.get(`/api/public/v1/sites/1/stats/${report}`, statsKey)
    answers.push({ report, status, body })
  }
  return answers
}

describe.skipIf(!hasClickhouse())("an instance with events on ClickHouse", () => {
  let running: TestServer
  beforeAll(async () => {
    running = await startClickhouse()
  })
  afterEach(() => running.clickhouse.run("truncate table visits"))
  afterAll(() => running[Symbol.asyncDispose]())

  test("answers like one with events in its own store", async () => {
    await using embedded = await startInstance()
    await using remote = await startInstance({ clickhouse: running.server })
    await sendTraffic([embedded, remote], 30)
    const expected = await reportsOf(embedded)
    expect(expected.map(({ status }) => status)).toEqual(REPORTS.map(() => 200))
    expect(await reportsOf(remote)).toEqual(expected)
  })

  test("accepts events while ClickHouse is stopped, says so, and has them in its reports afterwards", async () => {
    await using remote = await startInstance({ clickhouse: running.server })
    const { app, clock } = remote
    const summary = async () => await remote.api.get("/api/public/v1/sites/1/stats/summary?period=today&metrics=events", remote.statsKey)
    const states = () => app.instance.health.warnings().map(({ code }) => code)
    await sendTraffic([remote], 4)
    const before = await summary()
    expect(before).toMatchObject({ status: 200, body: { metrics: { events: 10 } } })
    await running.stop()
    const sending = sendTraffic([remote], 4)
    const advancing = setInterval(() => clock.advance(100), 20)
    await sending
    clearInterval(advancing)
    await Bun.sleep(1_100)
    expect(app.instance.shipped!.shipping.state).toBe("spooling")
    expect(await summary()).toMatchObject({ status: 503, body: { code: "unavailable" } })
    await running.start()
    while (app.instance.shipped!.shipping.state !== "shipping") await Bun.sleep(50)
    expect(await summary()).toMatchObject({ status: 200, body: { metrics: { events: 20 } } })
    expect(states()).not.toContain("spooling")
  })

  test("states in answers that events are late, from ten seconds on until ClickHouse has them", async () => {
    using proxy = startProxy(running.server)
    await using remote = await startInstance({ clickhouse: proxy.server })
    const { app, clock, api, statsKey } = remote
    const asked = async () => {
      const stats = "/api/public/v1/sites/1/stats"
      const query = { site_id: 1, metrics: ["events"], date_range: "day" }
      const [summary, realtime, answer] = [
        await api.get(`${stats}/summary?period=today&metrics=events`, statsKey),
        await api.get(`${stats}/realtime`, statsKey),
        await api.post("/api/public/v1/query", query, statsKey),
      ].map(({ body }) => body as { late_events?: true; notes?: string[]; meta?: { late_events?: true; notes?: string[] } })
      return [summary!.late_events, realtime!.late_events, answer!.meta!.late_events, summary!.notes, answer!.meta!.notes]
    }
    const never = [undefined, undefined, undefined, undefined, undefined]
    await sendTraffic([remote], 2)
    expect(await asked()).toEqual(never)
    proxy.trouble = "refused"
    const sending = remote.collect(eventOf(9, 0), { address: "198.51.100.9" })
    for (let step = 0; step < 30; step++) {
      clock.advance(100)
      await Bun.sleep(20)
    }
    expect((await sending).status).toBe(202)
    expect(await asked()).toEqual(never)
    clock.advance(10_000)
    const note = ["Some events of the last time are still being stored and are not included yet."]
    expect(await asked()).toEqual([true, true, true, note, note])
    proxy.trouble = "none"
    while (app.instance.hasLateEvents()) await Bun.sleep(50)
    expect(await asked()).toEqual(never)
    expect(await running.clickhouse.rows("select 1 from visits final")).toHaveLength(3)
  })

  test("folds sales, and removes them with their visits from the node and from ClickHouse", async () => {
    await using remote = await startInstance({ clickhouse: running.server })
    const { app, clock } = remote
    const cookie = await remote.signIn({ role: "owner" })
    const transactions = async () => {
      await remote.runJobs()
      const { body } = await remote.api.get("/api/private/sites/1/revenue/transactions", undefined, { cookie })
      return (body as { data: { source: string | null }[] }).data
    }
    await sendTraffic([remote], 8)
    clock.advance(3_600_000)
    expect(await transactions()).toHaveLength(6)
    expect(await app.erasure.site(1)).toMatchObject({ visits: 8 })
    expect(await transactions()).toEqual([])
    expect(await running.clickhouse.rows("select 1 from visits final")).toEqual([])
    const soon = "old_parts_lifetime = 1, merge_tree_clear_old_parts_interval_seconds = 1, cleanup_delay_period = 1"
    await running.clickhouse.run(`alter table visits modify setting ${soon}, cleanup_delay_period_random_add = 0`)
    await app.instance.shipped!.hidden.delete()
    expect(await running.clickhouse.rows("select 1 from visits")).toEqual([])
    await sendTraffic([remote], 4)
    expect(await running.clickhouse.rows("select 1 from visits final")).toHaveLength(4)
  })

  test("removes visits beyond the retention, and leaves later ones", async () => {
    await using remote = await startInstance({ clickhouse: running.server })
    const { app, clock } = remote
    await sendTraffic([remote], 5)
    clock.advance(2 * 86_400_000)
    await sendTraffic([remote], 3)
    expect(await app.instance.events.retain(1, clock.now() - 86_400_000, clock.now())).toBe(5)
    const visits = async () => (await reportsOf(remote)).map(({ status }) => status)
    expect(await visits()).toEqual(REPORTS.map(() => 200))
    expect(await running.clickhouse.rows("select 1 from visits final")).toHaveLength(3)
  })

  test("needs only the privileges that the README names", async () => {
    using proxy = startProxy(running.server)
    await using remote = await startInstance({ clickhouse: proxy.server })
    const { app, clock } = remote
    await sendTraffic([remote], 5)
    await reportsOf(remote)
    await app.console.health(undefined)
    await app.console.retention.preview({ site_id: 1, retention_days: 1 })
    clock.advance(3 * 86_400_000)
    await app.instance.lease?.renew()
    await app.instance.events.retain(1, clock.now(), clock.now())
    await app.instance.shipped!.hidden.delete(AbortSignal.timeout(5_000)).catch(() => {})
    const sentence = /The user needs (.*?) and\s+access to `(.*?)`/s.exec(readFileSync("README.md", "utf8"))!
    const granted = Array.from(sentence[1]!.matchAll(/`(.*?)`/g), ([, privilege]) => privilege)
    const statements = proxy.statements.map((sql) =>
      sql
        .replace(/^\s*--.*$/gm, "")
        .trim()
        .toLowerCase(),
    )
    // Asking for one's own privileges needs none.
    const needing = statements.filter((sql) => !sql.startsWith("check grant "))
    expect(needing.filter((sql) => !granted.some((privilege) => sql.startsWith(privilege!)))).toEqual([])
    expect(new Set(statements.flatMap((sql) => sql.match(/\bsystem\.\w+/g) ?? []))).toEqual(new Set([sentence[2]!]))
    expect(granted.filter((privilege) => !statements.some((sql) => sql.startsWith(privilege!)))).toEqual([])
  })
})
