import { afterAll, beforeAll, describe, expect, test } from "bun:test"
import { type Member, refusal, text, widget } from "./kit.ts"
import { type DataStage, startVisits } from "./visits.ts"

let stage: DataStage
beforeAll(async () => {
  stage = await startVisits()
})
afterAll(() => stage[Symbol.asyncDispose]())

describe("the figures of a widget", () => {
  test("are those of the report's own route", async () => {
    const goal = ((await stage.post("/goals", { kind: "event", value: "signup", name: "Signed up" })).body as { id: number }).id
    const steps = [
      { type: "page", value: "/pricing" },
      { type: "event", value: "signup" },
    ]
    const id = await stage.board([
      widget("metric", { metric: "visitors", compare: "previous_period" }),
      widget("timeseries", { metrics: ["pageviews"], interval: "day" }),
      widget("breakdown", { dimension: "page", metrics: ["visitors", "pageviews"] }),
      widget("map", { metric: "visitors" }),
      widget("goals", { goal_ids: [goal] }),
      widget("funnel", { steps }),
      widget("web_vitals"),
      widget("metric", { metric: "visitors", goal_id: goal, sparkline: false }),
    ])
    const results = await stage.dataOf(id)
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
    const id = await stage.board([
      widget("comparison", { metric: "visitors", rows: [row("Home", "/"), row("Pricing", "/pricing")] }),
      text("**Hi**"),
    ])
    expect(await stage.dataOf(id)).toMatchObject([
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
    const id = await stage.board([widget("annotations", { limit: 2 })], { visibility: "site" })
    const texts = async (as?: Member) => {
      const [result] = await stage.dataOf(id, {}, as)
      return (result as { data: { data: { text: string }[]; has_more: boolean } }).data
    }
    expect((await texts()).data.map(({ text }) => text)).toEqual(["Campaign", "Private"])
    expect(await texts(stage.viewer)).toMatchObject({ data: [{ text: "Campaign" }, { text: "Release" }], has_more: false })
  })

  test("of realtime and of filters without a range of their own are filtered too", async () => {
    const id = await stage.board([widget("realtime", { minutes: 5 })], { filters: [{ dimension: "page", values: ["/pricing"] }] })
    expect(await stage.dataOf(id)).toMatchObject([{ status: "ok", data: { visitors: 0, minutes: { length: 5 } } }])
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
    const id = await stage.board([widget("metric", { metric: "visitors", sparkline: false, ...config })], fields)
    expect(await stage.dataOf(id, request)).toMatchObject([{ status: "ok", data: { metrics: { visitors } } }])
  })

  test("thirty filters together still apply", async () => {
    const filters = (page: string) => new Array(10).fill({ dimension: "page", operator: "is_not", values: [page] })
    const id = await stage.board([widget("metric", { metric: "visitors", sparkline: false, filters: filters("/a") })], {
      filters: filters("/b"),
    })
    expect(await stage.dataOf(id, { filters: filters("/") })).toMatchObject([{ status: "ok", data: { metrics: { visitors: 2 } } }])
  })

  test("the answer says which range it covers", async () => {
    const { body } = await stage.post(`/dashboards/${await stage.board([])}/data`)
    expect(body).toEqual({
      results: {},
      range: { from: "2026-11-15", to: "2026-11-21", timezone: "Europe/Berlin", includes_today: true },
      generated_at: "2026-11-21T12:00:00Z",
    })
  })

  test("a request names the widgets that it wants", async () => {
    const id = await stage.board([text("a"), text("b")])
    const { body } = (await stage.get(`/dashboards/${id}`)) as { body: { widgets: { id: number }[] } }
    const second = body.widgets[1]!.id
    expect((await stage.post(`/dashboards/${id}/data`, { widgets: [second] })).body).toMatchObject({
      results: { [second]: { status: "ok" } },
    })
    expect(await stage.dataOf(id, { widgets: [second] })).toHaveLength(1)
  })
})

describe("CSV", () => {
  const csv = async (config: Record<string, unknown>, query = "", as?: Member) => {
    const id = await stage.board([config], { visibility: "site" })
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
