import { expect, test } from "bun:test"
import { mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { temporaryFolder } from "#plugin/test"
import { stage } from "../../run/stage.ts"
import type { StageTask } from "../../run/task.ts"

/** Previews a file as a run would store it. */
async function preview(name: string, content: string, options: Readonly<Record<string, unknown>> = {}) {
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
    options,
    site: { timezone: "Europe/Berlin", hosts: ["shop.example"], allowed_query_params: [], hash_routing: false, revenue_currency: "EUR" },
    rules: { overlap: "native_wins", today: "2026-11-21" },
    geoDb: undefined,
    salt: "00".repeat(32),
  }
  const result = await stage(task, () => {})
  if ("fault" in result) return result
  const { source, days, totals, rows, skipReasons } = result
  return { source, days, totals, rows, skipReasons }
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
