import { describe, expect, test } from "bun:test"
import { simpleAnalytics } from "../../sources/simple-analytics.ts"
import { countBy, readWith, utcDay } from "../source-reading.ts"

const HEADER =
  "added_iso,hostname,path,query,is_unique,is_robot,document_referrer,utm_source,scrolled_percentage,duration_seconds,viewport_width,device_type,country_code,browser_name,browser_version,os_name,os_version,lang_region,lang_language,uuid,session_id,datapoint,metadata.Plan_text,metadata.seats_int"

const DATA_POINTS = `${HEADER}
2026-05-01T10:00:00.000Z,shop.example,/,utm_source=x&a=1,true,false,https://google.com/,x,80,12.5,1200,desktop,UK,chrome,120.0.1,macos,14.2,gb,en,u1,s1,pageview,,
2026-05-01T10:01:00.000Z,shop.example,/pricing,,false,false,,,,,1200,desktop,UK,chrome,120.0.1,macos,14.2,gb,en,u2,s1,pageview,,
2026-05-01T10:02:00.000Z,shop.example,/pricing,,false,false,,,,,1200,desktop,UK,chrome,120.0.1,macos,14.2,gb,en,u3,s1,signup,pro,3
2026-05-02T09:00:00.000Z,shop.example,/,,true,false,,,,,390,mobile,DE,safari,17.0,ios,17.1,de,de,u4,s2,pageview,,
2026-05-02T09:00:30.000Z,shop.example,/,,true,true,,,,,390,mobile,DE,safari,17.0,ios,17.1,de,de,u5,s3,pageview,,
2026-05-02T11:00:00.000Z,shop.example,/tv,,true,false,,,,,1920,tv,FR,other,,other,,,,u6,s4,pageview,,
`

describe("data points with sessions", () => {
  test("become pageviews and events per day and dimension", async () => {
    const { events, skips, rejects, warnings } = await readWith(simpleAnalytics, { "datapoints.csv": DATA_POINTS })
    expect({ skips, rejects, warnings }).toEqual({ skips: { bot: 1 }, rejects: [], warnings: [] })
    const counted = events.filter(({ name }) => name !== "engagement")
    expect(countBy(counted, (event) => `${utcDay(event)} ${event.name}`)).toEqual({
      "2026-05-01 pageview": 2,
      "2026-05-01 signup": 1,
      "2026-05-02 pageview": 2,
    })
    expect(countBy(counted, ({ visitor }) => visitor)).toEqual({ "session s1": 3, "session s2": 1, "session s4": 1 })
    expect(countBy(counted, ({ traits }) => `${traits?.country} ${traits?.device} ${traits?.size}`)).toEqual({
      "GB Desktop 992-1439": 3,
      "DE Mobile <576": 1,
      "FR Other 1440+": 1,
    })
    expect(
      countBy(
        counted,
        ({ traits }) => `${traits?.browser} ${traits?.browser_version} ${traits?.os} ${traits?.os_version} ${traits?.language}`,
      ),
    ).toEqual({
      "Chrome 120.0 Mac 14.2 en-GB": 3,
      "Safari 17.0 iOS 17.1 de-DE": 1,
      "undefined undefined undefined undefined undefined": 1,
    })
  })

  test("keep query, referrer, tags and engagement", async () => {
    const { events } = await readWith(simpleAnalytics, { "datapoints.csv": DATA_POINTS })
    expect(events[0]).toMatchObject({
      path: "/?utm_source=x&a=1",
      hostname: "shop.example",
      referrer: "https://google.com/",
      utm: { utm_source: "x" },
    })
    expect(events[1]).toMatchObject({ name: "engagement", at: events[0]!.at, engagement: { engagedMs: 12_500, scrollDepth: 80 } })
    expect(events.filter(({ name }) => name === "engagement").length).toBe(1)
  })

  test("have metadata as properties, with the case of their keys", async () => {
    const { events } = await readWith(simpleAnalytics, { "datapoints.csv": DATA_POINTS })
    expect(events.find(({ name }) => name === "signup")!.props).toEqual([
      ["Plan", "pro"],
      ["seats", "3"],
    ])
  })
})

const visitorsOf = async (text: string) => {
  const { events, warnings } = await readWith(simpleAnalytics, { "datapoints.csv": text })
  return { visitors: events.map(({ line, visitor }) => [line, visitor] as const).toSorted((a, b) => a[0] - b[0]), warnings }
}

describe("visitors", () => {
  test("are new for each unique row, even in one session", async () => {
    const { visitors } = await visitorsOf(`added_iso,is_unique,session_id
2026-05-01T10:00:00Z,true,a
2026-05-01T10:01:00Z,false,a
2026-05-01T11:00:00Z,true,a
2026-05-01T11:01:00Z,false,a
2026-05-01T11:01:00Z,false,b
`)
    expect(visitors).toEqual([
      [2, "session a"],
      [3, "session a"],
      [4, "session a 2"],
      [5, "session a 2"],
      [6, "session b"],
    ])
  })

  test("are sessions without the column is_unique", async () => {
    const { visitors, warnings } = await visitorsOf("added_iso,session_id\n2026-05-01T10:00:00Z,a\n2026-05-01T10:01:00Z,a\n")
    expect(visitors).toEqual([
      [2, "session a"],
      [3, "session a"],
    ])
    expect(warnings).toEqual([])
  })

  test("are found by day, host, country, browser and device without sessions, in files of any order", async () => {
    const { visitors, warnings } = await visitorsOf(`added_iso,hostname,is_unique,country_code,browser_name,device_type
2026-05-02T09:00:00Z,a.example,false,DE,chrome,desktop
2026-05-01T12:00:00Z,a.example,false,DE,chrome,desktop
2026-05-01T11:00:00Z,a.example,false,DE,chrome,mobile
2026-05-01T10:30:00Z,a.example,true,DE,chrome,desktop
2026-05-01T10:10:00Z,a.example,false,DE,chrome,desktop
2026-05-01T10:00:00Z,a.example,true,DE,chrome,desktop
`)
    const first = visitors[5]![1]
    const second = visitors[3]![1]
    expect(first).not.toBe(second)
    // The rows of another day and of another device have visitors of their own.
    expect(visitors.map(([, visitor]) => visitor)).toEqual(["", second, "", second, first, first])
    expect(warnings).toEqual(["visits_approximate"])
  })

  test("are different for unique rows of the same moment", async () => {
    const { visitors } = await visitorsOf("added_iso,is_unique\n2026-05-01T10:00:00Z,true\n2026-05-01T10:00:00Z,true\n")
    expect(new Set(visitors.map(([, visitor]) => visitor)).size).toBe(2)
  })
})

test("every row is a pageview without the column datapoint", async () => {
  const { events } = await readWith(simpleAnalytics, { "x.csv": "added_iso,path,session_id\n2026-05-01T10:00:00Z,/,a\n" })
  expect(events).toMatchObject([{ name: "pageview", path: "/" }])
})

test.each([
  ["path_and_query", "/a?b=1", "/a?b=1"],
  ["query_and_path", "/a?b=1", "/a?b=1"],
])("reads the page from %s", async (column, value, path) => {
  const { events } = await readWith(simpleAnalytics, { "x.csv": `added_iso,${column},session_id\n2026-05-01T10:00:00Z,${value},a\n` })
  expect(events).toMatchObject([{ path }])
})

test("rejects dates that cannot be read, once although the rows are read twice", async () => {
  const text = "added_iso,is_unique\nyesterday,false\n2026-13-01T10:00:00Z,true\n2026-05-01T10:00:00Z,false\n"
  const { rejects, events, read } = await readWith(simpleAnalytics, { "x.csv": text })
  expect(rejects).toEqual([
    ["x.csv", 2, "bad_date", "yesterday"],
    ["x.csv", 3, "bad_date", "2026-13-01T10:00:00Z"],
  ])
  expect({ events: events.length, read }).toEqual({ events: 1, read: 3 })
})

test("names the columns that are missing", async () => {
  const { fault } = await readWith(simpleAnalytics, { "x.csv": "added_unix,datapoint,is_unique,path\n1,pageview,true,/\n" })
  expect(fault).toMatchObject({ code: "missing_columns", members: { columns: ["added_iso"] } })
})
