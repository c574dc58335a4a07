import { describe, expect, test } from "bun:test"
import { mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { strToU8, zipSync } from "fflate"
import { temporaryFolder } from "#plugin/test"
import { stage } from "../../run/stage/stage.ts"
import type { StageTask } from "../../run/task.ts"

/** Stages a file for a preview. */
async function staged(name: string, content: string | Uint8Array, more: Partial<StageTask> = {}) {
  using folder = temporaryFolder()
  const path = join(folder.path, "file")
  writeFileSync(path, content)
  mkdirSync(join(folder.path, "staged"))
  const task: StageTask = {
    do: "preview",
    folder: join(folder.path, "staged"),
    files: [{ name, path, bytes: Buffer.byteLength(content) }],
    isInline: true,
    source: undefined,
    options: {},
    site: { timezone: "Europe/Berlin", hosts: ["shop.example"], allowed_query_params: [], hash_routing: false, revenue_currency: "EUR" },
    linksUsers: false,
    takesRefunds: true,
    rules: { overlap: "native_wins", today: "2026-11-21" },
    geoDb: undefined,
    salt: "00".repeat(32),
    ...more,
  }
  return await stage(task, () => {}) // before the folder is deleted
}

/** Previews a file as a run would store it. */
async function preview(name: string, content: string, options: Readonly<Record<string, unknown>> = {}, source?: string) {
  const result = await staged(name, content, { options, source })
  if ("fault" in result) return result
  const { days, totals, rows, skipReasons } = result
  return { source: result.source, days, totals, rows, skipReasons }
}

test("Umami events become visits by visit id, on the days of the site", async () => {
  const header = "event_id,website_id,session_id,visit_id,created_at,event_type,event_name,url_path,hostname,browser\n"
  const rows = [
    // 23:30 in UTC is the next day in Berlin.
    "e1,w,s1,v1,2024-03-15 23:30:00,1,,/,shop.example,chrome",
    "e2,w,s1,v1,2024-03-16 01:30:00,2,signup,/,shop.example,chrome",
    "e3,w,s1,v2,2024-03-16 01:40:00,1,,/a,shop.example,chrome",
    "e4,w,s2,v3,2024-03-17 10:00:00,1,,/a,shop.example,firefox",
    "e4,w,s2,v3,2024-03-17 10:00:00,1,,/a,shop.example,firefox",
  ]
  expect(await preview("website_event.csv", `${header}${rows.join("\n")}\n`)).toEqual({
    source: "umami",
    days: [
      { day: "2024-03-16", rows: 2 },
      { day: "2024-03-17", rows: 1 },
    ],
    totals: { visitors: 2, visits: 3, pageviews: 3, events: 4, revenue: [] },
    rows: { read: 5, accepted: 4, rejected: 0, skipped: 1 },
    skipReasons: { repeated_row: 1 },
  })
})

test("GoatCounter hits become visits by the rule of 30 minutes", async () => {
  const header = "2Path,Title,Event,UserAgent,Browser,System,Session,Bot,Referrer,Referrer scheme,Screen size,Location,FirstVisit,Date\n"
  const rows = ["10:00", "10:30", "11:01"].map((time) => `/,x,0,,Chrome 86,Linux,a-b,0,Google,g,,DE,1,2026-05-01T${time}:00Z`)
  expect(await preview("export.csv", `${header}${rows.join("\n")}\n`)).toMatchObject({
    source: "goatcounter",
    totals: { visitors: 1, visits: 2, pageviews: 3, events: 3 },
  })
})

test("Simple Analytics rows become visits, with engagements that are not counted", async () => {
  const text = `added_iso,hostname,path,is_unique,session_id,duration_seconds,datapoint
2026-05-01T10:00:00Z,shop.example,/,true,a,30,pageview
2026-05-01T10:01:00Z,shop.example,/,false,a,,signup
2026-05-01T10:02:00Z,shop.example,/,true,b,,pageview
`
  expect(await preview("datapoints.csv", text)).toMatchObject({
    source: "simple_analytics",
    totals: { visitors: 2, visits: 2, pageviews: 2, events: 3 },
    rows: { read: 3, accepted: 3, rejected: 0, skipped: 0 },
  })
})

test("rows of any CSV keep their revenue in minor units, and drop an invalid one", async () => {
  const text = "Time,Path,V,Amount\n2026-05-01T10:00:00Z,/,a,19.9900\n2026-05-01T10:01:00Z,/,a,1.999\n2026-05-01T10:02:00Z,/,a,free\n"
  const mapping = { timestamp: "Time", path: "Path", visitor_id: "V", revenue: "Amount" }
  expect(await preview("x.csv", text, { mapping })).toMatchObject({
    source: "csv_generic",
    totals: { visitors: 1, visits: 1, pageviews: 3, revenue: [{ currency: "EUR", amount_minor: 1999 }] },
    skipReasons: { revenue_invalid: 2 },
  })
})

test("requests of a log become visits by address and user agent, without bots", async () => {
  const request = (address: string, time: string, agent: string, path = "/") =>
    `${address} - - [15/Mar/2024:${time} +0100] "GET ${path} HTTP/1.1" 200 5 "-" "${agent}"\n`
  const firefox = "Mozilla/5.0 (X11; Linux x86_64; rv:121.0) Gecko/20100101 Firefox/121.0"
  const chrome = "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/121.0.0.0 Safari/537.36"
  const log = [
    request("203.0.113.7", "10:00:00", firefox),
    request("203.0.113.7", "10:05:00", firefox, "/a"),
    request("203.0.113.7", "10:06:00", chrome, "/a"),
    request("203.0.113.7", "11:00:00", firefox, "/b"),
    request("203.0.113.8", "11:00:00", "Googlebot/2.1 (+http://www.google.com/bot.html)"),
    request("203.0.113.9", "11:00:00", "-"),
    request("203.0.113.9", "11:00:00", firefox, "/a.css"),
    "203.0.113.9 is not a request\n",
  ].join("")
  expect(await preview("access.log", log)).toEqual({
    source: "server_log",
    days: [{ day: "2024-03-15", rows: 3 }],
    totals: { visitors: 2, visits: 3, pageviews: 4, events: 4, revenue: [] },
    rows: { read: 8, accepted: 4, rejected: 1, skipped: 3 },
    skipReasons: { bot: 2, not_a_pageview: 1 },
  })
})

test("a log in a format of its own is read by its pattern", async () => {
  const log = "2024-03-15T10:00:00Z|203.0.113.7|GET|/a\n"
  const pattern = "$time_iso8601|$remote_addr|$request_method|$request_uri"
  expect(await preview("x.log", log, { format: "custom", pattern }, "server_log")).toMatchObject({ totals: { pageviews: 1 } })
  expect(await preview("x.log", log, {}, "server_log")).toMatchObject({
    fault: { code: "unrecognized_source", message: expect.stringContaining("option format") },
  })
})

test("Matomo visits keep their revenue and their actions that are imported", async () => {
  const visit = {
    idVisit: "1",
    visitorId: "0123456789abcdef",
    siteCurrency: "USD",
    actionDetails: [
      { type: "action", url: "https://shop.example/", timestamp: 1710496800 },
      { type: "goal", timestamp: 1710496801 },
      { type: "ecommerceOrder", orderId: "A", revenue: 19.9, timestamp: 1710500400 },
    ],
  }
  expect(await preview("visits.json", JSON.stringify([visit]))).toEqual({
    source: "matomo",
    days: [{ day: "2024-03-15", rows: 1 }],
    totals: { visitors: 1, visits: 1, pageviews: 1, events: 2, revenue: [{ currency: "USD", amount_minor: 1990 }] },
    rows: { read: 3, accepted: 2, rejected: 0, skipped: 1 },
    skipReasons: { not_imported_type: 1 },
  })
})

test("BigQuery events become visits by user and session", async () => {
  const params = (session: string) => [
    { key: "page_location", value: { string_value: "https://shop.example/a" } },
    { key: "ga_session_id", value: { int_value: session } },
  ]
  const rows = [
    { event_name: "page_view", event_timestamp: "1710496800000000", user_pseudo_id: "1.2", event_params: params("7") },
    {
      event_name: "purchase",
      event_timestamp: "1710503999000000",
      user_pseudo_id: "1.2",
      event_params: params("7"),
      ecommerce: { transaction_id: "T", purchase_revenue: 19.9 },
    },
    { event_name: "page_view", event_timestamp: "1710504000000000", user_pseudo_id: "1.2", event_params: params("8") },
  ]
  expect(await preview("events.json", JSON.stringify(rows))).toMatchObject({
    source: "ga4_bigquery",
    totals: { visitors: 1, visits: 2, pageviews: 2, events: 3, revenue: [{ currency: "EUR", amount_minor: 1990 }] },
    rows: { read: 3, accepted: 3, rejected: 0, skipped: 0 },
  })
})

test.each([
  ["bytes", { bytes: 400_000, ms: 600_000 }, 1],
  // On a busy machine the time can be over before the first row.
  ["time", { bytes: 1_000_000_000, ms: 1 }, 0],
])("a preview ends at its limit of %s, with the figures of what it has read", async (_, limits, atLeast) => {
  const rows = Array.from({ length: 20_000 }, (_, at) => `2026-10-01T10:00:00Z,/${at},s${at},shop.example,pageview\n`)
  const content = `added_iso,path,session_id,hostname,datapoint\n${rows.join("")}`
  const result = await staged("export.csv", content, { limits })
  if ("fault" in result) throw new Error(result.fault.message)
  const { complete, scannedBytes, rows: read, totals, hash } = result
  expect({ complete, hash }).toEqual({ complete: false, hash: undefined })
  expect(scannedBytes).toBeLessThan(content.length)
  expect(read.accepted).toBeGreaterThanOrEqual(atLeast)
  expect(read.accepted).toBeLessThan(rows.length)
  expect(totals.events).toBe(read.accepted)
})

describe("files without a chosen source", () => {
  const utf16 = (text: string) => new Uint8Array(Buffer.from(text, "utf16le"))
  const table = "Time,URL\n2026-10-01 10:00,https://shop.example/\n"
  const pages = zipSync({ "pages.csv": strToU8("name,visitors,pageviews\n/,5,6\n") })
  const photos = zipSync({ "img/1.jpg": new Uint8Array([255, 216, 0]), "readme.txt": strToU8("Hello") })
  const workbook = zipSync({ "[Content_Types].xml": strToU8("<Types/>"), "xl/workbook.xml": strToU8("<workbook/>") })

  test.each<[what: string, name: string, content: string | Uint8Array, code: string, message: RegExp]>([
    ["an empty file", "export.csv", "", "nothing_to_import", /^export\.csv is empty\. Make the export again\.$/],
    ["an empty archive", "export.zip", "", "nothing_to_import", /^export\.zip is empty/],
    ["Umami's export button", "pages.csv", "x,y\n/,10\n", "needs_date_dimension", /pages\.csv comes from Umami's export button/],
    ["Plausible's dashboard", "download.zip", pages, "needs_date_dimension", /^pages\.csv is a download of Plausible's dashboard/],
    ["a later GoatCounter", "export.csv", "3Path,Title\n/,Home\n", "unsupported_version", /^export\.csv has version 3 of GoatCounter's/],
    ["UTF-16 without a mark", "export.csv", utf16(table), "invalid_encoding", /^export\.csv is UTF-16 without a byte order mark/],
    ["a web page", "export.csv", "<!doctype html><title>Sign in</title>", "unrecognized_source", /^export\.csv is a web page/],
    ["a workbook", "export.xlsx", workbook, "unrecognized_source", /^export\.xlsx is an Excel workbook.* Save each sheet as CSV/],
    [
      "photos",
      "photos.zip",
      photos,
      "unrecognized_source",
      /^The archive photos\.zip holds img\/1\.jpg, readme\.txt, but no file that any source reads/,
    ],
  ])("%s: names the file, the cause and the remedy", async (_, name, content, code, message) => {
    expect(await staged(name, content)).toMatchObject({ fault: { code, message: expect.stringMatching(message) } })
  })

  test("tables in UTF-16 are read by their byte order mark", async () => {
    expect(await staged("export.csv", utf16(`\ufeff${table}`))).toMatchObject({
      source: "csv_generic",
      encoding: "utf-16le",
      totals: { pageviews: 1 },
    })
  })

  test("wrong files of a chosen source name it", async () => {
    const result = await staged("photos.zip", photos, { source: "umami" })
    expect(result).toMatchObject({ fault: { message: expect.stringContaining("no file that the source Umami reads. Send the files") } })
  })
})
