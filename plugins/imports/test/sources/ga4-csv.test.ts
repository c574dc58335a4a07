import { describe, expect, test } from "bun:test"
import { ga4Csv } from "../../sources/ga4/csv.ts"
import { readWith } from "../source-reading.ts"
import { recognition, totalsOf } from "./totals.ts"

const comments = (title: string, from: string, to: string) => `# ----------------------------------------
# ${title}
# Account: Shop
# Property: Shop
# ----------------------------------------
#
# All Users
# Start date: ${from}
# End date: ${to}
`

describe("GA4 reports", () => {
  test("imports the tables with days, and skips those without and repeated figures", async () => {
    const report = `${comments("Reports snapshot", "20260130", "20260202")}Nth day,Active users,New users
0000,10,4
0001,"1,200",1
0003,7,2

Nth day,Active users,Views,Sessions,Engaged sessions,Average engagement time per active user
0000,10,25,12,9,30.5
0001,1200,"2,500",1300,1000,10

Page path and screen class,Views,Active users
/,20,9

${comments("Reports snapshot", "20260130", "20260202")}Nth week,Active users
0004,17
`
    const reading = await readWith(ga4Csv, { "Reports_snapshot.csv": report })
    expect(reading.fault).toBeUndefined()
    expect(reading).toMatchObject({ rejects: [], skips: {}, read: 5 })
    expect(reading.warnings).toEqual(["needs_date_dimension"])
    expect(totalsOf(reading)).toEqual({
      imported_visitors: {
        // Visitors come from the first table, the other counts from the second. 30.5 seconds of 10 users.
        "2026-01-30": "visitors 10 pageviews 25 visits 12 bounces 3 visit_duration 305",
        "2026-01-31": "visitors 1200 pageviews 2500 visits 1300 bounces 300 visit_duration 12000",
        "2026-02-02": "visitors 7",
      },
    })
  })

  test("skips rows whose figures an earlier table has", async () => {
    const table = "Nth day,Active users\n0000,10\n"
    const reading = await readWith(ga4Csv, { "a.csv": `${comments("A", "20260101", "20260102")}${table}\n${table}` })
    expect(reading).toMatchObject({ read: 2, skips: { repeated_row: 1 } })
    expect(totalsOf(reading)).toEqual({ imported_visitors: { "2026-01-01": "visitors 10" } })
  })

  test("rejects days outside of the range", async () => {
    const reading = await readWith(ga4Csv, { "a.csv": `${comments("A", "20260101", "20260102")}Nth day,Views\n0002,10\nsoon,1\n0001,5\n` })
    expect(reading.rejects.map(([, ...rest]) => rest)).toEqual([
      [11, "bad_date", "0002"],
      [12, "bad_date", "soon"],
    ])
  })
})

describe("GA4 explorations", () => {
  const head = (from: string, to: string) => `# Shop\n# Free form-Free form 1\n# ${from}-${to}\n\n`

  test("imports pages per day without the grand total", async () => {
    const reading = await readWith(ga4Csv, {
      "download.csv": `${head("20260101", "20260102")}Date,Page path and screen class,Active users,Event count,Views
,,17,99,43,Grand total
20260101,/,9,50,20
20260101,/a?ref=x,4,10,6
20260102,/,7,30,17
`,
    })
    expect(reading).toMatchObject({ rejects: [], read: 3, warnings: [] })
    expect(totalsOf(reading)).toEqual({
      imported_pages: {
        "2026-01-01 page=/": "visitors 9 pageviews 20",
        "2026-01-01 page=/a": "visitors 4 pageviews 6",
        "2026-01-02 page=/": "visitors 7 pageviews 17",
      },
    })
  })

  test("reads fractions as rates, and total users rather than active ones", async () => {
    const reading = await readWith(ga4Csv, {
      "download.csv": `${head("20260101", "20260101")}Date,Total users,Active users,Sessions,Bounce rate,Average session duration
20260101,12,9,25,0.36,40.2
`,
    })
    // 36 % of 25 sessions, 40.2 seconds of each.
    expect(totalsOf(reading)).toEqual({
      imported_visitors: { "2026-01-01": "visitors 12 visits 25 bounces 9 visit_duration 1005" },
    })
  })

  const tables: readonly (readonly [header: string, row: string, expected: Record<string, Record<string, string>>])[] = [
    [
      "Date,Session source / medium,Session campaign,Total users,Sessions",
      "20260101,google / organic,(organic),3,4",
      {
        imported_sources: {
          "2026-01-01 source=Google channel=Organic Search utm_medium=organic": "visitors 3 visits 4",
        },
      },
    ],
    [
      "Date,Session source,Session medium,Total users,Sessions",
      "20260101,(direct),(none),3,4",
      { imported_sources: { "2026-01-01 channel=Direct": "visitors 3 visits 4" } },
    ],
    [
      "Date,Country,Region,City,Total users",
      "20260101,United States,California,(not set),3",
      { imported_locations: { "2026-01-01 country=US region=US-CA": "visitors 3" } },
    ],
    ["Date,Device category,Total users", "20260101,mobile,3", { imported_devices: { "2026-01-01 device=Mobile": "visitors 3" } }],
    ["Date,Browser,Total users", "20260101,Edge,3", { imported_browsers: { "2026-01-01 browser=Microsoft Edge": "visitors 3" } }],
    ["Date,Operating system,Total users", "20260101,Macintosh,3", { imported_operating_systems: { "2026-01-01 os=Mac": "visitors 3" } }],
    ["Date,Language,Total users", "20260101,English,3", { imported_languages: { "2026-01-01 language=en": "visitors 3" } }],
    [
      "Date,Landing page,Sessions,Engaged sessions",
      "20260101,/start,10,8",
      { imported_entry_pages: { "2026-01-01 entry_page=/start": "entrances 10 bounces 2" } },
    ],
    ["Date + hour (YYYYMMDDHH),Total users,Views", "2026010123,3,4", { imported_visitors: { "2026-01-01 23h": "visitors 3 pageviews 4" } }],
    [
      "Datum,Seitenpfad und Bildschirmklasse,Aktive Nutzer,Aufrufe",
      '20260101,/,"1.234",5',
      { imported_pages: { "2026-01-01 page=/": "visitors 1234 pageviews 5" } },
    ],
    // The name of the column is unknown, its values are days.
    ["Dato,Aktive Nutzer", "20260101,5", { imported_visitors: { "2026-01-01": "visitors 5" } }],
    ["Datum,Land,Aktive Nutzer", "20260101,Deutschland,5", { imported_locations: { "2026-01-01 country=DE": "visitors 5" } }],
  ]
  test.each(tables)("reads a table of %s", async (header, row, expected) => {
    const reading = await readWith(ga4Csv, { "download.csv": `${head("20260101", "20260101")}${header}\n${row}\n` })
    expect([reading.fault, reading.rejects]).toEqual([undefined, []])
    expect(totalsOf(reading)).toEqual(expected)
  })

  test("skips the events that GA4 records by itself", async () => {
    const reading = await readWith(ga4Csv, {
      "download.csv": `${head("20260101", "20260101")}Date,Event name,Event count,Total users\n20260101,page_view,9,3\n20260101,sign_up,2,1\n`,
    })
    expect(reading.skips).toEqual({ not_imported_type: 1 })
    expect(totalsOf(reading)).toEqual({ imported_custom_events: { "2026-01-01 name=sign_up": "visitors 1 events 2" } })
  })

  test("does not import dimensions that totals don't have together", async () => {
    const reading = await readWith(ga4Csv, {
      "download.csv": `${head("20260101", "20260101")}Date,Country,Browser,Total users\n20260101,Germany,Chrome,3\n`,
    })
    expect([reading.warnings, reading.totals]).toEqual([["mixed_dimensions"], []])
  })

  test("refuses tables without days", () => {
    const content = `${head("20260101", "20260101")}Page path and screen class,Views,Active users\n/,20,9\n`
    expect(recognition(ga4Csv, "download.csv", content)?.refusal?.code).toBe("needs_date_dimension")
    expect(recognition(ga4Csv, "other.csv", "a,b\n1,2\n")).toBeUndefined()
  })
})

describe("Universal Analytics reports", () => {
  const head = (from: string, to: string) =>
    `# ----------------------------------------\n# All Web Site Data\n# Pages\n# ${from}-${to}\n# ----------------------------------------\n\n`
  const PAGES =
    'Page,Pageviews,Unique Pageviews,Avg. Time on Page,Entrances,Bounce Rate,% Exit,Page Value\n/,"1,500","1,200",00:01:05,900,45.00%,50.00%,$0.00\n,"1,500","1,200",00:01:05,900,45.00%,50.00%,$0.00\n\n'

  test("imports the days of the day index, whatever the order of day and month", async () => {
    const american = `${head("20230112", "20230114")}${PAGES}Day Index,Pageviews\n1/12/23,"1,234"\n1/13/23,200\n1/14/23,66\n,"1,500"\n`
    const expected = {
      imported_visitors: { "2023-01-12": "pageviews 1234", "2023-01-13": "pageviews 200", "2023-01-14": "pageviews 66" },
    }
    const reading = await readWith(ga4Csv, { "Analytics.csv": american })
    expect(totalsOf(reading)).toEqual(expected)
    expect(reading).toMatchObject({ read: 3, rejects: [], warnings: ["needs_date_dimension"] })
    const british = american.replace(/^1\/(\d\d)\/23/gm, "$1/01/2023")
    expect(totalsOf(await readWith(ga4Csv, { "Analytics.csv": british }))).toEqual(expected)
    // 5/6 and 6/6 are days of the range in both orders, and are told apart by their row.
    const ambiguous = `${head("20230605", "20230606")}Day Index,Users\n05/06/23,1\n06/06/23,2\n`
    expect(totalsOf(await readWith(ga4Csv, { "Analytics.csv": ambiguous }))).toEqual({
      imported_visitors: { "2023-06-05": "visitors 1", "2023-06-06": "visitors 2" },
    })
  })

  test("refuses days whose order nothing decides, and reports without a day index", async () => {
    const { fault } = await readWith(ga4Csv, { "Analytics.csv": "# Shop\n\nDay Index,Pageviews\n1/2/23,5\n" })
    expect(fault).toMatchObject({ code: "ambiguous_date", message: expect.stringContaining("1/2/23") })
    expect(recognition(ga4Csv, "Analytics.csv", `${head("20230101", "20230131")}${PAGES}`)?.refusal?.code).toBe("needs_date_dimension")
  })
})
