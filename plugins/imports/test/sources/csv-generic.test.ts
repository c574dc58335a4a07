import { describe, expect, test } from "bun:test"
import { csvGeneric } from "../../sources/csv-generic/csv-generic.ts"
import { countIn, decimalText } from "../../sources/csv-generic/rows.ts"
import { countBy, readWith, utcDay } from "../source-reading.ts"

const EVENTS = `Time,URL,Ref,Event,Visitor,Visit,User,Title,Country,Plan,Amount,Currency
2026-07-01 12:00:00,https://shop.example/a?x=1,https://google.com/,,v1,1,,Page A,DE,,,
2026-07-01 12:01:00,https://shop.example/b,,signup,v1,1,u1,,DE,pro,"1.234,50",EUR
2026-07-02 00:30:00,/c,news.example/story,,v2,2,,,Germany,,19.9900,
2026-07-02 01:00:00,shop.example/d,Newsletter,,v2,2,,,UK,,,
`
const MAPPING = {
  timestamp: { column: "Time", format: "auto", timezone: "Europe/Berlin" },
  url: "URL",
  referrer: "Ref",
  event_name: "Event",
  visitor_id: "Visitor",
  visit_id: "Visit",
  user_id: "User",
  title: "Title",
  country: "Country",
  props: { plan: "Plan" },
  revenue: "Amount",
  currency: "Currency",
}

describe("events", () => {
  test("are read by the mapping", async () => {
    const { events, rejects, fault, warnings } = await readWith(csvGeneric, { "x.csv": EVENTS }, { own: { mapping: MAPPING } })
    expect({ fault, rejects, warnings }).toEqual({ fault: undefined, rejects: [], warnings: [] })
    expect(countBy(events, (event) => `${utcDay(event)} ${event.name}`)).toEqual({ "2026-07-01 pageview": 3, "2026-07-01 signup": 1 })
    expect(countBy(events, ({ traits }) => traits?.country ?? "")).toEqual({ DE: 3, GB: 1 })
    expect(events[0]).toMatchObject({
      at: Date.parse("2026-07-01T10:00:00Z"),
      url: "https://shop.example/a?x=1",
      visitor: "v1",
      visit: "1",
    })
    expect(events[1]).toMatchObject({
      name: "signup",
      userId: "u1",
      props: [["plan", "pro"]],
      revenue: { amount: "1234.50", currency: "EUR" },
    })
    expect(events[2]).toMatchObject({ path: "/c", referrer: "https://news.example/story", revenue: { amount: "19.9900", currency: "EUR" } })
    expect(events[3]).toMatchObject({ url: "https://shop.example/d", traits: { source: "Newsletter", country: "GB" } })
  })

  test("take their visitor from address and user agent without an id", async () => {
    const text = "Time,Path,IP,UA\n2026-07-01T10:00:00Z,/,192.0.2.1,Mozilla/5.0\n2026-07-01T10:00:00Z,/,,Mozilla/5.0\n"
    const mapping = { timestamp: "Time", path: "Path", ip: "IP", user_agent: "UA" }
    const { events } = await readWith(csvGeneric, { "x.csv": text }, { own: { mapping } })
    expect(events[0]).toMatchObject({ visitor: "", sender: { address: "192.0.2.1", userAgent: "Mozilla/5.0" } })
    expect(events[1]).toMatchObject({ visitor: "", userAgent: "Mozilla/5.0" })
    expect(events[1]!.sender).toBeUndefined()
  })

  test("have visitors of their own, with a warning, when no column names them", async () => {
    const reading = await readWith(
      csvGeneric,
      { "x.csv": "Time,Path\n2026-07-01T10:00:00Z,/\n" },
      { own: { mapping: { timestamp: "Time", path: "Path" } } },
    )
    expect(reading.warnings).toEqual(["visits_approximate"])
  })

  test("are rejected with a URL that is none", async () => {
    const mapping = { timestamp: "Time", url: "URL", visitor_id: "V" }
    const text = "Time,URL,V\n2026-07-01T10:00:00Z,not a url,1\n2026-07-01T10:00:00Z,ftp://x/,1\n"
    expect((await readWith(csvGeneric, { "x.csv": text }, { own: { mapping } })).rejects).toEqual([
      ["x.csv", 2, "bad_url", "not a url"],
      ["x.csv", 3, "bad_url", "ftp://x/"],
    ])
  })
})

const timesIn = async (values: readonly string[], format?: string) => {
  const mapping = { timestamp: { column: "t", ...(format !== undefined && { format }) }, path: "p", visitor_id: "p" }
  const text = `t;p\n${values.map((value) => `${value};/`).join("\n")}\n`
  const reading = await readWith(csvGeneric, { "x.csv": text }, { own: { mapping }, timezone: "UTC", siteTimezone: "UTC" })
  return { ...reading, times: reading.events.map(({ at }) => new Date(at).toISOString()) }
}

describe("times", () => {
  test.each([
    ["2026-03-04 05:06:07", undefined, "2026-03-04T05:06:07.000Z"],
    ["2026-03-04T05:06:07+02:00", undefined, "2026-03-04T03:06:07.000Z"],
    ["2026/03/04 05:06", undefined, "2026-03-04T05:06:00.000Z"],
    ["1772600767", undefined, "2026-03-04T05:06:07.000Z"],
    ["1772600767500", undefined, "2026-03-04T05:06:07.500Z"],
    ["20260304", undefined, "2026-03-04T00:00:00.000Z"],
    ["04.03.2026 05:06", undefined, "2026-03-04T05:06:00.000Z"],
    ["31/12/2026 05:06", undefined, "2026-12-31T05:06:00.000Z"],
    ["12/31/2026 5:06 PM", undefined, "2026-12-31T17:06:00.000Z"],
    ["12/31/2026 12:06 am", undefined, "2026-12-31T00:06:00.000Z"],
    ["04/03/2026 05:06", "dd/MM/yyyy HH:mm", "2026-03-04T05:06:00.000Z"],
    ["04/03/2026 05:06", "MM/dd/yyyy HH:mm", "2026-04-03T05:06:00.000Z"],
    ["1772600767", "unix", "2026-03-04T05:06:07.000Z"],
    ["1772600767500", "unix_ms", "2026-03-04T05:06:07.500Z"],
    ["20260304", "YYYYMMDD", "2026-03-04T00:00:00.000Z"],
    ["2026-03-04", "iso", "2026-03-04T00:00:00.000Z"],
  ])("reads %s in the format %p", async (value, format, time) => {
    expect((await timesIn([value], format)).times).toEqual([time])
  })

  test.each([
    ["2026-02-30 10:00:00", undefined],
    ["31/02/2026", undefined],
    ["12/31/2026 13:00 PM", undefined],
    ["", undefined],
    ["soon", undefined],
    ["04/03/2026", "iso"],
    ["13/13/2026", "dd/MM/yyyy HH:mm"],
    ["20261301", "YYYYMMDD"],
    ["-", "unix"],
  ])("rejects %p in the format %p", async (value, format) => {
    expect((await timesIn([value], format)).rejects).toEqual([["x.csv", 2, "bad_date", value]])
  })

  test("have the order of day and month that a later row shows", async () => {
    expect((await timesIn(["01/02/2026 10:00", "03/04/2026 10:00", "25/04/2026 10:00"])).times).toEqual([
      "2026-02-01T10:00:00.000Z",
      "2026-04-03T10:00:00.000Z",
      "2026-04-25T10:00:00.000Z",
    ])
    expect((await timesIn(["01/02/2026 10:00", "04/25/2026 10:00"])).times).toEqual([
      "2026-01-02T10:00:00.000Z",
      "2026-04-25T10:00:00.000Z",
    ])
  })

  test("are refused when no row shows the order", async () => {
    expect((await timesIn(["01/02/2026 10:00", "03/04/2026 10:00"])).fault).toMatchObject({
      code: "ambiguous_date",
      message: expect.stringContaining("01/02/2026 10:00"),
    })
    expect((await timesIn(["2026-01-02", "03/04/2026 10:00"])).fault).toMatchObject({ code: "ambiguous_date" })
  })
})

const TOTALS = `Day;Users;Sessions;Views;Secs
2026-01-01;10;12;30;600
2026-01-02;1,234;2;3;65.4
2026-01-03;-1;2;3;4
2026-01-04;x;2;3;4
02.01;1;2;3;4
`

describe("totals", () => {
  const mapping = { date: "Day", visitors: "Users", visits: "Sessions", pageviews: "Views", visit_duration: "Secs" }

  test("of days are added to the table of visitors", async () => {
    const { totals, rejects, warnings } = await readWith(csvGeneric, { "x.csv": TOTALS }, { own: { kind: "daily_totals", mapping } })
    const row = { file: "x.csv", texts: {} }
    expect(totals).toEqual([
      [
        "imported_visitors",
        { ...row, line: 2, day: "2026-01-01", counts: { visitors: 10, visits: 12, pageviews: 30, visit_duration: 600 } },
      ],
      [
        "imported_visitors",
        { ...row, line: 3, day: "2026-01-02", counts: { visitors: 1234, visits: 2, pageviews: 3, visit_duration: 65 } },
      ],
    ])
    expect(rejects).toEqual([
      ["x.csv", 4, "negative_count", "-1"],
      ["x.csv", 5, "bad_number", "x"],
      ["x.csv", 6, "bad_date", "02.01"],
    ])
    expect(warnings).toEqual(["rounded"])
  })

  const ofDimension = async (dimension: string, value: string) => {
    const text = `date,value,visitors,visits,bounces,events\n2026-01-01,${value},5,6,2,7\n`
    const mapping = { date: "date", value: "value", visitors: "visitors", visits: "visits", bounces: "bounces", events: "events" }
    return readWith(csvGeneric, { "x.csv": text }, { own: { kind: "daily_dimension", dimension, mapping } })
  }

  test.each([
    ["country", "Germany", "imported_locations", { country: "DE" }, { visitors: 5, visits: 6, bounces: 2 }],
    ["device", "smartphone", "imported_devices", { device: "Mobile" }, { visitors: 5, visits: 6, bounces: 2 }],
    ["os", "Mac OS X", "imported_operating_systems", { os: "Mac" }, { visitors: 5, visits: 6, bounces: 2 }],
    ["source", "Google", "imported_sources", { source: "Google" }, { visitors: 5, visits: 6, bounces: 2 }],
    ["page", "https://shop.example/a", "imported_pages", { page: "/a" }, { visitors: 5, visits: 6 }],
    ["entry_page", "/a", "imported_entry_pages", { entry_page: "/a" }, { visitors: 5, entrances: 6, bounces: 2 }],
    ["exit_page", "/a", "imported_exit_pages", { exit_page: "/a" }, { visitors: 5, exits: 6, bounces: 2 }],
    ["event", "signup", "imported_custom_events", { name: "signup" }, { visitors: 5, events: 7 }],
  ])("by %s are added to its table", async (dimension, value, kind, texts, counts) => {
    const { totals, warnings } = await ofDimension(dimension, value)
    expect(totals).toEqual([[kind as (typeof totals)[number][0], { file: "x.csv", line: 2, day: "2026-01-01", texts, counts }]])
    expect(warnings).toEqual(["metrics_ignored"])
  })
})

describe("a mapping", () => {
  test.each([
    ["none, in a run", {}, "The option mapping is missing"],
    ["no timestamp", { mapping: { url: "URL" } }, "lacks timestamp"],
    ["no page and no event", { mapping: { timestamp: "Time" } }, "lacks url, path or event_name"],
    ["no date", { kind: "daily_totals", mapping: { visitors: "V" } }, "lacks date"],
    ["no metric", { kind: "daily_totals", mapping: { date: "Time" } }, "lacks a metric"],
    ["no dimension", { kind: "daily_dimension", mapping: { date: "Time", visitors: "V" } }, "lacks the option dimension"],
    ["no value", { kind: "daily_dimension", dimension: "source", mapping: { date: "Time", visitors: "V" } }, "lacks value"],
    ["an unknown time zone", { mapping: { timestamp: { column: "Time", timezone: "Mars/Base" }, url: "URL" } }, "Mars/Base"],
  ])("with %s is refused", async (_, own, message) => {
    const { fault } = await readWith(csvGeneric, { "x.csv": EVENTS }, { own })
    expect(fault).toMatchObject({ code: "mapping_required", message: expect.stringContaining(message) })
  })

  test("of a column that is missing is refused", async () => {
    const own = { mapping: { timestamp: "When", url: "URL", visitor_id: "Visitor" } }
    expect((await readWith(csvGeneric, { "x.csv": EVENTS }, { own })).fault).toMatchObject({
      code: "missing_columns",
      members: { columns: ["When"] },
    })
  })
})

describe("a proposed mapping", () => {
  const proposalFor = async (text: string) => readWith(csvGeneric, { "x.csv": text }, { isPreview: true })

  test("finds events by names and values, each with its confidence", async () => {
    const { mapping, events } = await proposalFor(
      EVENTS.replaceAll("/c,", "https://shop.example/c,").replaceAll(",shop.example/d", ",https://shop.example/d"),
    )
    expect(mapping).toEqual({
      kind: "events",
      columns: ["Time", "URL", "Ref", "Event", "Visitor", "Visit", "User", "Title", "Country", "Plan", "Amount", "Currency"],
      mapping: {
        timestamp: { column: "Time", confidence: 0.97, format: "auto" },
        url: { column: "URL", confidence: 1 },
        referrer: { column: "Ref", confidence: 0.81 },
        country: { column: "Country", confidence: 1 },
        event_name: { column: "Event", confidence: 1 },
        visitor_id: { column: "Visitor", confidence: 0.97 },
        visit_id: { column: "Visit", confidence: 0.97 },
        user_id: { column: "User", confidence: 0.97 },
        title: { column: "Title", confidence: 1 },
        revenue: { column: "Amount", confidence: 0.97 },
        currency: { column: "Currency", confidence: 1 },
      },
    })
    expect(events.length).toBe(4)
  })

  test("finds totals of days", async () => {
    const { mapping, totals } = await proposalFor("date,visitors,pageviews\n2026-01-01,5,6\n")
    expect(mapping).toEqual({
      kind: "daily_totals",
      columns: ["date", "visitors", "pageviews"],
      mapping: {
        date: { column: "date", confidence: 1, format: "auto" },
        visitors: { column: "visitors", confidence: 1 },
        pageviews: { column: "pageviews", confidence: 1 },
      },
    })
    expect(totals.length).toBe(1)
  })

  test("finds totals by a dimension", async () => {
    const { mapping, totals } = await proposalFor("Date,Country,Users\n2026-01-01,Germany,5\n")
    expect(mapping).toMatchObject({ kind: "daily_dimension", dimension: "country", mapping: { value: { column: "Country" } } })
    expect(totals).toMatchObject([["imported_locations", { texts: { country: "DE" }, counts: { visitors: 5 } }]])
  })

  test("has properties only for columns that are named so", async () => {
    const { mapping } = await proposalFor("time,path,prop_plan,email\n2026-01-01T10:00:00Z,/,pro,a@b.example\n")
    expect(mapping).toEqual({
      kind: "events",
      columns: ["time", "path", "prop_plan", "email"],
      mapping: {
        timestamp: { column: "time", confidence: 0.97, format: "auto" },
        path: { column: "path", confidence: 1 },
        props: { plan: { column: "prop_plan", confidence: 0.8 } },
      },
    })
  })

  test("that is not enough is told with the fault", async () => {
    const { fault, mapping } = await proposalFor("a,b\n1,2\n")
    expect(fault).toMatchObject({ code: "mapping_required", members: { mapping } })
  })

  test("can be sent back as the option", async () => {
    const { mapping } = await proposalFor("date,visitors\n2026-01-01,5\n")
    // The answer of a preview has the form of the options.
    const { totals } = await readWith(csvGeneric, { "x.csv": "date,visitors\n2026-01-01,5\n" }, { own: mapping as Record<string, unknown> })
    expect(totals.length).toBe(1)
  })
})

test.each([
  ["1234", 1234],
  ["1,234", 1234],
  ["1 234", 1234],
  ["1'234'567", 1234567],
  ["", 0],
  ["12.5", 12.5],
  ["-3", -3],
  ["1,23", undefined],
  ["1e3", undefined],
  ["NaN", undefined],
  ["5000000000", undefined],
])("reads the count %p", (text, count) => {
  expect(countIn(text)).toBe(count)
})

test.each([
  ["19.9900", "19.9900"],
  ["19,99", "19.99"],
  ["1,234.50", "1234.50"],
  ["1.234,50", "1234.50"],
  ["-5", "-5"],
  ["€5", "€5"],
])("reads the amount %p", (text, amount) => {
  expect(decimalText(text)).toBe(amount)
})
