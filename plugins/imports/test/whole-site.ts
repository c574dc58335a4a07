import { expect } from "bun:test"
import { type ImportStage, simpleAnalytics, startImports } from "./kit.ts"

/** A site with every kind of data: visits with all kinds of events, definitions, and imports of visits and of totals. */
export const SITE = "/api/private/sites/1"
const AGENTS = [
  "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/141.0.0.0 Safari/537.36",
  "Mozilla/5.0 (iPhone; CPU iPhone OS 17_2 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.2 Mobile/15E148 Safari/604.1",
  "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0",
]
const ENTRIES = [
  "/?utm_source=news&utm_medium=email&utm_campaign=spring&utm_content=top&utm_term=tea",
  "/blog/a?gclid=1",
  "/",
  "/pricing?ref=partner.example",
]
const REFERRERS = ["https://www.google.com/", "", "https://news.example/story", undefined]

/** Opens an empty site that knows users by id, on a day on which both sites of the test begin. */
export async function openSite(): Promise<ImportStage> {
  const stage = await startImports({ now: "2026-11-16T08:00:00Z" })
  const changed = await stage.instance.api.send("PATCH", `${SITE}/settings`, { identity_mode: "identified" }, undefined, stage.headers)
  expect(changed.status).toBe(200)
  return stage
}

/** Records visits with every kind of event on several days, some of them across midnight. */
export async function recordTraffic({ instance }: ImportStage): Promise<void> {
  const { clock } = instance
  for (let visit = 0; visit < 30; visit++) {
    const address = `198.51.100.${visit % 11}`
    const headers = { "user-agent": AGENTS[visit % 3]!, "accept-language": ["de-DE", "en", "fr-CA"][visit % 3]! }
    const known = visit % 4 === 0 ? { x: `user ${visit % 8}` } : visit % 4 === 1 ? { y: String(visit % 5).repeat(32) } : {}
    const send = async (n: string, path: string, more: object = {}) => {
      const payload = {
        n,
        u: `https://shop.example${path}`,
        d: instance.site.tracking_id,
        w: [390, 800, 1600][visit % 3],
        ...known,
        ...more,
      }
      expect((await instance.collect(payload, { address, headers })).status).toBe(202)
      clock.advance(7_000 + visit * 411)
    }
    await send("pageview", ENTRIES[visit % 4]!, { r: REFERRERS[visit % 4], t: `=Entry "${visit % 4}"`, l: "de-AT" })
    await send("engagement", ENTRIES[visit % 4]!, { e: 4_000 + visit, sd: 20 + visit })
    await send("vitals", ENTRIES[visit % 4]!, {
      f: { lcp: 1_000 + visit * 37, inp: 80 + visit, fcp: 700, ttfb: 90 + visit, cls: visit / 100 },
    })
    if (visit % 3 === 0) await send("pageview", `/blog/${visit % 5}`, { p: { author: "=Ann", "@team": `+${visit % 2}` } })
    if (visit % 5 === 0) await send("Signup", "/signup", { p: { plan: visit % 2 ? "pro" : "-free", seats: visit } })
    if (visit % 6 === 0)
      await send("Purchase", "/thanks", { $: { amount: `${visit}.5`, currency: visit % 4 ? "USD" : "EUR" }, p: { order_id: visit } })
    if (visit % 7 === 0) await send("Heartbeat", "/thanks", { i: false })
    if (visit % 9 === 0) await send("404", "/missing")
    if (visit % 10 === 0) await send("Outbound Link: Click", "/", { p: { url: "https://other.example/?a=1" } })
    clock.advance(visit % 8 === 7 ? 13 * 3_600_000 : 2 * 3_600_000)
  }
}

/** Creates goals of every kind, a funnel, a segment and an annotation. */
export async function define({ instance, headers }: ImportStage): Promise<void> {
  const things: [path: string, body: object][] = [
    ["goals", { kind: "event", value: "Signup" }],
    ["goals", { kind: "page", match: "prefix", value: "/blog" }],
    ["goals", { kind: "event", value: "Purchase", name: "=Buy", props: { order_id: "12" } }],
    ["goals", { kind: "scroll", value: "/", threshold: 30 }],
    [
      "funnels",
      {
        name: "Order",
        window_hours: 48,
        steps: [
          { type: "page", value: "/" },
          { type: "page", match: "prefix", value: "/blog" },
        ],
      },
    ],
    ["segments", { name: "Phones", scope: "site", filters: [{ dimension: "device", operator: "is", values: ["Mobile"] }] }],
    ["annotations", { text: "Launch", at: "2026-11-17T10:00:00Z", scope: "site" }],
  ]
  for (const [path, body] of things)
    expect(await instance.api.post(`${SITE}/${path}`, body, undefined, headers)).toMatchObject({ status: 201 })
}

const FIVE = { visitors: 4, visits: 5, pageviews: 12, bounces: 2, visit_duration: 300 }
const NINE = { visitors: 9, visits: 11, pageviews: 20, bounces: 3, visit_duration: 777 }
/** Totals of all thirteen kinds, of whole days and of hours. */
const TOTALS = [
  { kind: "imported_visitors", day: "2026-10-01", ...NINE },
  { kind: "imported_visitors", day: "2026-10-02", ...FIVE, events: 15 },
  { kind: "imported_visitors", day: "2026-10-06", hour: 9, ...FIVE, events: 13 },
  { kind: "imported_visitors", day: "2026-10-06", hour: 21, visitors: 2, visits: 2, pageviews: 2, bounces: 2 },
  { kind: "imported_sources", day: "2026-10-01", source: "Google", channel: "Organic Search", referrer: "google.com", ...NINE },
  {
    kind: "imported_sources",
    day: "2026-10-02",
    source: "News",
    utm_source: "news",
    utm_medium: "email",
    utm_campaign: "=spring",
    ...FIVE,
  },
  { kind: "imported_pages", day: "2026-10-01", hostname: "shop.example", page: "/", visitors: 8, visits: 9, pageviews: 14, exits: 4 },
  { kind: "imported_pages", day: "2026-10-02", hostname: "shop.example", page: "/blog/a", visitors: 4, visits: 5, pageviews: 12, exits: 2 },
  {
    kind: "imported_pages",
    day: "2026-10-06",
    page: "/",
    visitors: 6,
    visits: 7,
    pageviews: 9,
    exits: 7,
    scroll_depth_sum: 500,
    scroll_depth_visits: 10,
  },
  {
    kind: "imported_pages",
    day: "2026-10-06",
    page: "/blog/b",
    visitors: 2,
    visits: 2,
    pageviews: 5,
    exits: 0,
    time_on_page: 90,
    time_on_page_visits: 2,
  },
  {
    kind: "imported_entry_pages",
    day: "2026-10-01",
    entry_page: "/",
    visitors: 8,
    entrances: 9,
    pageviews: 14,
    bounces: 2,
    visit_duration: 80,
  },
  {
    kind: "imported_exit_pages",
    day: "2026-10-01",
    exit_page: "/blog/a",
    visitors: 7,
    exits: 8,
    pageviews: 14,
    bounces: 2,
    visit_duration: 80,
  },
  { kind: "imported_locations", day: "2026-10-01", country: "DE", region: "DE-BE", city: "2950159", ...NINE },
  { kind: "imported_locations", day: "2026-10-02", country: "FR", ...FIVE },
  { kind: "imported_devices", day: "2026-10-01", device: "Mobile", ...NINE },
  { kind: "imported_browsers", day: "2026-10-01", browser: "Chrome", browser_version: "131.0", ...NINE },
  { kind: "imported_operating_systems", day: "2026-10-02", os: "Mac", os_version: "15.1", ...FIVE },
  { kind: "imported_languages", day: "2026-10-06", language: "de-DE", ...FIVE },
  { kind: "imported_sizes", day: "2026-10-06", size: "<576", ...FIVE },
  {
    kind: "imported_custom_events",
    day: "2026-10-01",
    name: "Outbound Link: Click",
    link_url: "https://other.example/x",
    visitors: 3,
    events: 4,
  },
  { kind: "imported_custom_events", day: "2026-10-02", name: "Signup", path: "/signup", visitors: 2, events: 2 },
  { kind: "imported_custom_props", day: "2026-10-01", property: "plan", value: "pro", visitors: 2, events: 3 },
]
const lines = (rows: readonly object[]) => rows.map((row) => `${JSON.stringify(row)}\n`).join("")
const totals = (rows: readonly object[]) => ({
  source: "footfall",
  files: [
    { name: "manifest.json", content: JSON.stringify({ format: "footfall-site", version: 2 }) },
    { name: "imported.ndjson", content: lines(rows) },
  ],
})
const visits = (...rows: [day: string, path: string][]) => ({
  source: "simple_analytics",
  files: [
    {
      name: "export.csv",
      content: simpleAnalytics(rows.map(([day, path], at) => ({ at: `${day}T1${at % 9}:00:00Z`, path, session: `s${at % 3}` }))),
    },
  ],
})

/** Imports totals and visits of days that they share in part, and one import that is hidden. */
export async function importHistory(stage: ImportStage): Promise<void> {
  expect(await stage.run(totals(TOTALS))).toMatchObject({ state: "completed", days_effective: 3 })
  expect(await stage.run(totals(TOTALS.slice(0, 7)))).toMatchObject({ state: "completed", days_effective: 0 })
  const some = visits(["2026-10-02", "/masked"], ["2026-10-03", "/"], ["2026-10-03", "/blog/a"], ["2026-10-04", "/late"])
  expect(await stage.run(some)).toMatchObject({ state: "completed", days_effective: 2 })
  const hidden = await stage.run(visits(["2026-10-08", "/hidden"]))
  expect(await stage.send("PATCH", `/${hidden.id}`, { enabled: false })).toMatchObject({ status: 200 })
}
