import { afterAll, beforeAll, expect, test } from "bun:test"
import { FLAT_DIMENSIONS } from "../../../src/domain/dimension.ts"
import { EXPORT_FORMATS } from "../../../src/domain/export.ts"
import type { Breakdown } from "../../../src/domain/report.ts"
import type { TextFormat } from "../../../src/query/rows/export-text.ts"
import { startInstance, type TestInstance } from "../../kit.ts"
import { readCsv, recordsOf } from "./csv.ts"

/** Parquet is compared with NDJSON in incremental-export.test.ts. */
const TEXT_FORMATS = EXPORT_FORMATS.filter((format): format is TextFormat => format !== "parquet")
const EXPORT = "/api/public/v1/sites/1/export"
const TODAY = "2026-11-21"
let instance: TestInstance
let key: string

beforeAll(async () => {
  instance = await startInstance({ now: "2026-11-21T12:00:00Z" })
  key = await instance.makeKey(["export:read"])
  await recordTraffic(instance)
})
afterAll(() => instance[Symbol.asyncDispose]())

/** Records one visitor with two pages, a purchase and engagement, and a returning one with hostile text. */
async function recordTraffic({ app, clock, collect, site }: TestInstance): Promise<void> {
  await app.instance.goals.create(site, { kind: "event", value: "Buy" })
  const shop = (path: string, more: object = {}) => ({ n: "pageview", u: `https://shop.example${path}`, d: "shop.example", ...more })
  await collect(shop("/a?utm_source=News&utm_campaign=%3D1%2B1", { t: "First", l: "de-DE", tz: "Europe/Berlin" }))
  clock.advance(1_500)
  await collect(shop("/a", { n: "engagement", e: 1_200, sd: 60 }))
  clock.advance(1_000)
  await collect(shop("/b", { n: "Buy", p: { plan: "pro", seats: "3" }, $: { currency: "EUR", amount: "9.90" } }))
  clock.advance(60_000)
  await collect(shop("/b", { t: 'Say "hi", =SUM(A1)' }), { address: "198.51.100.8" })
  await collect(shop("/b", { n: "-1+1", i: false, p: { note: "a\r\nb" } }), { address: "198.51.100.8" })
}

interface Exported {
  status: number
  headers: Headers
  text: string
}

async function ask(query: string, { as = key, method = "GET", headers = {} }: { as?: string; method?: string; headers?: object } = {}) {
  const sent = { ...headers, authorization: `Bearer ${as}` }
  const answer = await instance.fetch(new Request(`http://localhost${EXPORT}?${query}`, { method, headers: sent }))
  return { status: answer.status, headers: answer.headers, text: await answer.text() } satisfies Exported
}

/** Returns rows as parsed JSON, whatever the format. */
function rowsOf(format: TextFormat, text: string): Record<string, unknown>[] {
  if (format === "json") return (JSON.parse(text) as { data: Record<string, unknown>[] }).data
  if (format === "csv") return recordsOf(text).map(asJson)
  return text
    .split("\n")
    .filter(Boolean)
    .map((line) => JSON.parse(line) as Record<string, unknown>)
}

const asJson = ({ props, partial, ...row }: Record<string, unknown>) => ({
  ...row,
  ...(partial === true && { partial }),
  ...(typeof props === "string" && { props: JSON.parse(props) as object }),
})

/** Pseudonyms depend on a random key, so they are replaced by their order of appearance. */
function withStableNames(rows: Record<string, unknown>[]): Record<string, unknown>[] {
  const names = new Map<unknown, string>()
  const short = (kind: string, name: unknown) => {
    expect(name).toMatch(/^[0-9a-f]{16}$/)
    if (!names.has(name)) names.set(name, `${kind} ${names.size + 1}`)
    return names.get(name)
  }
  return rows.map((row) => ({
    ...row,
    ...("visitor" in row && { visitor: short("person", row.visitor) }),
    ...("visit" in row && { visit: short("visit", row.visit) }),
  }))
}

const AGENT = { device: "Desktop", browser: "Chrome", browser_version: "141.0", os: "Windows", os_version: "10" }
const NEWS = {
  ...{ source: "News", channel: "Referral", utm_source: "News", utm_campaign: "=1+1", country: "DE", language: "de-DE" },
  ...AGENT,
}
const DIRECT = { channel: "Direct", ...AGENT }
const HOST = { hostname: "shop.example" }
const ONE = { visitor: "person 1", visit: "visit 2", ...NEWS, interactive: true, import_id: 0 }
const TWO = { visitor: "person 3", visit: "visit 4", ...DIRECT, interactive: true, import_id: 0 }
const POINT = { visitors: 0, pageviews: 0 }

const EXPECTED: [query: string, rows: object[]][] = [
  [
    "type=events&period=today",
    [
      { at: "2026-11-21T12:00:00.000Z", name: "pageview", page: "/a", ...HOST, title: "First", ...ONE, position: 1 },
      { at: "2026-11-21T12:00:01.500Z", name: "engagement", page: "/a", ...HOST, ...ONE, scroll_depth: 60, engaged_ms: 1200, position: 2 },
      {
        ...{ at: "2026-11-21T12:00:02.500Z", name: "Buy", page: "/b", ...HOST, ...ONE },
        ...{ revenue_amount: 9.9, revenue_currency: "EUR", props: { plan: "pro", seats: "3" }, position: 3 },
      },
      { at: "2026-11-21T12:01:02.500Z", name: "pageview", page: "/b", ...HOST, title: 'Say "hi", =SUM(A1)', ...TWO, position: 1 },
      {
        at: "2026-11-21T12:01:02.500Z",
        name: "-1+1",
        page: "/b",
        ...HOST,
        ...TWO,
        interactive: false,
        props: { note: "a\r\nb" },
        position: 2,
      },
    ],
  ],
  [
    "type=visits&period=today",
    [
      {
        ...{ visit: "visit 2", visitor: "person 1", started_at: "2026-11-21T12:00:00Z", last_at: "2026-11-21T12:00:02Z" },
        ...{ duration: 3, pageviews: 1, events: 2, bounce: false, engaged_seconds: 1 },
        ...{ entry_page: "/a", entry_page_hostname: "shop.example", exit_page: "/a", exit_page_hostname: "shop.example" },
        ...{ ...NEWS, import_id: 0 },
      },
      {
        ...{ visit: "visit 4", visitor: "person 3", started_at: "2026-11-21T12:01:02Z", last_at: "2026-11-21T12:01:02Z" },
        ...{ duration: 0, pageviews: 1, events: 2, bounce: true, engaged_seconds: 0 },
        ...{ entry_page: "/b", entry_page_hostname: "shop.example", exit_page: "/b", exit_page_hostname: "shop.example" },
        ...{ ...DIRECT, import_id: 0 },
      },
    ],
  ],
  [
    `type=timeseries&from=2026-11-20&to=${TODAY}&interval=day&metrics=visitors,revenue`,
    [
      { time: "2026-11-20", visitors: 0, revenue: 0 },
      { time: TODAY, partial: true, visitors: 2, revenue: 9.9 },
    ],
  ],
  [
    "type=timeseries&from=2026-11-19&to=2026-11-20&interval=day",
    [
      { time: "2026-11-19", ...POINT },
      { time: "2026-11-20", ...POINT },
    ],
  ],
  [
    "type=goals&period=today",
    [
      {
        ...{ goal_id: 1, name: "Buy", kind: "event", match: "exact", value: "Buy" },
        ...{ visitors: 1, conversions: 1, conversion_rate: 50, revenue: 9.9 },
      },
    ],
  ],
  [
    "type=utm_campaign&period=today",
    [
      { value: "(none)", visitors: 1, pageviews: 1, share: 50 },
      { value: "=1+1", visitors: 1, pageviews: 1, share: 50 },
    ],
  ],
  [
    "type=country&period=today&metrics=visits",
    [
      { value: "(none)", visits: 1 },
      { value: "DE", label: "Germany", visits: 1 },
    ],
  ],
  [
    "type=property&property=plan&period=today&metrics=events",
    [
      { value: "(none)", events: 3 },
      { value: "pro", events: 1 },
    ],
  ],
  ["type=events&period=yesterday", []],
  ["type=page&period=yesterday", []],
]

test.each(TEXT_FORMATS.flatMap((format) => EXPECTED.map(([query, rows]) => [format, query, rows] as const)))(
  "as %s: %s",
  async (format, query, rows) => {
    const { status, headers, text } = await ask(`${query}&format=${format}`)
    expect({ status, type: headers.get("content-type") }).toEqual({
      status: 200,
      type: { csv: "text/csv; charset=utf-8", json: "application/json; charset=utf-8", ndjson: "application/x-ndjson; charset=utf-8" }[
        format
      ],
    })
    expect(withStableNames(rowsOf(format, text))).toEqual(rows as Record<string, unknown>[])
  },
)

test.each([
  [
    "events",
    "at,name,page,hostname,title,visitor,visit,referrer,source,channel,utm_source,utm_medium,utm_campaign,utm_content,utm_term,country,region,city,device,size,browser,browser_version,os,os_version,language,interactive,revenue_amount,revenue_currency,props,import_id,scroll_depth,engaged_ms,position",
  ],
  [
    "visits",
    "visit,visitor,started_at,last_at,duration,pageviews,events,bounce,engaged_seconds,entry_page,entry_page_hostname,exit_page,exit_page_hostname,referrer,source,channel,utm_source,utm_medium,utm_campaign,utm_content,utm_term,country,region,city,device,size,browser,browser_version,os,os_version,language,import_id",
  ],
  ["timeseries", "time,partial,visitors,pageviews"],
  ["goals", "goal_id,name,kind,match,value,threshold,visitors,conversions,conversion_rate,revenue"],
  ["event", "value,label,visitors,events,conversion_rate,share"],
  ["page&metrics=time_on_page,visits", "value,label,time_on_page,visits"],
])("exports the columns of %s", async (type, header) => {
  const { text } = await ask(`type=${type}`)
  expect(text.split("\r\n")[0]).toBe(header)
  expect(readCsv(text).header).toEqual(header.split(","))
})

test("names the file after its content, and JSON includes the range", async () => {
  const { headers, text } = await ask("type=events&from=2026-11-20&to=2026-12-24&format=json&timezone=UTC")
  expect(headers.get("content-disposition")).toBe('attachment; filename="1-events-2026-11-20-2026-11-21.json"')
  expect(JSON.parse(text)).toMatchObject({ range: { from: "2026-11-20", to: TODAY, timezone: "UTC", includes_today: true } })
  expect((await ask("type=page&period=all")).headers.get("content-disposition")).toBe(
    'attachment; filename="1-page-2026-11-21-2026-11-21.csv"',
  )
})

test("a filter selects individual events, and visits with a matching event", async () => {
  const filters = encodeURIComponent('[{"dimension":"page","values":["/b"]}]')
  const events = rowsOf("csv", (await ask(`type=events&period=today&filters=${filters}`)).text)
  expect(events.map(({ name }) => name)).toEqual(["Buy", "pageview", "-1+1"])
  const visits = rowsOf("csv", (await ask(`type=visits&period=today&filters=${filters}`)).text)
  expect(visits.map(({ entry_page }) => entry_page)).toEqual(["/a", "/b"])
})

test.each(FLAT_DIMENSIONS)("a breakdown by %s equals that of the statistics, page by page", async (dimension) => {
  const named = dimension === "property" ? "&property=plan" : ""
  const shown: unknown[] = []
  for (let offset = 0, more = true; more; offset += 1) {
    const path = `/api/public/v1/sites/1/stats/breakdown?period=today&dimension=${dimension}${named}&limit=1&offset=${offset}`
    const { rows, has_more } = (await instance.api.get(path, instance.key)).body as Breakdown
    shown.push(...rows)
    more = has_more
  }
  for (const format of TEXT_FORMATS) {
    expect(rowsOf(format, (await ask(`type=${dimension}${named}&period=today&format=${format}`)).text)).toEqual(
      shown as Record<string, unknown>[],
    )
  }
})

test("HEAD returns the headers of GET and does not count as an export", async () => {
  const get = await ask("type=visits&format=ndjson")
  for (let i = 0; i < 3; i++) {
    const head = await ask("type=visits&format=ndjson", { method: "HEAD" })
    expect(head).toMatchObject({ status: 200, text: "" })
    for (const name of ["content-type", "content-disposition", "cache-control"]) expect(head.headers.get(name)).toBe(get.headers.get(name))
  }
  expect((await ask("type=nothing", { method: "HEAD" })).status).toBe(400)
})

test.each([
  ["", [["/type", "required"]]],
  ["type=hits", [["/type", "invalid_choice"]]],
  ["type=events,visits", [["/type", "invalid_choice"]]],
  ["type=events&format=xml", [["/format", "invalid_choice"]]],
  ["type=events&metrics=visitors", [["/metrics", "unsupported_combination"]]],
  ["type=goals&interval=day", [["/interval", "unsupported_combination"]]],
  ["type=page&property=plan", [["/property", "unsupported_combination"]]],
  ["type=property", [["/property", "required"]]],
  ["type=event&metrics=bounce_rate", [["/metrics", "unsupported_combination"]]],
  ["type=timeseries&period=90d&interval=hour", [["/interval", "too_many_points"]]],
  ["type=page&limit=5", [["/limit", "unknown_field"]]],
  ["type=timeseries&compare=previous_period", [["/compare", "unknown_field"]]],
  ["type=events&type=visits", [["/type", "duplicate_parameter"]]],
  [
    "colour=red&period=9w&type=hits&format=xml&timezone=x",
    [
      ["/colour", "unknown_field"],
      ["/period", "invalid_choice"],
      ["/type", "invalid_choice"],
      ["/format", "invalid_choice"],
      ["/timezone", "invalid_timezone"],
    ],
  ],
] as const)("rejects ?%s", async (query, faults) => {
  const { status, text } = await ask(query)
  const { code, errors } = JSON.parse(text) as { code: string; errors: { pointer: string; code: string }[] }
  expect({ status, code, faults: errors.map(({ pointer, code }) => [pointer, code]) }).toEqual({
    status: 400,
    code: "invalid_query",
    faults: faults.map((fault) => [...fault]),
  })
})

test.each([
  ["with another scope", () => ask("type=hits", { as: instance.statsKey }), 403, "insufficient_scope"],
  [
    "without a type that its format supports",
    () => ask("type=events&format=json", { headers: { accept: "text/csv" } }),
    406,
    "not_acceptable",
  ],
  ["without an acceptable format", () => ask("type=hits", { headers: { accept: "text/html" } }), 406, "not_acceptable"],
  [
    "with invalid parameters, in an unacceptable format",
    () => ask("type=hits&format=ndjson", { headers: { accept: "text/csv" } }),
    406,
    "not_acceptable",
  ],
  ["with another method", () => ask("type=events", { method: "POST" }), 405, "method_not_allowed"],
])("rejects an export %s", async (_, answer, status, code) => {
  const { text, ...rest } = await answer()
  expect({ status: rest.status, code: (JSON.parse(text) as { code: string }).code }).toEqual({ status, code })
})

test.each([
  ["csv", "text/csv"],
  ["csv", "text/*;q=0.5"],
  ["json", "application/json"],
  ["ndjson", "application/x-ndjson, text/html"],
  ["ndjson", "*/*"],
])("exports %s for Accept %s", async (format, accept) => {
  expect((await ask(`type=goals&format=${format}`, { headers: { accept } })).status).toBe(200)
})
