import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { placeFileBytes } from "../ingest/place-file.ts"
import type { TestInstance } from "../kit.ts"
import { type DashboardStand, openDashboard } from "./report/dashboard-stand.ts"

const HOUR_MS = 3_600_000

/** A group of identical visits. */
export interface Population {
  name: string
  /** Number of visits in the seven days of the test, all on one day. */
  visits: number
  /** Number of visits in the previous seven days. */
  earlier: number
  agent: string
  language: string
  width: number
  medium: string
  place: Record<string, unknown>
  network: string
  /** Rows that each tab of each card shows for them, as displayed. */
  rows: Readonly<Record<string, readonly string[]>>
}

/** Returns rows in which every text contains the name, except for values that are given in `others`. */
const rowsOf = (name: string, others: Record<string, string>): Population["rows"] => ({
  "sources:source": [`${name}-source`],
  "sources:referrer": [`${name}-referrer.example/x`],
  "sources:campaign": [`${name}-campaign`],
  "sources:campaign-source": [`${name}-source`],
  "sources:term": [`${name}-term`],
  "sources:content": [`${name}-content`],
  "pages:top": [`/${name}/gone`, `/${name}/in`, `/${name}/out`],
  "pages:entry": [`/${name}/in`],
  "pages:exit": [`/${name}/out`],
  "pages:404": [`/${name}/gone`],
  "pages:hostname": [`${name}.example`],
  "acts:goals": [`${name}_signup`],
  // Both populations have the other event.
  "acts:events": ["404", `${name}_signup`],
  ...Object.fromEntries(Object.entries(others).map(([tab, text]) => [tab, [text]])),
})

export const ALPHA: Population = {
  name: "alpha",
  visits: 6,
  earlier: 2,
  agent: "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/141.0.0.0 Safari/537.36",
  language: "de-DE",
  width: 1280,
  medium: "email",
  place: { country: { iso_code: "DE" }, subdivisions: [{ iso_code: "BE" }], city: { names: { en: "Alphaville" } } },
  network: "9.9.9",
  rows: rowsOf("alpha", {
    "sources:channel": "Email",
    "sources:medium": "email",
    "locations:country": "Germany",
    "locations:region": "DE-BE",
    "locations:city": "Alphaville",
    "locations:language": "German (Germany)",
    "devices:browser": "Chrome",
    "devices:browser-version": "141.0",
    "devices:system": "Windows",
    "devices:system-version": "10",
    "devices:device": "Desktop",
    "devices:size": "992-1439",
  }),
}

export const BETA: Population = {
  name: "beta",
  visits: 11,
  earlier: 3,
  agent:
    "Mozilla/5.0 (iPhone; CPU iPhone OS 18_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.5 Mobile/15E148 Safari/604.1",
  language: "ja-JP",
  width: 390,
  medium: "cpc",
  place: { country: { iso_code: "JP" }, subdivisions: [{ iso_code: "13" }], city: { names: { en: "Betatown" } } },
  network: "8.8.8",
  rows: rowsOf("beta", {
    "sources:channel": "Paid Other",
    "sources:medium": "cpc",
    "locations:country": "Japan",
    "locations:region": "JP-13",
    "locations:city": "Betatown",
    "locations:language": "Japanese (Japan)",
    "devices:browser": "Safari",
    "devices:browser-version": "18.5",
    "devices:system": "iOS",
    "devices:system-version": "18.5",
    "devices:device": "Phone",
    "devices:size": "<576",
  }),
}

/** Opens the seven days up to Thursday 12 November, with Alpha's visits on Monday and Beta's on Wednesday, as in the previous week. */
export async function openPopulations(folder: string): Promise<DashboardStand> {
  const geo_db = join(folder, "places.mmdb")
  const places = [ALPHA, BETA].flatMap(({ network, place, visits }) =>
    Array.from({ length: visits }, (_, visit) => [`${network}.${visit}`, place] as const),
  )
  writeFileSync(geo_db, placeFileBytes(Object.fromEntries(places)))
  const stand = await openDashboard({ now: "2026-11-02T09:00:00Z", settings: { geo_db } })
  const { instance } = stand
  const { sites, goals } = instance.app.instance
  const hosts = [ALPHA, BETA].map(({ name }) => `${name}.example`)
  const site = await sites.create(instance.site.organization_id, { name: "Both", hosts, timezone: "UTC" })
  for (const { name } of [ALPHA, BETA]) await goals.create(site, { kind: "event", value: `${name}_signup` })
  for (const count of ["earlier", "visits"] as const) {
    await makeVisits(instance, ALPHA, ALPHA[count])
    instance.clock.advance(54 * HOUR_MS)
    await makeVisits(instance, BETA, BETA[count])
    instance.clock.advance(114 * HOUR_MS)
  }
  instance.clock.advance(-96 * HOUR_MS)
  return stand
}

async function makeVisits(instance: TestInstance, people: Population, count: number): Promise<void> {
  const { name, agent, language, width, medium, network } = people
  const host = `https://${name}.example`
  const tags = `utm_source=${name}-source&utm_medium=${medium}&utm_campaign=${name}-campaign&utm_term=${name}-term&utm_content=${name}-content`
  for (let visit = 0; visit < count; visit++) {
    const sent = { address: `${network}.${visit}`, headers: { "user-agent": agent, "accept-language": language } }
    const collect = (n: string, path: string, more = {}) =>
      instance.collect({ n, d: `${name}.example`, u: `${host}/${name}/${path}`, w: width, ...more }, sent)
    await collect("pageview", `in?${tags}`, { r: `https://${name}-referrer.example/x` })
    await collect(`${name}_signup`, "in")
    await collect("404", "gone", { p: { path: `/${name}/gone` } })
    await collect("pageview", "out")
  }
}
