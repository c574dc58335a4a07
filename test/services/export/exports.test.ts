import { afterAll, beforeAll, expect, test } from "bun:test"
import type { NewEvent } from "../../../src/domain/event.ts"
import type { Breakdown, Summary } from "../../../src/domain/report.ts"
import { TRAITS, type VisitTraits } from "../../../src/domain/visit.ts"
import type { ImportedVisit } from "../../../src/store/events/import-batch.ts"
import { recordsOf } from "../../http/public/csv.ts"
import { startInstance, type TestInstance } from "../../kit.ts"
import { showImports } from "../../visible-imports.ts"

const FROM = Date.parse("2026-11-10T00:00:00Z")
const DAY_MS = 86_400_000
const VISITS = 1_500

let instance: TestInstance
beforeAll(async () => {
  instance = await startInstance({ now: "2026-11-21T12:00:00Z" })
  const { events, goals } = instance.app.instance
  await goals.create(instance.site, { kind: "event", value: "Buy" })
  const visits = [...someVisits(numbers(7))]
  await events.importVisits({ siteId: 1, importId: 1 }, visits.slice(0, 900))
  // Another import of the same days.
  await events.importVisits({ siteId: 1, importId: 2 }, visits.slice(900))
  await showImports(instance, [{ id: 1 }, { id: 2 }, { id: 3 }])
  await instance.collect({ n: "pageview", u: "https://shop.example/a", d: "shop.example" })
})
afterAll(() => instance[Symbol.asyncDispose]())

/** Returns pseudorandom numbers below `limit`, the same on every run. */
function numbers(seed: number) {
  let state = seed
  return (limit: number) => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0
    return (state >>> 8) % limit
  }
}

// Complete: every trait has a value.
const NO_TRAITS = Object.fromEntries(TRAITS.map((trait) => [trait, ""])) as Record<keyof VisitTraits, string>

function* someVisits(random: (limit: number) => number): Generator<ImportedVisit> {
  for (let visit = 0; visit < VISITS; visit++) {
    // Whole seconds, because an exported visit has its duration in seconds.
    let at = FROM + random(10 * 86_400) * 1_000
    const events: NewEvent[] = []
    for (let left = 1 + random(6); left > 0; left--) {
      events.push(someEvent(random, at, events.length === 0))
      at += random(1_500) * 1_000
    }
    const traits = { ...NO_TRAITS, source: ["", "News", "Google"][random(3)]!, country: ["", "DE", "FR"][random(3)]! }
    yield { visitor: `v${random(700)}`, traits, events, day: "2026-11-10" }
  }
}

function someEvent(random: (limit: number) => number, at: number, isFirst: boolean): NewEvent {
  const name = isFirst ? "pageview" : ["pageview", "pageview", "Buy", "Read", "engagement", "vitals"][random(6)]!
  return {
    ...{ at, name, page: `/${"abcd"[random(4)]}`, hostname: "shop.example", title: "", interactive: random(4) > 0, props: [] },
    ...(name === "engagement" && { engagement: { engagedMs: 1_000 * random(60), scrollDepth: random(101) } }),
    ...(name === "vitals" && { vitals: { lcp: random(3_000) } }),
    ...(name === "Buy" && { revenue: { amount: random(10_000), currency: "EUR" } }),
  }
}

type Row = Record<string, string | number | boolean>
const SITE = "/api/public/v1/sites/1"

// The checks below establish the types of the columns.
const exported = async (type: string, query: string) =>
  recordsOf(String((await instance.api.get(`${SITE}/export?type=${type}&${query}`, instance.key)).body)) as Row[]

async function summary(query: string): Promise<Summary["metrics"]> {
  const metrics = "visitors,visits,pageviews,events,views_per_visit,bounce_rate,visit_duration,revenue"
  return ((await instance.api.get(`${SITE}/stats/summary?metrics=${metrics}&${query}`, instance.key)).body as Summary).metrics
}

const filtered = (...filters: object[]) => `&filters=${encodeURIComponent(JSON.stringify(filters))}`
const sum = (rows: readonly Row[], column: string) => rows.reduce((sum, row) => sum + Number(row[column] ?? 0), 0)
const round = (value: number, decimals: number) => Math.round(value * 10 ** decimals) / 10 ** decimals

const QUERIES = [
  "from=2026-11-01&to=2026-11-21",
  "from=2026-11-12&to=2026-11-14",
  "from=2026-11-13&to=2026-11-13&timezone=Asia/Tokyo",
  "period=today",
  `from=2026-11-01&to=2026-11-21${filtered({ dimension: "source", values: ["News", "Direct"] })}`,
  `from=2026-11-12&to=2026-11-18${filtered({ dimension: "country", operator: "is_not", values: ["DE"] })}`,
  `from=2026-11-12&to=2026-11-18${filtered({ dimension: "event", values: ["Buy"] })}`,
  `from=2026-11-12&to=2026-11-18${filtered({ dimension: "page", values: ["/a"] }, { dimension: "event", values: ["Read", "pageview"] })}`,
  `from=2026-11-01&to=2026-11-21${filtered({ dimension: "goal", values: ["Buy"] }, { dimension: "source", values: ["Google"] })}`,
]

test.each(QUERIES)("rows add up to the summary of %s", async (query) => {
  const [events, visits, said] = [await exported("events", query), await exported("visits", query), await summary(query)]
  const counted = events.filter(({ name }) => name !== "engagement")
  expect({
    visitors: new Set(counted.map(({ visitor }) => visitor)).size,
    visits: visits.length,
    pageviews: counted.filter(({ name }) => name === "pageview").length,
    events: counted.length,
    revenue: round(sum(counted, "revenue_amount"), 2),
    views_per_visit: round(sum(visits, "pageviews") / Math.max(1, visits.length), 2),
    visit_duration: round(sum(visits, "duration") / Math.max(1, visits.length), 0),
  }).toEqual({
    ...{ visitors: said.visitors!, visits: said.visits!, pageviews: said.pageviews!, events: said.events! },
    ...{ revenue: said.revenue!, views_per_visit: said.views_per_visit!, visit_duration: said.visit_duration! },
  })
  expect(said.visits).toBeGreaterThan(0)
  // With a page filter, bounces are counted over another set of visits.
  if (!query.includes("page")) {
    const bounced = visits.filter(({ bounce }) => bounce === true).length
    expect(round((100 * bounced) / visits.length, 1)).toBe(said.bounce_rate!)
  }
})

test("events refer to the visits and visitors of the visits export", async () => {
  const query = "from=2026-11-01&to=2026-11-21"
  const visits = new Map((await exported("visits", query)).map((visit) => [visit.visit, visit]))
  const events = await exported("events", query)
  expect(visits.size).toBe(VISITS + 1)
  const byVisit = Map.groupBy(events, ({ visit }) => visit)
  expect(byVisit.size).toBe(visits.size)
  for (const [id, of] of byVisit) {
    const visit = visits.get(id)!
    expect(new Set(of.map(({ visitor }) => visitor))).toEqual(new Set([visit.visitor]))
    expect(of.filter(({ name }) => name === "pageview")).toHaveLength(Number(visit.pageviews))
    expect(round(sum(of, "engaged_ms") / 1_000, 0)).toBe(Number(visit.engaged_seconds))
    expect(String(of[0]!.at).slice(0, 19)).toBe(String(visit.started_at).slice(0, 19))
    expect(new Set(of.map(({ import_id }) => import_id))).toEqual(new Set([visit.import_id]))
  }
  // Visits are ordered by their start, the events of a visit by their time.
  const starts = [...visits.values()].map(({ started_at }) => String(started_at))
  expect(starts).toEqual(starts.toSorted())
  expect([...new Set(events.map(({ visit }) => visit))]).toEqual([...visits.keys()])
  expect(await exported("events", query)).toEqual(events)
})

test("an export contains all rows of a breakdown, regardless of pagination", async () => {
  const { events } = instance.app.instance
  const pages = Array.from({ length: 350 }, (_, i) => `/page-${i}`)
  const at = FROM - 30 * DAY_MS
  const view = (page: string): NewEvent => ({ at, name: "pageview", page, hostname: "", title: "", interactive: true, props: [] })
  await events.importVisits(
    { siteId: 1, importId: 3 },
    pages.map((page, i) => ({ visitor: page, traits: NO_TRAITS, events: i % 3 === 0 ? [view(page), view(page)] : [view(page)], day: "x" })),
  )
  const day = "from=2026-10-11&to=2026-10-11"
  const shown: unknown[] = []
  for (let offset = 0; offset < 400; offset += 100) {
    const path = `${SITE}/stats/breakdown?dimension=page&${day}&metrics=pageviews,visitors&limit=100&offset=${offset}`
    shown.push(...((await instance.api.get(path, instance.key)).body as Breakdown).rows)
  }
  expect(shown).toHaveLength(350)
  expect(await exported("page", `${day}&metrics=pageviews,visitors`)).toEqual(shown as Row[])
})

test.each([
  ["a formula", "=HYPERLINK(1)"],
  ["quotes and commas", `"a","b"`],
  ["line breaks", "a\r\n=b\n\rc"],
  ["a leading tab", "\tx"],
  ["an apostrophe before a minus sign", "'-1"],
  ["control characters", "\u0001\u001b\u007f\u0085"],
  ["line separators", "\u2028x\u2029"],
  ["emoji", "👩‍👩‍👧🦶"],
  ["a lone surrogate", "a\ud83dz"],
  ["a byte order mark", "\ufeffx"],
  ["__proto__", "__proto__"],
])("every format preserves %s", async (_, text) => {
  await using shop = await startInstance({ now: "2026-11-21T12:00:00Z" })
  const event: NewEvent = {
    ...{ at: Date.parse("2026-11-21T11:00:00Z"), name: text, page: "/", hostname: "", title: text, interactive: true },
    props: [[text, text]],
  }
  await shop.app.instance.events.importVisits({ siteId: 1, importId: 1 }, [
    { visitor: "a", traits: { ...NO_TRAITS, source: text }, events: [event], day: "x" },
  ])
  await showImports(shop, [{ id: 1 }])
  // Text that UTF-8 cannot represent arrives as the replacement character.
  const kept = text.toWellFormed()
  const ask = async (format: string) =>
    (await shop.api.get(`${SITE}/export?type=events&period=today&format=${format}`, shop.key)).body as string
  const whole = { name: kept, title: kept, source: kept }
  const [csv] = recordsOf(await ask("csv"))
  expect(csv).toMatchObject(whole)
  expect(JSON.parse(String(csv?.props))).toEqual(Object.fromEntries([[kept, kept]]))
  const asJson = { ...whole, props: Object.fromEntries([[kept, kept]]) }
  const json = ((await shop.api.get(`${SITE}/export?type=events&period=today&format=json`, shop.key)).body as { data: object[] }).data
  expect(wellFormed(json)).toMatchObject([asJson])
  expect(wellFormed([JSON.parse(await ask("ndjson")) as object])).toMatchObject([asJson])
})

/** Replaces lone surrogates, which JSON can express. */
const wellFormed = (rows: object[]): object[] =>
  JSON.parse(JSON.stringify(rows).replaceAll(/\\u[dD][89a-fA-F][0-9a-fA-F]{2}/g, "\ufffd")) as object[]
