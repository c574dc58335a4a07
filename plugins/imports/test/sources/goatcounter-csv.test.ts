import { describe, expect, test } from "bun:test"
import { fileHead } from "../../reading/text.ts"
import { goatcounter } from "../../sources/goatcounter/goatcounter.ts"
import { countBy, readWith, utcDay } from "../source-reading.ts"

const HEADER_2 = "2Path,Title,Event,UserAgent,Browser,System,Session,Bot,Referrer,Referrer scheme,Screen size,Location,FirstVisit,Date"
const HEADER_1 = "1Path,Title,Event,Bot,Session,FirstVisit,Referrer,Referrer scheme,Browser,Screen size,Location,Date"
const FIREFOX = "Mozilla/5.0 (X11; Linux x86_64; rv:120.0) Gecko/20100101 Firefox/120.0"
const CHROME = "287fb97cbed4e4f-8e4f5c975b8fee06,0"

const VERSION_2 = `${HEADER_2}
/,"Home, sweet",0,,Chrome 86,Windows 7,${CHROME},news.ycombinator.com/item,h,"1920,1080,1",US-TX,1,2026-05-01T22:30:00Z
/about,About,false,,Chrome 86,Windows 7,${CHROME},,,"1920,1080,1",US-TX,1,2026-05-01T22:31:00Z
/,Home,0,,Safari 17.4,iOS 17.4,a-b,0,Google,g,"390,844,3",DE,1,2026-05-02T08:00:00Z
/,Home,0,,Safari 17.4,iOS 17.4,c-d,0,newsletter,c,"390,844,3",DE,1,2026-05-02T08:10:00+02:00
/,Home,0,,Firefox 120,Linux,e-f,0,com.example.reader,o,,,1,2026-05-02T09:00:00Z
/,Home,0,,Chrome 1,Linux,bot,7,,,,,1,2026-05-02T09:00:00Z
signup,,1,,Safari 17.4,iOS 17.4,a-b,0,,,"390,844,3",DE,0,2026-05-02T08:01:00Z
signup,,true,,Safari 17.4,iOS 17.4,c-d,0,,,"390,844,3",DE,0,2026-05-02T08:11:00Z
`
const VERSION_1 = `${HEADER_1}
/old,Old,false,0,1,true,www.reddit.com/r/x,h,"${FIREFOX}","1280,720,1",CH,2021-03-04T05:06:07Z
download,Old,1,0,1,false,,,"${FIREFOX}","1280,720,1",CH,2021-03-04T05:07:07Z
`

describe("a CSV of version 2", () => {
  test("becomes pageviews and events per day", async () => {
    const { events, skips, rejects, read } = await readWith(goatcounter, { "export.csv": VERSION_2 })
    expect({ skips, rejects, read }).toEqual({ skips: { bot: 1 }, rejects: [], read: 8 })
    expect(countBy(events, (event) => `${utcDay(event)} ${event.name}`)).toEqual({
      "2026-05-01 pageview": 2,
      "2026-05-02 pageview": 3,
      "2026-05-02 signup": 2,
    })
    expect(countBy(events, ({ visitor }) => visitor)).toEqual({ "287fb97cbed4e4f-8e4f5c975b8fee06": 2, "a-b": 2, "c-d": 2, "e-f": 1 })
    expect(countBy(events, ({ path }) => path ?? "(none)")).toEqual({ "/": 4, "/about": 1, "(none)": 2 })
  })

  test("names browser, system, size and place", async () => {
    const { events } = await readWith(goatcounter, { "export.csv": VERSION_2 })
    expect(events[0]).toMatchObject({ title: "Home, sweet", at: Date.parse("2026-05-01T22:30:00Z") })
    expect(events[0]!.traits).toEqual({
      browser: "Chrome",
      browser_version: "86",
      os: "Windows",
      os_version: "7",
      size: "1440+",
      country: "US",
      region: "US-TX",
    })
    expect(events[3]!.at).toBe(Date.parse("2026-05-02T06:10:00Z"))
  })

  test("reads the origin by its scheme", async () => {
    const { events } = await readWith(goatcounter, { "export.csv": VERSION_2 })
    expect(events[0]!.referrer).toBe("https://news.ycombinator.com/item")
    expect(events[2]!.traits!.source).toBe("Google")
    expect(events[3]!.utm).toEqual({ utm_source: "newsletter" })
    expect(events[4]!.referrer).toBe("android-app://com.example.reader")
  })

  test("has columns in any order and case, with any delimiter", async () => {
    const text = "DATE;bot;SESSION;event; 2path \n2026-05-01T10:00:00Z;0;s;0;/x\n"
    const { events, fault } = await readWith(goatcounter, { "export.csv": text })
    expect(fault).toBeUndefined()
    expect(events).toMatchObject([{ path: "/x", visitor: "s", name: "pageview" }])
  })
})

test("a CSV of version 1 has the user agent in its column Browser", async () => {
  const { events, rejects } = await readWith(goatcounter, { "export.csv": VERSION_1 })
  expect(rejects).toEqual([])
  expect(events).toMatchObject([
    { name: "pageview", path: "/old", userAgent: FIREFOX, referrer: "https://www.reddit.com/r/x", visitor: "1" },
    { name: "download", userAgent: FIREFOX, traits: { size: "992-1439", country: "CH" } },
  ])
})

test.each([
  ["a date that cannot be read", "/,x,0,,,,s,0,,,,,1,yesterday", "bad_date", "yesterday"],
  ["a bot that is no number", "/,x,0,,,,s,maybe,,,,,1,2026-05-01T10:00:00Z", "bad_number", "maybe"],
  ["a negative bot", "/,x,0,,,,s,-1,,,,,1,2026-05-01T10:00:00Z", "bad_number", "-1"],
  ["an event that is neither true nor false", "/,x,2,,,,s,0,,,,,1,2026-05-01T10:00:00Z", "bad_number", "2"],
  ["no path", ",x,0,,,,s,0,,,,,1,2026-05-01T10:00:00Z", "bad_url", ""],
  ["a column too few", "/,x,0,,,,s,0,,,,,2026-05-01T10:00:00Z", "wrong_column_count", "13 columns instead of 14"],
])("rejects a row with %s", async (_, row, code, excerpt) => {
  expect((await readWith(goatcounter, { "export.csv": `${HEADER_2}\n${row}\n` })).rejects).toEqual([["export.csv", 2, code, excerpt]])
})

test("refuses another version", () => {
  const recognition = goatcounter.recognize(fileHead("export.csv", new TextEncoder().encode("3Path,Title,Event\n")))
  expect(recognition?.refusal).toMatchObject({ code: "unsupported_version", message: expect.stringContaining("version 3") })
})

test("names the columns that are missing", async () => {
  const { fault } = await readWith(goatcounter, { "export.csv": "2Path,Title,Event,Bot\n" })
  expect(fault).toMatchObject({ code: "missing_columns", members: { columns: ["Session", "Date"] } })
})
