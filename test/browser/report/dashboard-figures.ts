import { expect } from "bun:test"
import type { Page } from "playwright-core"
import type { Summary } from "../../../src/domain/report.ts"
import type { DashboardStand, WatchedPage } from "./dashboard-stand.ts"

/** An instance and the cookie of a signed-in user. */
export interface Seen {
  stand: DashboardStand
  cookie: string
}

/** Opens the dashboard at a path, with the instance's time as the page's clock. */
export async function openAt({ stand, cookie }: Seen, path: string, width = 1280): Promise<WatchedPage> {
  const looking = await stand.look({ cookie, width })
  looking.page.setDefaultTimeout(8_000)
  await looking.page.clock.setFixedTime(stand.instance.clock.now())
  await looking.open(path)
  return looking
}

/** Fetches a report from the private API as the same user. */
export async function report<Answer>({ stand, cookie }: Seen, name: string, given: Record<string, unknown>): Promise<Answer> {
  const query = new URLSearchParams()
  for (const [key, value] of Object.entries(given))
    query.set(key, key === "filters" ? JSON.stringify(value) : Array.isArray(value) ? value.join(",") : String(value))
  const { status, body } = await stand.instance.api.get(`/api/private/sites/1/stats/${name}?${query}`, undefined, { cookie })
  expect({ name, status }).toEqual({ name, status: 200 })
  return body as Answer
}

export const count = (value: number): string => value.toLocaleString("en-GB")
const rate = (value: number): string => `${value.toLocaleString("en-GB", { maximumFractionDigits: value < 10 ? 1 : 0 })}%`
const seconds = (value: number): string => (value < 60 ? `${value}s` : `${Math.floor(value / 60)}m ${value % 60}s`)
const STRIP = {
  visitors: count,
  visits: count,
  pageviews: count,
  views_per_visit: count,
  bounce_rate: rate,
  visit_duration: seconds,
} as const

/** Returns the figures of the strip by label. */
export const figures = (page: Page): Promise<Record<string, string>> =>
  page.$$eval(".figure", (cells) =>
    Object.fromEntries(
      cells.map((cell) => [cell.querySelector(".figure-label")?.textContent, cell.querySelector<HTMLElement>(".figure-value")?.title]),
    ),
  )

const LABELS = ["Visitors", "Visits", "Views", "Views per visit", "Bounce rate", "Visit duration"]
const money = (value: number): string => value.toLocaleString("en-GB", { style: "currency", currency: "EUR" })
const MORE = { conversion_rate: ["Conversion rate", rate], revenue: ["Revenue", money], engaged_time: ["Engaged time", seconds] } as const

/** Computes the figures of a strip without a filter for goals, events or pages: six, and two more if they have values in either range. */
export async function expectedFigures(seen: Seen, given: Record<string, unknown>): Promise<Record<string, string>> {
  const metrics = Object.keys(STRIP) as (keyof typeof STRIP)[]
  const { metrics: found } = await report<Summary>(seen, "summary", { ...given, metrics })
  const names = Object.keys(MORE) as (keyof typeof MORE)[]
  const more = await report<Summary>(seen, "summary", { compare: "previous_period", match_weekday: true, ...given, metrics: names })
  const present = names.filter((name) => more.metrics[name] || more.comparison?.metrics[name]).slice(0, 2)
  return Object.fromEntries([
    ...metrics.map((metric, index) => [LABELS[index]!, STRIP[metric](found[metric]!)]),
    ...present.map((name) => [MORE[name][0], MORE[name][1](more.metrics[name]!)]),
  ])
}
