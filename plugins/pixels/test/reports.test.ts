import { expect, test } from "bun:test"
import { openStage, PIXELS } from "./stage.ts"

const DAY_MS = 86_400_000

test.each([
  ["?limit=0", "/limit"],
  ["?limit=201", "/limit"],
  ["?kind=fax", "/kind"],
  ["?state=gone", "/state"],
  ["?sort=colour", "/sort"],
  ["?colour=red", "/colour"],
  ["/1/stats?period=ever", "/period"],
  ["/1/stats?metrics=visitors", "/metrics"],
  ["/1/timeseries?interval=minute", "/interval"],
  ["/1/breakdown?dimension=page", "/dimension"],
  ["/1/breakdown?dimension=param:", "/dimension"],
  ["/1/breakdown?dimension=param:a%20b", "/dimension"],
  ["/1/breakdown?sort=visitors", "/sort"],
  ["/1/breakdown?limit=9999", "/limit"],
  ["/1/snippet?format=pdf", "/format"],
])("rejects the query %s", async (path, pointer) => {
  await using stage = await openStage()
  await stage.make()
  const body = { code: "invalid_query", detail: "1 parameter is not valid.", errors: [{ pointer }] }
  expect(await stage.get(path)).toMatchObject({ status: 400, body })
})

const URL = "http://localhost:8080/p/news"
test.each([
  ["email", "html", `${URL}.gif`, `<img src="${URL}.gif" width="1" height="1" alt="">`],
  ["readme", "html", `${URL}/badge.svg`, `<img src="${URL}/badge.svg" width="96" height="20" alt="">`],
  ["readme", "markdown", `${URL}/badge.svg`, `![](${URL}/badge.svg)`],
  ["page", "markdown", `${URL}.gif`, `![](${URL}.gif)`],
  ["rss", "rst", `${URL}.gif`, `.. image:: ${URL}.gif\n   :width: 1\n   :height: 1\n   :alt:\n`],
  ["page", "bbcode", `${URL}.gif`, `[img]${URL}.gif[/img]`],
])("returns the snippet of a %s pixel as %s", async (kind, format, url, snippet) => {
  await using stage = await openStage()
  await stage.make({ slug: "news", kind })
  expect((await stage.get(`/1/snippet?format=${format}`)).body).toEqual({ format, snippet, url })
  expect((await stage.ask(url.slice("http://localhost:8080".length))).status).toBe(200)
})

test("reports opens over time, compared and filtered", async () => {
  await using stage = await openStage()
  const { slug } = await stage.make()
  await stage.ask(`/p/${slug}.gif?utm_source=news`)
  await stage.ask(`/p/${slug}.gif`, { headers: { "user-agent": "github-camo (1)" } })
  stage.clock.advance(DAY_MS)
  const cookie = await stage.signIn({ role: "viewer" })
  const get = async (path: string) => (await stage.api.get(`${PIXELS}/1${path}`, undefined, { cookie })).body
  await stage.ask(`/p/${slug}.gif`)
  await stage.app.collector.recorded()
  const nothing = { opens_total: 0, opens_direct: 0, opens_proxied: 0, opens_prefetched: 0, bots: 0 }
  expect(await get("/timeseries?from=2026-11-20&to=2026-11-22&interval=day")).toMatchObject({
    interval: "day",
    points: [
      { time: "2026-11-20", ...nothing },
      { time: "2026-11-21", ...nothing, opens_total: 2, opens_direct: 1, opens_proxied: 1 },
      { time: "2026-11-22", ...nothing, opens_total: 1, opens_direct: 1, partial: true },
    ],
    meta: { range: { from: "2026-11-20", to: "2026-11-22", timezone: "Europe/Berlin" } },
  })
  expect(await get("/stats?period=today&compare=previous_period")).toMatchObject({
    opens_total: 1,
    unique_est: 1,
    comparison: { range: { from: "2026-11-21", to: "2026-11-21" }, opens_total: 2, opens_proxied: 1, unique_est: 1 },
    meta: { notes: [expect.stringContaining("estimate")] },
  })
  const filters = encodeURIComponent(JSON.stringify([{ dimension: "utm_source", operator: "is", values: ["news"] }]))
  expect(await get(`/stats?filters=${filters}`)).toMatchObject({ opens_total: 1, opens_direct: 1, opens_proxied: 0 })
})
