import { describe, expect, test } from "bun:test"
import { plausible } from "../../sources/plausible.ts"
import { readWith } from "../source-reading.ts"
import { recognition, totalsOf } from "./totals.ts"

const DATES = "20260101_20260102"

/** Current headers, as Plausible's export writes them. Days and figures are by hand. */
const CURRENT: Readonly<Record<string, string>> = {
  [`imported_visitors_${DATES}.csv`]: `"date","visitors","pageviews","bounces","visits","visit_duration"
"2026-01-01",10,25,4,12,600
"2026-01-02",7,9,5,8,80`,
  [`imported_sources_${DATES}.csv`]: `date,source,referrer,utm_source,utm_medium,utm_campaign,utm_content,utm_term,pageviews,visitors,visits,visit_duration,bounces
2026-01-01,Google,google.com,,,,,,15,6,7,300,2
2026-01-01,,,,,,,,10,4,5,300,2
2026-01-02,newsletter,,newsletter,email,"spring, sale",,,9,7,8,80,5`,
  [`imported_pages_${DATES}.csv`]: `date,hostname,page,visits,visitors,pageviews,total_scroll_depth,total_scroll_depth_visits,total_time_on_page,total_time_on_page_visits
2026-01-01,shop.example,/,12,10,20,500,10,240,12
2026-01-01,shop.example,/a,4,4,5,80,2,60,3
2026-01-02,www.shop.example,/,8,7,9,300,6,90,7`,
  [`imported_entry_pages_${DATES}.csv`]: `"date","visitors","entrances","visit_duration","bounces","entry_page","pageviews"
2026-01-01,10,12,600,4,/,25`,
  [`imported_exit_pages_${DATES}.csv`]: `"date","visitors","exits","exit_page","visit_duration","bounces","pageviews"
2026-01-01,9,11,/a,550,3,24`,
  [`imported_locations_${DATES}.csv`]: `"date","country","region","city","visitors","visits","visit_duration","bounces","pageviews"
2026-01-01,DE,DE-BE,2950159,5,6,300,1,10
2026-01-01,DE,,0,3,3,200,1,9
2026-01-01,DE,,0,2,3,100,2,6`,
  [`imported_devices_${DATES}.csv`]: `date,device,visitors,visits,visit_duration,bounces,pageviews
2026-01-01,Desktop,6,7,400,2,15
2026-01-01,Mobile,4,5,200,2,10`,
  [`imported_browsers_${DATES}.csv`]: `date,browser,browser_version,visitors,visits,visit_duration,bounces,pageviews
2026-01-01,Mobile App,,1,1,10,1,1
2026-01-01,Mobile App,,2,2,20,1,4
2026-01-01,Mobile App,,3,4,30,0,5
2026-01-01,Chrome,131.0,4,5,540,2,15`,
  [`imported_operating_systems_${DATES}.csv`]: `date,operating_system,operating_system_version,visitors,visits,visit_duration,bounces,pageviews
2026-01-01,Mac,15.1,6,7,300,2,15
2026-01-01,GNU/Linux,,4,5,300,2,10`,
  [`imported_custom_events_${DATES}.csv`]: `date,name,link_url,path,visitors,events
2026-01-01,Outbound Link: Click,https://other.example/x,,3,4
2026-01-02,404,,/missing,2,2`,
  [`imported_custom_props_${DATES}.csv`]: `date,property,value,visitors,events
2026-01-01,plan,pro,2,3`,
}

describe("Plausible export", () => {
  test("imports all eleven tables, per day and dimension", async () => {
    const reading = await readWith(plausible, CURRENT)
    expect(reading).toMatchObject({ rejects: [], skips: {}, unsupported: [], read: 24 })
    expect(reading.warnings).toEqual(["hostnames_approximate", "properties_without_event"])
    expect(reading.fault).toBeUndefined()
    expect(totalsOf(reading)).toEqual({
      imported_visitors: {
        "2026-01-01": "visitors 10 pageviews 25 visits 12 bounces 4 visit_duration 600",
        "2026-01-02": "visitors 7 pageviews 9 visits 8 bounces 5 visit_duration 80",
      },
      imported_sources: {
        "2026-01-01 source=Google channel=Organic Search referrer=google.com":
          "visitors 6 pageviews 15 visits 7 bounces 2 visit_duration 300",
        "2026-01-01 channel=Direct": "visitors 4 pageviews 10 visits 5 bounces 2 visit_duration 300",
        "2026-01-02 source=newsletter channel=Email utm_source=newsletter utm_medium=email utm_campaign=spring, sale":
          "visitors 7 pageviews 9 visits 8 bounces 5 visit_duration 80",
      },
      imported_pages: {
        "2026-01-01 hostname=shop.example page=/":
          "visitors 10 visits 12 pageviews 20 scroll_depth_sum 500 scroll_depth_visits 10 time_on_page 240 time_on_page_visits 12",
        "2026-01-01 hostname=shop.example page=/a":
          "visitors 4 visits 4 pageviews 5 scroll_depth_sum 80 scroll_depth_visits 2 time_on_page 60 time_on_page_visits 3",
        "2026-01-02 hostname=www.shop.example page=/":
          "visitors 7 visits 8 pageviews 9 scroll_depth_sum 300 scroll_depth_visits 6 time_on_page 90 time_on_page_visits 7",
      },
      imported_entry_pages: { "2026-01-01 entry_page=/": "visitors 10 entrances 12 pageviews 25 bounces 4 visit_duration 600" },
      imported_exit_pages: { "2026-01-01 exit_page=/a": "visitors 9 exits 11 pageviews 24 bounces 3 visit_duration 550" },
      imported_locations: {
        "2026-01-01 country=DE region=DE-BE city=2950159": "visitors 5 pageviews 10 visits 6 bounces 1 visit_duration 300",
        "2026-01-01 country=DE": "visitors 5 pageviews 15 visits 6 bounces 3 visit_duration 300",
      },
      imported_devices: {
        "2026-01-01 device=Desktop": "visitors 6 pageviews 15 visits 7 bounces 2 visit_duration 400",
        "2026-01-01 device=Mobile": "visitors 4 pageviews 10 visits 5 bounces 2 visit_duration 200",
      },
      imported_browsers: {
        "2026-01-01 browser=Mobile App": "visitors 6 pageviews 10 visits 7 bounces 2 visit_duration 60",
        "2026-01-01 browser=Chrome browser_version=131.0": "visitors 4 pageviews 15 visits 5 bounces 2 visit_duration 540",
      },
      imported_operating_systems: {
        "2026-01-01 os=Mac os_version=15.1": "visitors 6 pageviews 15 visits 7 bounces 2 visit_duration 300",
        "2026-01-01 os=Linux": "visitors 4 pageviews 10 visits 5 bounces 2 visit_duration 300",
      },
      imported_custom_events: {
        "2026-01-01 name=Outbound Link: Click link_url=https://other.example/x": "visitors 3 events 4",
        "2026-01-02 name=404 path=/missing": "visitors 2 events 2",
      },
      imported_custom_props: { "2026-01-01 property=plan value=pro": "visitors 2 events 3" },
    })
  })

  test("imports the headers of older exports", async () => {
    const reading = await readWith(plausible, {
      "sources.csv": `"date","source","utm_medium","utm_campaign","utm_content","utm_term","visitors","visits","visit_duration","bounces"
"2024-01-01","Twitter","","","","",3,4,50,2`,
      "imported_pages_00010101_00010101.csv": `"date","visitors","pageviews","hostname","page"
"2024-01-01",3,5,"shop.example","/"`,
      "imported_pages_20230101_20230101.csv": `date,hostname,page,visitors,pageviews,exits,time_on_page
2023-01-01,shop.example,/,4,10,3,140`,
      "imported_pages_20250101_20250101.csv": `date,hostname,page,visits,visitors,pageviews,scroll_depth,pageleave_visitors
2025-01-01,shop.example,/,4,4,10,260,4`,
      "imported_exit_pages_20240101_20240101.csv": `"date","visitors","exits","exit_page"
"2024-01-01",3,4,"/"`,
      "imported_browsers_20240101_20240101.csv": `"date","browser","visitors","visits","visit_duration","bounces"
"2024-01-01","Firefox",3,4,50,2`,
    })
    expect(reading).toMatchObject({ rejects: [], read: 6 })
    expect(totalsOf(reading)).toEqual({
      imported_sources: { "2024-01-01 source=X channel=Organic Social": "visitors 3 visits 4 bounces 2 visit_duration 50" },
      imported_pages: {
        "2024-01-01 hostname=shop.example page=/": "visitors 3 pageviews 5",
        // 10 views of which 3 ended a visit: 7 views took 140 seconds.
        "2023-01-01 hostname=shop.example page=/": "visitors 4 pageviews 10 exits 3 time_on_page 140 time_on_page_visits 7",
        "2025-01-01 hostname=shop.example page=/": "visitors 4 visits 4 pageviews 10 scroll_depth_sum 260 scroll_depth_visits 4",
      },
      imported_exit_pages: { "2024-01-01 exit_page=/": "visitors 3 exits 4" },
      imported_browsers: { "2024-01-01 browser=Firefox": "visitors 3 visits 4 bounces 2 visit_duration 50" },
    })
  })

  test("rejects faulty lines by their value, and rounds fractions", async () => {
    const reading = await readWith(plausible, {
      [`imported_visitors_${DATES}.csv`]: `date,visitors,pageviews,bounces,visits,visit_duration
2026-02-30,1,1,1,1,1
2026-01-01,x1,1,1,1,1
2026-01-01,1,-1,1,1,1
2026-01-01,1,1,1,1
2026-01-01,1,2.5,,1,10`,
    })
    expect(reading.rejects.map(([, ...rest]) => rest)).toEqual([
      [2, "bad_date", "2026-02-30"],
      [3, "bad_number", "x1"],
      [4, "negative_count", "-1"],
      [5, "wrong_column_count", "5 columns instead of 6"],
    ])
    expect(reading.warnings).toEqual(["counts_rounded"])
    expect(totalsOf(reading)).toEqual({ imported_visitors: { "2026-01-01": "visitors 1 pageviews 3 visits 1 visit_duration 10" } })
  })

  test("names the missing columns of a file that is named as a table", async () => {
    const { fault } = await readWith(plausible, { [`imported_visitors_${DATES}.csv`]: "date,visitors\n2026-01-01,1" })
    expect(fault).toMatchObject({ code: "missing_columns", members: { columns: ["pageviews", "bounces", "visits", "visit_duration"] } })
  })

  test("recognizes tables by their header in files of other names", () => {
    expect(recognition(plausible, "export.csv", CURRENT[`imported_exit_pages_${DATES}.csv`]!)).toMatchObject({
      table: "imported_exit_pages",
    })
    expect(recognition(plausible, "folder/imported_visitors.csv", CURRENT[`imported_visitors_${DATES}.csv`]!)).toMatchObject({
      confidence: 1,
    })
    expect(recognition(plausible, "notes.csv", "a,b\n1,2")).toBeUndefined()
  })
})

describe("download of the Plausible dashboard", () => {
  test("imports visitors.csv as totals, bounces and durations from its rates and visits", async () => {
    const reading = await readWith(plausible, {
      "visitors.csv": `date,visitors,pageviews,visits,views_per_visit,bounce_rate,visit_duration
2026-01-01,10,25,12,2.08,33,50
2026-01-02,0,0,0,,,
2026-01-03,3,3,4,0.75,75.0,2.5`,
    })
    // 33 % of 12 visits are 3.96, 75 % of 4 are 3.
    expect(totalsOf(reading)).toEqual({
      imported_visitors: {
        "2026-01-01": "visitors 10 pageviews 25 visits 12 bounces 4 visit_duration 600",
        "2026-01-02": "",
        "2026-01-03": "visitors 3 pageviews 3 visits 4 bounces 3 visit_duration 10",
      },
    })
    expect(reading).toMatchObject({ rejects: [], unsupported: [] })
  })

  test("imports its older form without visits", async () => {
    const reading = await readWith(plausible, {
      "visitors.csv":
        "date,visitors,pageviews,views_per_visit,bounce_rate,visit_duration\n2022-05-01,10,25,2.1,33,50\n2022-05-02,1,1,1,0,0",
    })
    expect(totalsOf(reading)).toEqual({
      imported_visitors: { "2022-05-01": "visitors 10 pageviews 25", "2022-05-02": "visitors 1 pageviews 1" },
    })
    expect(reading.unsupported).toEqual(["visits", "bounce_rate", "visit_duration"])
  })

  test.each([
    ["pages.csv", "name,visitors,pageviews,bounce_rate,time_on_page\n/,10,25,33,20"],
    ["browser_versions.csv", "name,version,visitors\nChrome,131,10"],
    [
      "visitors.csv",
      "date,visitors,pageviews,visits,views_per_visit,bounce_rate,visit_duration\n2026-01-01,1,1,1,1,0,0\n2026-02-01,1,1,1,1,0,0",
    ],
  ])("lists %s without days as needing them, and names the right export", (name, content) => {
    expect(recognition(plausible, name, content)?.refusal).toMatchObject({
      code: "needs_date_dimension",
      message: expect.stringContaining("Export to CSV"),
    })
  })
})
