import { afterAll, beforeAll, describe, expect, test } from "bun:test"
import { Type as t } from "@sinclair/typebox"
import { type AnyPlugin, AppError, definePlugin, defineWidget, type Host } from "#plugin"
import type { WidgetResult } from "../responses.ts"
import { type Member, refusal, type Stage, startStage, text, widget } from "./kit.ts"

/** A plugin whose widget waits until it is told to answer, and a view of the slow queries. */
const probe: { host?: Host; answer?: (() => void) | undefined } = {}
const waiting: AnyPlugin = definePlugin({
  id: "waiting",
  title: "Waiting",
  setup(host) {
    probe.host = host
    return {
      widgets: {
        waiting_card: defineWidget({
          ...{ title: "Waiting", description: "Waits.", size: { min_w: 1, min_h: 1, w: 1, h: 1 } },
          ...{ config: t.Object({ fails: t.Optional(t.Boolean()) }, { additionalProperties: false }), answer: t.Object({}) },
          ...{ needs: "site:read", filter_dimensions: ["country"], shareable: () => true },
          async resolve({ given }, { fails }) {
            if (fails === true) throw new AppError("identity_insufficient", "The mode is too short.", { needed_days: 7 })
            if (fails === false) throw new Error("a secret cause")
            await new Promise<void>((resolve) => {
              probe.answer = resolve
            })
            return { data: { given } }
          },
        }),
      },
    }
  },
})

/** Waits until the widget is asked, and returns what lets it answer. */
async function asked(): Promise<() => void> {
  while (!probe.answer) await Bun.sleep(1)
  const { answer } = probe
  probe.answer = undefined
  return answer
}

let stage: Stage
beforeAll(async () => {
  stage = await startStage({ plugins: [waiting], areas: ["cohorts"] })
  const visit = (ip: number, name: string, path: string, at: string) => ({
    ...{ name, url: `https://shop.example${path}`, timestamp: `2026-11-${at}:00Z`, ip: `203.0.113.${ip}` },
    user_agent: "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/141.0.0.0 Safari/537.36",
  })
  const events = [
    visit(1, "pageview", "/?utm_source=news", "20T10:00"),
    visit(1, "pageview", "/pricing", "20T10:01"),
    visit(1, "signup", "/pricing", "20T10:02"),
    visit(2, "pageview", "/", "20T11:00"),
    visit(3, "pageview", "/pricing", "20T12:00"),
    visit(4, "pageview", "/", "05T10:00"),
  ]
  const { body } = await stage.instance.api.post("/api/public/v1/sites/1/events", { events }, stage.instance.eventsKey)
  if ((body as { accepted: number }).accepted !== events.length) throw new Error(JSON.stringify(body))
})
afterAll(() => stage[Symbol.asyncDispose]())

const WEEK = { range: { period: "7d" } }
type Results = Record<string, WidgetResult>

async function dataOf(id: number, body: object = {}, as?: Member): Promise<WidgetResult[]> {
  const answer = await stage.post(`/dashboards/${id}/data`, body, as)
  if (answer.status !== 200) throw new Error(JSON.stringify(answer.body))
  const { results } = answer.body as { results: Results }
  return Object.keys(results)
    .sort((a, b) => Number(a) - Number(b))
    .map((key) => results[key]!)
}
const rows = (...widgets: Record<string, unknown>[]) => widgets.map((each, i) => ({ ...each, y: i * 2 }))
const board = (widgets: Record<string, unknown>[], more: object = {}, as?: Member) =>
  stage.make({ name: "Board", ...WEEK, ...more, widgets: rows(...widgets) }, as)

describe("the figures of a widget", () => {
  test("are those of the report's own route", async () => {
    const goal = ((await stage.post("/goals", { kind: "event", value: "signup", name: "Signed up" })).body as { id: number }).id
    const steps = [
      { type: "page", value: "/pricing" },
      { type: "event", value: "signup" },
    ]
    const id = await board([
      widget("metric", { metric: "visitors", compare: "previous_period" }),
      widget("timeseries", { metrics: ["pageviews"], interval: "day" }),
      widget("breakdown", { dimension: "page", metrics: ["visitors", "pageviews"] }),
      widget("map", { metric: "visitors" }),
      widget("goals", { goal_ids: [goal] }),
      widget("funnel", { steps }),
      widget("web_vitals"),
      widget("metric", { metric: "visitors", goal_id: goal, sparkline: false }),
    ])
    const results = await dataOf(id)
    const get = async (path: string) => (await stage.get(`/stats/${path}`)).body
    const week = "period=7d"
    expect(results.map((result) => result.status === "ok" && result.data)).toEqual([
      await get(`summary?${week}&metrics=visitors&compare=previous_period`),
      await get(`timeseries?${week}&metrics=pageviews&interval=day`),
      await get(`breakdown?${week}&dimension=page&metrics=visitors,pageviews&limit=9`),
      await get(`breakdown?${week}&dimension=country&metrics=visitors&limit=100`),
      await get(`goals?${week}`),
      (await stage.post("/stats/funnel", { period: "7d", steps })).body,
      expect.objectContaining({ percentile: 75, metrics: {} }),
      await get(
        `summary?${week}&metrics=visitors&filters=${encodeURIComponent(JSON.stringify([{ dimension: "goal", values: ["Signed up"] }]))}`,
      ),
    ] as never)
    expect(results[0]).toMatchObject({
      data: { metrics: { visitors: 3 } },
      meta: { visitor_window: "day", sparkline: { interval: "day" } },
    })
    expect(results[7]).toMatchObject({ data: { metrics: { visitors: 1 } } })
    expect((results[7] as { meta: object }).meta).not.toHaveProperty("sparkline")
  })

  test("of a comparison are a summary per row, and those of a text its text", async () => {
    const row = (label: string, page: string) => ({ label, filters: [{ dimension: "page", values: [page] }] })
    const id = await board([
      widget("comparison", { metric: "visitors", rows: [row("Home", "/"), row("Pricing", "/pricing")] }),
      text("**Hi**"),
    ])
    expect(await dataOf(id)).toMatchObject([
      {
        status: "ok",
        data: {
          rows: [
            { label: "Home", data: { metrics: { visitors: 2 } } },
            { label: "Pricing", data: { metrics: { visitors: 2 } } },
          ],
        },
      },
      { status: "ok", data: { markdown: "**Hi**" } },
    ])
  })

  test("of annotations are the latest of the range, own personal ones included", async () => {
    for (const [at, words] of [
      ["2026-11-18", "Release"],
      ["2026-11-20", "Campaign"],
      ["2026-10-01", "Too early"],
    ] as const)
      await stage.post("/annotations", { at, text: words, scope: "site" })
    await stage.post("/annotations", { at: "2026-11-19", text: "Private", scope: "personal" })
    const id = await board([widget("annotations", { limit: 2 })], { visibility: "site" })
    const texts = async (as?: Member) => {
      const [result] = await dataOf(id, {}, as)
      return (result as { data: { data: { text: string }[]; has_more: boolean } }).data
    }
    expect((await texts()).data.map(({ text }) => text)).toEqual(["Campaign", "Private"])
    expect(await texts(stage.viewer)).toMatchObject({ data: [{ text: "Campaign" }, { text: "Release" }], has_more: false })
  })

  test("of realtime and of filters without a range of their own are filtered too", async () => {
    const id = await board([widget("realtime", { minutes: 5 })], { filters: [{ dimension: "page", values: ["/pricing"] }] })
    expect(await dataOf(id)).toMatchObject([{ status: "ok", data: { visitors: 0, minutes: { length: 5 } } }])
  })
})

describe("range, comparison and filters", () => {
  test.each<[string, object, object, object, number]>([
    ["of the dashboard apply", {}, { range: { period: "7d" } }, {}, 3],
    ["of the request win over the dashboard", {}, { range: { period: "7d" } }, { range: { from: "2026-11-01", to: "2026-11-10" } }, 1],
    ["of the widget win over both", { range: { period: "today" } }, { range: { period: "7d" } }, { range: { period: "28d" } }, 0],
    [
      "are added up",
      { filters: [{ dimension: "page", values: ["/"] }] },
      { filters: [{ dimension: "utm_source", values: ["news"] }] },
      {},
      1,
    ],
    [
      "of the request can only narrow",
      {},
      { filters: [{ dimension: "page", values: ["/"] }] },
      { filters: [{ dimension: "page", values: ["/pricing"] }] },
      // No event has both pages.
      0,
    ],
  ])("%s", async (_, config, fields, request, visitors) => {
    const id = await board([widget("metric", { metric: "visitors", sparkline: false, ...config })], fields)
    expect(await dataOf(id, request)).toMatchObject([{ status: "ok", data: { metrics: { visitors } } }])
  })

  test("thirty filters together still apply", async () => {
    const filters = (page: string) => new Array(10).fill({ dimension: "page", operator: "is_not", values: [page] })
    const id = await board([widget("metric", { metric: "visitors", sparkline: false, filters: filters("/a") })], { filters: filters("/b") })
    expect(await dataOf(id, { filters: filters("/") })).toMatchObject([{ status: "ok", data: { metrics: { visitors: 2 } } }])
  })

  test("the answer says which range it covers", async () => {
    const { body } = await stage.post(`/dashboards/${await board([])}/data`)
    expect(body).toEqual({
      results: {},
      range: { from: "2026-11-15", to: "2026-11-21", timezone: "Europe/Berlin", includes_today: true },
      generated_at: "2026-11-21T12:00:00Z",
    })
  })

  test("a request names the widgets that it wants", async () => {
    const id = await board([text("a"), text("b")])
    const { body } = (await stage.get(`/dashboards/${id}`)) as { body: { widgets: { id: number }[] } }
    const second = body.widgets[1]!.id
    expect((await stage.post(`/dashboards/${id}/data`, { widgets: [second] })).body).toMatchObject({
      results: { [second]: { status: "ok" } },
    })
    expect(await dataOf(id, { widgets: [second] })).toHaveLength(1)
  })
})

describe("a widget fails alone", () => {
  test("when its goal was deleted, and works again once another one was chosen", async () => {
    const made = async (name: string) => ((await stage.post("/goals", { kind: "event", value: name, name })).body as { id: number }).id
    const [old, replacement] = [await made("old_goal"), await made("new_goal")]
    const id = await board([widget("metric", { metric: "visitors", goal_id: old }), text()])
    await stage.send("DELETE", `/goals/${old}`)
    expect(await dataOf(id)).toMatchObject([{ status: "error", error: { code: "broken_reference", kind: "goal" } }, { status: "ok" }])
    const { body } = (await stage.get(`/dashboards/${id}`)) as { body: { widgets: { config: object }[] } }
    const [broken, other] = body.widgets
    await stage.send("PUT", `/dashboards/${id}`, {
      ...body,
      widgets: [{ ...broken, config: { metric: "visitors", goal_id: replacement } }, other],
    })
    expect((await dataOf(id))[0]).toMatchObject({ status: "ok", data: { metrics: { visitors: 0 } } })
  })

  test.each<[string, Record<string, unknown>, object, object]>([
    [
      "identity_insufficient, with its members",
      widget("waiting_card", { fails: true }),
      {},
      { code: "identity_insufficient", needed_days: 7 },
    ],
    [
      "internal_error, without its cause",
      widget("waiting_card", { fails: false }),
      {},
      { code: "internal_error", detail: "Something went wrong. Try again." },
    ],
    [
      "unsupported_combination for a filter that it can't have",
      widget("waiting_card"),
      { filters: [{ dimension: "page", values: ["/"] }] },
      { code: "unsupported_combination" },
    ],
    [
      "unsupported_combination for a metric without its dimension",
      widget("metric", { metric: "exit_rate" }),
      {},
      { code: "unsupported_combination" },
    ],
    [
      "unsupported_combination for too many points",
      widget("timeseries", { metrics: ["visits"], interval: "hour", range: { from: "2026-01-01", to: "2026-11-01" } }),
      {},
      { code: "unsupported_combination" },
    ],
  ])("with %s", async (_, failing, request, error) => {
    const id = await board([failing, text()])
    expect(await dataOf(id, request)).toMatchObject([{ status: "error", error }, { status: "ok" }])
    expect(JSON.stringify(await dataOf(id, request))).not.toContain("secret cause")
  })

  test("with forbidden when the viewer lacks its permission", async () => {
    const id = await board([widget("metric", { metric: "revenue" }), widget("power_users", {}, { h: 3 })], { visibility: "site" })
    const { body } = (await stage.get("/api/private/organizations/1/members")) as { body: { data: { user: { id: number } }[] } }
    const member = await stage.signIn({ role: "viewer" })
    const { user } = (await stage.get("/api/private/me", member)).body as { user: { id: number } }
    expect(body.data.length).toBeGreaterThan(0)
    const denied = await stage.send("PATCH", `/api/private/organizations/1/members/${user.id}`, {
      denies: ["revenue:read", "cohorts:read"],
    })
    expect(denied.status).toBe(200)
    const again = { cookie: member.cookie }
    const answer = await stage.post(`/dashboards/${id}/data`, {}, again)
    // A change of permissions renews the token of a session.
    const as = answer.status === 401 ? undefined : again
    if (as)
      expect(Object.values((answer.body as { results: Results }).results)).toMatchObject([
        { status: "error", error: { code: "forbidden", required_permission: "revenue:read" } },
        { status: "error", error: { code: "forbidden", required_permission: "cohorts:read" } },
      ])
    expect(as).toBeDefined()
  })

  test("with site_not_found on a site that the viewer can't see, and on one that is gone", async () => {
    const { sites } = stage.instance.app.instance
    const { id: other } = await sites.create(1, { name: "Blog", hosts: [`blog${Date.now() % 1000}.example`] })
    const id = await board([widget("metric", { metric: "visitors", sparkline: false }, { source_site_id: other }), text()], {
      visibility: "site",
    })
    const guest = await stage.signIn({ role: "guest", siteRole: "viewer" })
    expect((await dataOf(id))[0]).toMatchObject({ status: "ok", data: { site_id: other } })
    const [hidden] = await dataOf(id, {}, guest)
    expect(hidden).toMatchObject({ status: "error", error: { code: "site_not_found" } })
    await sites.remove(other)
    expect((await dataOf(id))[0]).toEqual(hidden!)
    // Saving the unchanged widget is possible for people who don't see the site, using it anew is not.
    expect(
      refusal(
        await stage.post("/dashboards", { name: "a", widgets: [widget("text", { markdown: "a" }, { source_site_id: other })] }, guest),
      ).errors,
    ).toEqual(["/widgets/0/source_site_id site_not_found"])
  })

  test("as unavailable when its plugin is off, also if it is turned off while the widget loads, and works again", async () => {
    const { plugins } = stage.instance.app.instance
    const id = await board([widget("waiting_card"), text()])
    const turn = (enabled: boolean) => plugins.turn("waiting", enabled, null)
    const loading = dataOf(id)
    const answer = await asked()
    await turn(false)
    answer()
    expect(await loading).toMatchObject([{ status: "unavailable" }, { status: "ok" }])
    expect(await dataOf(id)).toMatchObject([{ status: "unavailable" }, { status: "ok" }])
    expect((await stage.get(`/dashboards/${id}`)).body).toMatchObject({
      widgets: [{ type: "waiting_card", available: false }, { available: true }],
    })
    await turn(true)
    probe.answer = undefined
    const again = dataOf(id)
    ;(await asked())()
    expect(await again).toMatchObject([{ status: "ok", data: { given: { from: "2026-11-15", to: "2026-11-21" } } }, { status: "ok" }])
  })
})

test("each widget is a line of a stream as soon as it is known, and the last line has the rest", async () => {
  probe.answer = undefined
  const id = await board([widget("waiting_card"), text("first")])
  const request = new Request(`http://localhost/api/private/sites/1/dashboards/${id}/data`, {
    method: "POST",
    headers: { ...stage.owner, accept: "application/x-ndjson", "content-type": "application/json" },
    body: "{}",
  })
  const response = await stage.instance.fetch(request)
  expect(response.headers.get("content-type")).toBe("application/x-ndjson")
  const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader()
  const next = async () => JSON.parse((await reader.read()).value!) as { results?: Results; range?: object }
  expect(Object.values((await next()).results!)).toEqual([{ status: "ok", data: { markdown: "first" }, meta: {} }])
  ;(await asked())()
  expect(Object.values((await next()).results!)).toMatchObject([{ status: "ok" }])
  expect(await next()).toEqual({
    range: { from: "2026-11-15", to: "2026-11-21", timezone: "Europe/Berlin", includes_today: true },
    generated_at: "2026-11-21T12:00:00Z",
  } as object)
  expect((await reader.read()).done).toBe(true)
})

describe("equal queries", () => {
  /**
   * Counts the queries of the engine. With a clock that runs fast they are in the list of slow queries, except for those that begin and end
   * between two ticks. So a run may count too few and never too many.
   */
  async function queriesOf(work: () => Promise<unknown>): Promise<number> {
    const { slowQueries } = probe.host!.services.console
    const before = new Set(slowQueries.list())
    let isOver = false
    const ended = work().finally(() => {
      isOver = true
    })
    const tickUntilOver = async (next: () => Promise<unknown>) => {
      while (!isOver) {
        stage.instance.clock.advance(1_000)
        await next()
      }
    }
    await Promise.all([ended, tickUntilOver(() => new Promise((resolve) => setImmediate(resolve))), tickUntilOver(() => Bun.sleep(0))])
    return slowQueries.list().filter((query) => !before.has(query)).length
  }

  test("of 30 widgets run once, and different ones once each", async () => {
    const equal = await stage.make({
      ...{ name: "Equal", ...WEEK },
      widgets: Array.from({ length: 30 }, (_, i) =>
        widget("breakdown", { dimension: "page", bars: i % 2 === 0 }, { y: i * 2, title: `Tile ${i}` }),
      ),
    })
    const different = await board([
      ...["page", "source", "device"].map((dimension) => widget("breakdown", { dimension })),
      ...["visitors", "visits"].map((metric) => widget("metric", { metric, sparkline: false })),
      widget("comparison", {
        metric: "visitors",
        rows: [
          { label: "All", filters: [] },
          { label: "Home", filters: [{ dimension: "page", values: ["/"] }] },
        ],
      }),
    ])
    const most = async (id: number, wanted: number) => {
      let count = 0
      for (let run = 0; run < 30 && count < wanted; run++)
        count = Math.max(count, await queriesOf(() => stage.post(`/dashboards/${id}/data`)))
      return count
    }
    expect(await most(equal, 1)).toBe(1)
    // The first row of the comparison is the query of the first figure.
    expect(await most(different, 6)).toBe(6)
  })
})

describe("CSV", () => {
  const csv = async (config: Record<string, unknown>, query = "", as?: Member) => {
    const id = await board([config], { visibility: "site" })
    const { body } = (await stage.get(`/dashboards/${id}`)) as { body: { widgets: { id: number }[] } }
    return stage.get(`/dashboards/${id}/widgets/${body.widgets[0]!.id}.csv${query}`, as)
  }
  test.each<[string, Record<string, unknown>, string, string]>([
    ["a metric", widget("metric", { metric: "visitors" }), "", '"visitors"\r\n3\r\n'],
    [
      "a list",
      widget("breakdown", { dimension: "page", metrics: ["visitors", "pageviews"] }),
      "",
      '"value","visitors","pageviews","share"\r\n"/",2,2,66.7\r\n"/pricing",2,2,66.7\r\n',
    ],
    [
      "a filtered list",
      widget("breakdown", { dimension: "page" }),
      `?filters=${encodeURIComponent('[{"dimension":"page","values":["/"]}]')}`,
      '"value","visitors","share"\r\n"/",2,100\r\n',
    ],
    [
      "another range",
      widget("metric", { metric: "visitors" }),
      `?range=${encodeURIComponent('{"from":"2026-11-05","to":"2026-11-05"}')}`,
      '"visitors"\r\n1\r\n',
    ],
    ["a text", text("=1+1"), "", '"markdown"\r\n"\'=1+1"\r\n'],
  ])("has the figures of %s", async (_, config, query, lines) => {
    const answer = await csv(config, query)
    expect(answer).toMatchObject({ status: 200, body: lines })
    expect(answer.headers.get("content-type")).toBe("text/csv; charset=utf-8")
    expect(answer.headers.get("content-disposition")).toStartWith("attachment")
  })

  test.each<[string, string, number, string]>([
    ["an unknown widget", "/dashboards/0/widgets/999.csv", 404, "widget_not_found"],
    ["another name", "/dashboards/0/widgets/one.csv", 404, "widget_not_found"],
    ["a range that is no JSON", "/dashboards/0/widgets/1.csv?range=7d", 400, "invalid_query"],
    ["an unknown parameter", "/dashboards/0/widgets/1.csv?site=2", 400, "invalid_query"],
  ])("is refused for %s", async (_, path, status, code) => {
    expect(refusal(await stage.get(path))).toMatchObject({ status, code })
  })
})
