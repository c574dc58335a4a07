import { describe, expect, test } from "bun:test"
import { goatcounter } from "../../sources/goatcounter/goatcounter.ts"
import { readWith } from "../source-reading.ts"
import { recognition, totalsOf } from "./totals.ts"

const jsonLines = (...values: object[]): string => values.map((value) => `${JSON.stringify(value)}\n`).join("")

const INFO = {
  export_version: "1.0",
  goatcounter_version: "v2.6",
  created_for: "shop.goatcounter.example",
  created_by: "owner <owner@shop.example>",
  created_at: "2026-02-01T10:00:00Z",
}

/** Visitors of a page on two days, of another page and of an event. Counts are by hand. */
const EXPORT: Readonly<Record<string, string>> = {
  "goatcounter/info.json": JSON.stringify(INFO, null, 2),
  "goatcounter/paths.jsonl": jsonLines(
    { id: 1, path: "/", title: "Home" },
    { id: 2, path: "about", title: "About" },
    { id: 3, path: "sign-up", title: "", event: 1 },
  ),
  "goatcounter/refs.jsonl": jsonLines(
    { id: 1, ref: "", ref_scheme: "o" },
    { id: 2, ref: "www.google.com/search", ref_scheme: "h" },
    { id: 3, ref: "Hacker News", ref_scheme: "g" },
    { id: 4, ref: "newsletter", ref_scheme: "c" },
  ),
  "goatcounter/browsers.jsonl": jsonLines({ id: 1, name: "Chrome", version: "120" }, { id: 2, name: "Firefox", version: "" }),
  "goatcounter/systems.jsonl": jsonLines({ id: 1, name: "Windows", version: "10" }, { id: 2, name: "macOS", version: "14.2" }),
  "goatcounter/locations.jsonl": jsonLines({ country: "RO", region: "B", country_name: "Romania", region_name: "Bucharest" }),
  "goatcounter/languages.jsonl": jsonLines({ iso_639_3: "eng", name: "English" }),
  "goatcounter/hit_stats.jsonl": jsonLines(
    { hour: "2026-01-01 10:00:00", path_id: 1, ref_id: 2, count: 5 },
    { hour: "2026-01-01 10:00:00", path_id: 1, ref_id: 1, count: 2 },
    { hour: "2026-01-01 23:00:00", path_id: 2, ref_id: 3, count: 3 },
    { hour: "2026-01-01 23:00:00", path_id: 1, ref_id: 4, count: 1 },
    { hour: "2026-01-01 10:00:00", path_id: 3, ref_id: 1, count: 4 },
  ),
  "goatcounter/browser_stats.jsonl": jsonLines(
    { day: "2026-01-01", path_id: 1, browser_id: 1, count: 6 },
    { day: "2026-01-01", path_id: 2, browser_id: 1, count: 3 },
    { day: "2026-01-01", path_id: 1, browser_id: 2, count: 2 },
    { day: "2026-01-01", path_id: 3, browser_id: 1, count: 4 },
  ),
  "goatcounter/system_stats.jsonl": jsonLines(
    { day: "2026-01-01", path_id: 1, system_id: 1, count: 8 },
    { day: "2026-01-01", path_id: 2, system_id: 2, count: 3 },
  ),
  "goatcounter/location_stats.jsonl": jsonLines(
    { day: "2026-01-01", path_id: 1, location: "RO-B", count: 8 },
    { day: "2026-01-01", path_id: 2, location: "", count: 3 },
  ),
  "goatcounter/language_stats.jsonl": jsonLines(
    { day: "2026-01-01", path_id: 1, language: "eng", count: 5 },
    { day: "2026-01-01", path_id: 1, language: "cmn", count: 3 },
    { day: "2026-01-01", path_id: 2, language: "und", count: 3 },
  ),
  "goatcounter/size_stats.jsonl": jsonLines(
    { day: "2026-01-01", path_id: 1, width: 1920, count: 7 },
    { day: "2026-01-01", path_id: 1, width: 390, count: 1 },
    { day: "2026-01-01", path_id: 2, width: 0, count: 3 },
  ),
}

describe("GoatCounter JSON export", () => {
  test("imports first visits as visitors, per hour or day and dimension", async () => {
    const reading = await readWith(goatcounter, EXPORT)
    expect(reading.fault).toBeUndefined()
    expect(reading).toMatchObject({ rejects: [], skips: { not_a_pageview: 1 }, warnings: ["utc_days"], read: 19 })
    expect(reading.unsupported).toEqual(["visits", "pageviews", "entry_pages", "exit_pages"])
    expect(totalsOf(reading)).toEqual({
      imported_visitors: { "2026-01-01 11h": "visitors 7", "2026-01-02 0h": "visitors 4" },
      imported_pages: {
        "2026-01-01 11h page=/": "visitors 7",
        "2026-01-02 0h page=/about": "visitors 3",
        "2026-01-02 0h page=/": "visitors 1",
      },
      imported_sources: {
        "2026-01-01 11h source=Google channel=Organic Search referrer=google.com/search": "visitors 5",
        "2026-01-01 11h channel=Direct": "visitors 2",
        "2026-01-02 0h source=Hacker News channel=Organic Social": "visitors 3",
        "2026-01-02 0h source=newsletter channel=Email utm_source=newsletter": "visitors 1",
      },
      imported_custom_events: { "2026-01-01 11h name=sign-up": "visitors 4" },
      imported_browsers: { "2026-01-01 browser=Chrome browser_version=120": "visitors 9", "2026-01-01 browser=Firefox": "visitors 2" },
      imported_operating_systems: {
        "2026-01-01 os=Windows os_version=10": "visitors 8",
        "2026-01-01 os=Mac os_version=14.2": "visitors 3",
      },
      imported_locations: { "2026-01-01 country=RO region=RO-B": "visitors 8", "2026-01-01": "visitors 3" },
      imported_languages: { "2026-01-01 language=en": "visitors 5", "2026-01-01 language=zh": "visitors 3", "2026-01-01": "visitors 3" },
      imported_sizes: { "2026-01-01 size=1440+": "visitors 7", "2026-01-01 size=<576": "visitors 1", "2026-01-01": "visitors 3" },
    })
  })

  test("never passes on the email address of the author", async () => {
    expect(JSON.stringify(await readWith(goatcounter, EXPORT))).not.toContain("owner")
  })

  test("rejects faulty lines", async () => {
    const { rejects } = await readWith(goatcounter, {
      ...EXPORT,
      "goatcounter/hit_stats.jsonl":
        '{"hour":"soon","path_id":1,"count":1}\n{"hour":"2026-01-01 10:00:00","path_id":1,"count":-2}\nbroken\n',
    })
    expect(rejects.map(([, ...rest]) => rest)).toEqual([
      [1, "bad_date", "soon"],
      [3, "wrong_column_count", ""],
      [2, "negative_count", "-2"],
    ])
  })

  test("refuses other versions, and exports without their hits or paths", async () => {
    const info = JSON.stringify({ ...INFO, export_version: "2.0" })
    expect(recognition(goatcounter, "info.json", info)?.refusal?.code).toBe("unsupported_version")
    for (const name of ["hit_stats", "paths"]) {
      const { [`goatcounter/${name}.jsonl`]: _, ...rest } = EXPORT
      const { fault } = await readWith(goatcounter, rest)
      expect(fault).toMatchObject({ code: "nothing_to_import", message: expect.stringContaining(`${name}.jsonl`) })
    }
  })
})
