import { expect, test } from "bun:test"
import { startInstance } from "../../kit.ts"

const NOW = "2026-11-21T12:00:00Z"
const stats = "/api/public/v1/sites/1/stats"
const today = { from: "2026-11-21", to: "2026-11-21", timezone: "Europe/Berlin", includes_today: true }

test("collected events appear in every report immediately", async () => {
  await using instance = await startInstance({ now: NOW })
  const { api, collect, statsKey } = instance
  await instance.app.instance.goals.create(instance.site, { kind: "event", value: "Join" })
  await collect({ n: "pageview", u: "https://shop.example/a?utm_source=News", d: "shop.example" })
  await collect({ n: "Join", u: "https://shop.example/b", d: "shop.example", $: { currency: "EUR", amount: "9.90" } })
  const ask = async (path: string) => (await api.get(`${stats}/${path}`, statsKey)).body

  expect(await ask("summary?period=today&metrics=visitors,events,revenue")).toEqual({
    site_id: 1,
    range: today,
    revenue_currency: "EUR",
    metrics: { visitors: 1, events: 2, revenue: 9.9 },
  })
  expect(await ask("timeseries?period=today&interval=day")).toEqual({
    site_id: 1,
    range: today,
    interval: "day",
    points: [{ time: "2026-11-21", partial: true, visitors: 1, pageviews: 1 }],
  })
  expect(
    await ask(`breakdown?period=today&dimension=source&filters=${encodeURIComponent('[{"dimension":"page","values":["/a"]}]')}`),
  ).toEqual({
    site_id: 1,
    range: today,
    dimension: "source",
    rows: [{ value: "News", visitors: 1, pageviews: 1, share: 100 }],
    total_rows: 1,
    has_more: false,
  })
  expect(await ask("realtime")).toMatchObject({
    at: NOW,
    visitors: 1,
    pages: [{ value: "/a", visitors: 1 }],
    sources: [{ value: "News", visitors: 1 }],
  })
  expect(await ask("goals?period=today")).toMatchObject({
    goals: [{ goal_id: 1, name: "Join", visitors: 1, conversions: 1, conversion_rate: 100, revenue: 9.9 }],
  })
})

test.each([
  ["summary?period=8w", 400, "invalid_query", [["/period", "invalid_choice"]]],
  [
    "summary?colour=red&from=2026-11-01",
    400,
    "invalid_query",
    [
      ["/colour", "unknown_field"],
      ["/to", "invalid_range"],
    ],
  ],
  ["summary?period=7d&period=7d", 400, "invalid_query", [["/period", "duplicate_parameter"]]],
  ["summary?from=2026-02-30&to=2026-03-01", 400, "invalid_query", [["/from", "invalid_date"]]],
  ["summary?metrics=visitors,hits", 400, "invalid_query", [["/metrics", "invalid_choice"]]],
  ["summary?metrics[]=visitors", 400, "invalid_query", [["/metrics[]", "unknown_field"]]],
  ["summary?filters=%5B", 400, "invalid_query", [["/filters", "invalid_type"]]],
  ["summary?filters=%5B%7B%22dimension%22%3A%22page%22%7D%5D", 400, "invalid_query", [["/filters/0/values", "required"]]],
  ["summary?period=%00", 400, "invalid_query", [["/period", "invalid_choice"]]],
  ["summary?__proto__=1", 400, "invalid_query", [["/__proto__", "unknown_field"]]],
  ["summary?timezone=Europe%2FNowhere", 400, "invalid_query", [["/timezone", "invalid_timezone"]]],
  ["timeseries?period=90d&interval=hour", 400, "invalid_query", [["/interval", "too_many_points"]]],
  ["breakdown", 400, "invalid_query", [["/dimension", "required"]]],
  ["breakdown?dimension=page&limit=1e1", 400, "invalid_query", [["/limit", "invalid_type"]]],
  ["breakdown?dimension=event&metrics=bounce_rate", 400, "invalid_query", [["/metrics", "unsupported_combination"]]],
  ["realtime?limit=51", 400, "invalid_query", [["/limit", "out_of_range"]]],
  ["goals?metrics=visitors", 400, "invalid_query", [["/metrics", "unknown_field"]]],
])("rejects %s", async (path, status, code, faults) => {
  await using instance = await startInstance({ now: NOW })
  const answer = await instance.api.get(`${stats}/${path}`, instance.statsKey)
  expect(answer).toMatchObject({ status, body: { code } })
  // A problem lists its errors.
  const { errors } = answer.body as { errors: { pointer: string; code: string }[] }
  expect(errors.map((fault) => [fault.pointer, fault.code])).toEqual(faults)
})

test.each([
  ["without a key", undefined, `${stats}/summary?period=8w`, 401, "missing_api_key"],
  ["without the required scope", "events", `${stats}/summary?period=8w`, 403, "insufficient_scope"],
  ["on an unknown site", "stats", "/api/public/v1/sites/9/stats/summary?period=8w", 404, "site_not_found"],
  ["with another method", "stats", `${stats}/summary`, 405, "method_not_allowed"],
])("rejects statistics %s", async (_, key, path, status, code) => {
  await using instance = await startInstance({ now: NOW })
  const keys: Record<string, string> = { stats: instance.statsKey, events: instance.eventsKey }
  const { api } = instance
  const answer = await (status === 405 ? api.post(path, {}, keys[key!]) : api.get(path, key && keys[key]))
  expect(answer).toMatchObject({ status, body: { status, code } })
})
