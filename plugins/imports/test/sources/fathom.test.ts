import { describe, expect, test } from "bun:test"
import { fathom } from "../../sources/fathom.ts"
import { readWith } from "../source-reading.ts"
import { recognition, totalsOf } from "./totals.ts"

const HEADER =
  "datetime,hostname,pathname,pageviews,visits,uniques,avg_duration,bounce_rate,browser,operating_system,device_type,country_code,state,city,referrer_hostname,referrer_pathname,utm_source,utm_medium,utm_campaign,utm_content,utm_term"

describe("Fathom CSV", () => {
  // 23:00 UTC is midnight in Berlin in winter, so the last row belongs to the next day.
  const HOURLY = `${HEADER}
2026-01-01 10:00:00,https://shop.example,/,5,4,3,30,0.5,Chrome,Mac OS X,Desktop,US,California,San Francisco,https://www.google.com,/search,,,,,
2026-01-01 10:00:00,https://shop.example,/a,2,1,1,10,0,Chrome,Mac OS X,Desktop,US,California,San Francisco,,,,,,,
2026-01-01 23:00:00,https://shop.example,/,3,3,3,0,1,Safari,iOS,Phone,UK,,,,,news,email,spring,,`

  test("shifts hours in UTC to the zone of the site and fills one table per dimension", async () => {
    const reading = await readWith(fathom, { "export.csv": HOURLY })
    expect(reading).toMatchObject({ rejects: [], warnings: [], read: 3, unsupported: ["entry_pages", "exit_pages"] })
    const [ten, midnight] = ["2026-01-01 11h", "2026-01-02 0h"]
    // Bounces: 0.5 of 4 visits, none of 1. Durations: 30 seconds of 4 visits and 10 of 1.
    const desktop = "visitors 4 pageviews 7 visits 5 bounces 2 visit_duration 130"
    const phone = "visitors 3 pageviews 3 visits 3 bounces 3"
    expect(totalsOf(reading)).toEqual({
      imported_visitors: { [ten]: desktop, [midnight]: phone },
      imported_pages: {
        [`${ten} hostname=shop.example page=/`]: "visitors 3 visits 4 pageviews 5",
        [`${ten} hostname=shop.example page=/a`]: "visitors 1 visits 1 pageviews 2",
        [`${midnight} hostname=shop.example page=/`]: "visitors 3 visits 3 pageviews 3",
      },
      imported_sources: {
        [`${ten} source=Google channel=Organic Search referrer=google.com/search`]:
          "visitors 3 pageviews 5 visits 4 bounces 2 visit_duration 120",
        [`${ten} channel=Direct`]: "visitors 1 pageviews 2 visits 1 visit_duration 10",
        [`${midnight} source=news channel=Email utm_source=news utm_medium=email utm_campaign=spring`]: phone,
      },
      imported_locations: { [`${ten} country=US region=US-CA city=San Francisco`]: desktop, [`${midnight} country=GB`]: phone },
      imported_devices: { [`${ten} device=Desktop`]: desktop, [`${midnight} device=Mobile`]: phone },
      imported_browsers: { [`${ten} browser=Chrome`]: desktop, [`${midnight} browser=Safari`]: phone },
      imported_operating_systems: { [`${ten} os=Mac`]: desktop, [`${midnight} os=iOS`]: phone },
    })
  })

  test("keeps the dates of daily rows, and reads rates above 1 as percentages", async () => {
    const rows = `${HEADER}
2026-01-01 00:00:00,shop.example,/,5,4,3,30,75,Chrome,Windows,Desktop,DE,,,,,,,,,
2026-01-02 00:00:00,shop.example,/,2,2,2,15,0.5,Chrome,Windows,Desktop,DE,,,,,,,,,`
    const reading = await readWith(fathom, { "export.csv": rows })
    expect(reading.warnings).toEqual(["utc_days"])
    expect(totalsOf(reading).imported_visitors).toEqual({
      "2026-01-01": "visitors 3 pageviews 5 visits 4 bounces 3 visit_duration 120",
      // Half a percent of 2 visits is no bounce.
      "2026-01-02": "visitors 2 pageviews 2 visits 2 visit_duration 30",
    })
    expect((await readWith(fathom, { "export.csv": rows }, { siteTimezone: "UTC" })).warnings).toEqual([])
  })

  test("reads the events file", async () => {
    const reading = await readWith(fathom, {
      "events.csv": `datetime,hostname,pathname,event_name,completions,visits,uniques,browser
2026-07-01 22:30:00,shop.example,/a,Sign up,5,4,3,Chrome
2026-07-01 22:10:00,shop.example,/a,Sign up,1,1,1,Safari`,
    })
    expect(totalsOf(reading)).toEqual({ imported_custom_events: { "2026-07-02 0h name=Sign up path=/a": "visitors 4 events 6" } })
  })

  test("rejects faulty lines by their value", async () => {
    const { rejects } = await readWith(fathom, {
      "export.csv":
        "datetime,uniques,visits,bounce_rate\n2026-01-01 25:00:00,1,1,0\n2026-01-01 10:00:00,one,1,0\n2026-01-01 10:00:00,1,-1,0",
    })
    expect(rejects.map(([, ...rest]) => rest)).toEqual([
      [2, "bad_date", "2026-01-01 25:00:00"],
      [3, "bad_number", "one"],
      [4, "negative_count", "-1"],
    ])
  })
})

describe("Fathom zip", () => {
  test("takes the totals from Site.csv only, and dimensions from files with days", async () => {
    const reading = await readWith(fathom, {
      "Site.csv": "Date,Pageviews,Uniques,Visits,Avg Duration,Bounce Rate\n2026-01-01,7,4,5,26,0.4",
      "Browsers.csv": "Date,Browser,Pageviews,Uniques\n2026-01-01,Chrome,5,3\n2026-01-01,Safari,2,1",
    })
    expect(totalsOf(reading)).toEqual({
      imported_visitors: { "2026-01-01": "visitors 4 pageviews 7 visits 5 bounces 2 visit_duration 130" },
      imported_browsers: { "2026-01-01 browser=Chrome": "visitors 3 pageviews 5", "2026-01-01 browser=Safari": "visitors 1 pageviews 2" },
    })
  })

  test("lists files without days as needing them", () => {
    for (const name of ["Browsers.csv", "pageviews-browser-2026.csv"])
      expect(recognition(fathom, name, "Browser,Pageviews,Uniques\nChrome,5,3")?.refusal?.code).toBe("needs_date_dimension")
    expect(recognition(fathom, "pageviews-site-totals-2026.csv", "datetime,pageviews,uniques\n2026-01-01,5,3")).toMatchObject({
      table: "pageviews",
    })
    // The download of another product's dashboard has files of the same kind.
    expect(recognition(fathom, "browsers.csv", "name,visitors\nChrome,5")).toBeUndefined()
  })
})
