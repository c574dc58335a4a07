import { describe, expect, test } from "bun:test"
import { footfall } from "../../sources/footfall.ts"
import { countBy, readWith, utcDay } from "../source-reading.ts"

const at = (text: string) => Date.parse(text)
const TRAITS = {
  source: "Google",
  referrer: "google.com",
  channel: "Organic Search",
  utm_source: "",
  utm_medium: "",
  utm_campaign: "",
  utm_term: "",
  utm_content: "",
  click_id_type: "",
  country: "DE",
  region: "DE-BE",
  city: "2950159",
  device: "Mobile",
  size: "<576",
  browser: "Safari",
  browser_version: "17.2",
  os: "iOS",
  os_version: "17.2",
  language: "de-DE",
}
const event = { page: "/tea?color=green", hostname: "shop.example", title: "Tea", interactive: true, props: [] }
const FIGURES = { duration: 60_000, pageviews: 1, counted_events: 2, interactive: 1, engaged: 4200, import_id: 0 }
const ends = { entry_page: "/tea", exit_page: "/tea", entry_page_hostname: "shop.example", exit_page_hostname: "shop.example" }
const anna = {
  ...TRAITS,
  ...FIGURES,
  ...ends,
  visitor: "00112233aabbccdd",
  visitor_kind: "rotating",
  started_at: at("2024-03-15T10:00:00Z"),
}
const VISITS = [
  {
    ...anna,
    events: [
      { ...event, at: at("2024-03-15T10:00:00Z"), name: "pageview" },
      {
        ...event,
        at: at("2024-03-15T10:00:05Z"),
        name: "engagement",
        interactive: false,
        engagement: { engagedMs: 4200, scrollDepth: 80 },
      },
      { ...event, at: at("2024-03-15T10:00:06Z"), name: "vitals", interactive: false, vitals: { lcp: 1800, cls: 0.125 } },
      {
        ...event,
        at: at("2024-03-15T10:01:00Z"),
        name: "purchase",
        props: [["order_id", "=A-1"]],
        revenue: { amount: 1990, currency: "EUR" },
      },
    ],
  },
  {
    ...anna,
    ...TRAITS,
    source: "",
    referrer: "",
    channel: "Direct",
    started_at: at("2024-03-16T08:00:00Z"),
    events: [{ ...event, at: at("2024-03-16T08:00:00Z"), name: "pageview", page: "/" }],
  },
  {
    ...anna,
    visitor: "ffeeddccbbaa9988",
    visitor_kind: "user",
    events: [
      { ...event, at: at("2024-03-16T09:00:00Z"), name: "refund", interactive: false, revenue: { amount: -5, currency: "EUR" } },
      { ...event, at: at("2024-03-16T09:00:01Z"), name: "tip", revenue: { amount: 700, currency: "JPY" } },
    ],
  },
]
const ndjson = (rows: readonly object[]) => rows.map((row) => `${JSON.stringify(row)}\n`).join("")
const manifest = (version: unknown) =>
  JSON.stringify({ format: "footfall-site", version, site: { name: "Shop" }, counts: { visits: 3 }, files: {} }, null, 2)
const ARCHIVE = {
  "goals.json": JSON.stringify([{ id: 1, kind: "event", value: "purchase" }], null, 2),
  "funnels.json": "[]\n",
  "annotations.json": "[]\n",
  "segments.json": "[]\n",
  "visits.ndjson": ndjson(VISITS),
  "clicks.ndjson": ndjson([{ ...anna, events: [] }]),
  "opens.ndjson": "",
  "links_links.ndjson": ndjson([{ slug: "spring" }]),
}
const IMPORTED = [
  { kind: "imported_visitors", day: "2023-01-01", hour: null, visitors: 10, pageviews: 40, visits: 12, bounces: 4, visit_duration: 3600 },
  { kind: "imported_visitors", day: "2023-01-02", hour: 13, timezone: "Europe/Berlin", visitors: 1, pageviews: 2 },
  { kind: "imported_pages", day: "2023-01-01", hostname: "shop.example", page: "/tea", visitors: 7, pageviews: 9 },
  { kind: "imported_custom_props", day: "2023-01-01", hour: 255, property: "plan", value: "pro", visitors: 2, events: 3 },
]

describe("archive", () => {
  test.each([
    [1, {}, []],
    [
      2,
      { "imported.ndjson": ndjson(IMPORTED) },
      [
        ["imported_visitors", "2023-01-01", undefined, {}, { visitors: 10, pageviews: 40, visits: 12, bounces: 4, visit_duration: 3600 }],
        ["imported_visitors", "2023-01-02", 13, {}, { visitors: 1, pageviews: 2 }],
        ["imported_pages", "2023-01-01", undefined, { hostname: "shop.example", page: "/tea" }, { visitors: 7, pageviews: 9 }],
        ["imported_custom_props", "2023-01-01", undefined, { property: "plan", value: "pro" }, { visitors: 2, events: 3 }],
      ],
    ],
  ] as const)("reads version %d", async (version, more, expected) => {
    const { events, totals, skips, rejects, warnings, read } = await readWith(footfall, {
      ...ARCHIVE,
      ...more,
      "manifest.json": manifest(version),
    })
    expect({ skips, rejects, warnings, read }).toEqual({
      skips: { not_imported_type: 1 },
      rejects: [],
      warnings: ["plugin_file_ignored"],
      read: 8 + expected.length,
    })
    expect(countBy(events, (event) => `${utcDay(event)} ${event.name}`)).toEqual({
      "2024-03-15 pageview": 1,
      "2024-03-15 engagement": 1,
      "2024-03-15 vitals": 1,
      "2024-03-15 purchase": 1,
      "2024-03-16 pageview": 1,
      "2024-03-16 refund": 1,
      "2024-03-16 tip": 1,
    })
    expect(countBy(events, ({ visitor, visitorKind, visit }) => `${visitor} ${visitorKind} ${visit}`)).toEqual({
      "00112233aabbccdd rotating 1": 4,
      "00112233aabbccdd rotating 2": 1,
      "ffeeddccbbaa9988 user 3": 2,
    })
    expect(events.flatMap(({ revenue }) => revenue ?? [])).toEqual([
      { amount: "19.90", currency: "EUR" },
      { amount: "-0.05", currency: "EUR" },
      { amount: "700", currency: "JPY" },
    ])
    expect(totals.map(([kind, { day, hour, texts, counts }]) => [kind, day, hour, texts, counts])).toEqual([...expected] as never)
  })

  test("takes stored texts as they are", async () => {
    const { events } = await readWith(footfall, { ...ARCHIVE, "manifest.json": manifest(1) })
    expect(events[3]).toEqual({
      file: "visits.ndjson",
      line: 1,
      at: at("2024-03-15T10:01:00Z"),
      name: "purchase",
      visitor: "00112233aabbccdd",
      visitorKind: "rotating",
      visit: "1",
      traits: TRAITS,
      page: "/tea?color=green",
      hostname: "shop.example",
      title: "Tea",
      interactive: true,
      props: [["order_id", "=A-1"]],
      revenue: { amount: "19.90", currency: "EUR" },
    })
    expect(events.slice(1, 3)).toMatchObject([{ engagement: { engagedMs: 4200, scrollDepth: 80 } }, { vitals: { lcp: 1800, cls: 0.125 } }])
    // A missing trait is stated, so that it is not derived again.
    expect(events[4]!.traits).toMatchObject({ source: "", referrer: "", channel: "Direct" })
  })

  test("hands on definitions if they are to be created", async () => {
    const files = { ...ARCHIVE, "manifest.json": manifest(1) }
    const found: [string, number][] = []
    const definitions = (kind: string, items: readonly object[]) => void found.push([kind, items.length])
    await readWith(footfall, files, {}, { definitions })
    expect(found).toEqual([])
    await readWith(footfall, files, { own: { create_definitions: true } }, { definitions })
    expect(found).toEqual([
      ["goals", 1],
      ["funnels", 0],
      ["annotations", 0],
      ["segments", 0],
    ])
  })

  test.each([
    ["another version", { ...ARCHIVE, "manifest.json": manifest(3) }, "unsupported_version", "version 3"],
    ["a manifest without a version", { ...ARCHIVE, "manifest.json": manifest(undefined) }, "unsupported_version", "Export the site"],
    ["no manifest", { ...ARCHIVE, "manifest.json": "" }, "unrecognized_source", "manifest.json"],
    ["a manifest that is cut off", { ...ARCHIVE, "manifest.json": manifest(1).slice(0, 60) }, "invalid_archive", "Export the site again"],
  ])("refuses %s", async (_, files, code, remedy) => {
    const { fault, events } = await readWith(footfall, files)
    expect({ fault, events }).toMatchObject({ fault: { code, message: expect.stringContaining(remedy) }, events: [] })
  })

  test.each<[what: string, more: Record<string, string>, reject: [string, number, string, string]]>([
    ["a line that is no JSON", { "visits.ndjson": `${ndjson(VISITS)}{"visitor_kind"\n` }, ["visits.ndjson", 4, "wrong_column_count", ""]],
    [
      "a visit without events",
      { "visits.ndjson": ndjson([...VISITS, { ...anna, events: [] }]) },
      ["visits.ndjson", 4, "wrong_column_count", ""],
    ],
    [
      "an event without a time",
      { "visits.ndjson": ndjson([...VISITS, { ...anna, events: [event] }]) },
      ["visits.ndjson", 4, "bad_date", "undefined"],
    ],
    ["a day that is none", { "imported.ndjson": ndjson([{ ...IMPORTED[0], day: "May" }]) }, ["imported.ndjson", 1, "bad_date", "May"]],
    ["an hour that is none", { "imported.ndjson": ndjson([{ ...IMPORTED[0], hour: 24 }]) }, ["imported.ndjson", 1, "bad_date", "24"]],
    ["a count that is none", { "imported.ndjson": ndjson([{ ...IMPORTED[0], visits: "x" }]) }, ["imported.ndjson", 1, "bad_number", "x"]],
    ["a negative count", { "imported.ndjson": ndjson([{ ...IMPORTED[0], visits: -1 }]) }, ["imported.ndjson", 1, "negative_count", "-1"]],
  ])("rejects %s", async (_, more, reject) => {
    const { rejects, events } = await readWith(footfall, { ...ARCHIVE, ...more, "manifest.json": manifest(2) })
    expect({ rejects, events: events.length }).toEqual({ rejects: [reject], events: 7 })
  })

  test("warns of totals whose days are those of another zone", async () => {
    const rows = ndjson(IMPORTED.map((row) => ({ ...row, timezone: "America/New_York" })))
    const { totals, warnings } = await readWith(footfall, { "imported.ndjson": rows, "manifest.json": manifest(2) })
    expect({ totals: totals.length, warnings }).toEqual({ totals: 4, warnings: ["other_timezone"] })
  })

  test("reads a visit of more than 1 MiB", async () => {
    const long = { ...anna, events: Array.from({ length: 10_000 }, () => ({ ...event, at: at("2024-03-15T10:00:00Z"), name: "pageview" })) }
    const { events, rejects } = await readWith(footfall, { "visits.ndjson": ndjson([long]), "manifest.json": manifest(1) })
    expect({ events: events.length, rejects }).toEqual({ events: 10_000, rejects: [] })
  })
})
