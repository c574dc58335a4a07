/** The searches of the demo: visits from Google are clicks, and each search was shown as often as its position needs for them. */
import { type DemoSite, type DemoTraffic, dayNumber, localDay, type Site } from "#plugin"
import type { IntegrationsHost } from "../area.ts"
import { insertIntegration } from "../rows.ts"
import { SEARCH_CONSOLE } from "./google.ts"
import { type DayData, type Figures, packDay, replaceDay, type Series, termIds, writePosition } from "./storage.ts"
import { SEARCH_ZONE } from "./sync.ts"

type DemoEvent = ReturnType<DemoTraffic["events"]> extends Iterable<infer Event> ? Event : never

/** A result that was shown to people who searched. */
interface Shown extends Figures {
  query: string
  page: string
  country: string
  device: string
  /** Whether so few people searched for it that Google withholds the query. */
  isRare: boolean
}

/** Days that the search engine has not completed yet, and the last ones, of which it has no data. */
const [FRESH_DAYS, MISSING_DAYS] = [2, 2]

const propertyOf = ({ hosts, name }: Site): string => `sc-domain:${hosts[0] ?? name}`

/** Maps a property to the main site of a demo. It has no account and no next run, so that nothing is ever requested for it. */
export async function mapProperty(host: IntegrationsHost, { site, userId }: DemoSite): Promise<void> {
  const config = { property: propertyOf(site), search_types: ["web"] }
  const owner = { organization_id: site.organization_id, site_id: site.id, created_by: userId }
  const account = { connection_id: null, account_label: "demo@footfall.example", next_run_at: null }
  await insertIntegration(host.db, { kind: SEARCH_CONSOLE.kind, name: config.property, config, ...owner, ...account }, host.now())
}

/** Stores the searches of the traffic, day by day. */
export async function storeSearches(host: IntegrationsHost, { site, events }: DemoTraffic): Promise<void> {
  const days = [...searchesByDay(events())].slice(0, -MISSING_DAYS)
  const [first, last] = [days[0]?.[0], days.at(-1)?.[0]]
  if (first === undefined || last === undefined) return
  const series: Series = { siteId: site.id, engine: "google", property: propertyOf(site), searchType: "web" }
  for (const [day, shown] of days)
    await host.rows.write((rows) => {
      const isFresh = day > last - FRESH_DAYS
      const data = dayOf(shown, isFresh)
      const ids = (kind: "query" | "page") => termIds(rows, site.id, kind, [...new Set(shown.map((one) => one[kind]))])
      replaceDay(rows, series, day, data, packDay(data, { query: ids("query"), page: ids("page") }))
      writePosition(rows, series, { backfilled_to: first, synced_to: last, first_incomplete_day: last - FRESH_DAYS + 1, end: first })
    })
}

/** Groups the searches that led to the site by the day on which the search engine counts them. */
function searchesByDay(events: Iterable<DemoEvent>): Map<number, Shown[]> {
  const days = new Map<number, Shown[]>()
  for (const event of events) {
    if (event.name !== "pageview" || event.referrer !== "https://www.google.com/" || event.url.includes("gclid")) continue
    const day = dayNumber(localDay(event.at, SEARCH_ZONE).toString())
    const shown = days.get(day) ?? []
    shown.push(...shownFor(event))
    days.set(day, shown)
  }
  return days
}

/** Returns the click of a visit, and sometimes another result that was shown without a click. */
function shownFor({ url, client, person }: DemoEvent): Shown[] {
  const number = Number(/\d+$/.exec(url)?.[0] ?? 0)
  const subjects = url.includes("/products/") ? PRODUCTS : ARTICLES
  const subject = number === 0 ? "beans by post" : subjects[number % subjects.length]!
  const country = client.language.split("-")[1] ?? ""
  const device = client.userAgent.includes("iPad") ? "tablet" : client.mobile ? "mobile" : "desktop"
  const position = 1.3 + ((number * 7) % 64) / 10
  const impressions = Math.round(SHOWN_AT_TOP * position ** STEEPNESS)
  const query = FORMS[person % FORMS.length]!(subject)
  const click: Shown = { query, page: url, country, device, isRare: person % 4 === 0, ...figures(1, impressions, position) }
  if (person % 3 > 0) return [click]
  const wide = WIDE[person % WIDE.length]!
  return [click, { ...click, query: wide, isRare: false, ...figures(0, 4 + (person % 9), 11 + (person % 17)) }]
}

/** Number of people per click at the first position, and how fast it grows with the position. */
const [SHOWN_AT_TOP, STEEPNESS] = [3, 1.15]

const figures = (clicks: number, impressions: number, position: number): Figures => ({
  clicks,
  impressions,
  position_sum: Math.round(position * impressions * 1_000),
})

/** Returns a day as the search engine reports it. Its queries lack the rare ones. */
function dayOf(shown: readonly Shown[], fresh: boolean): DayData {
  const sums = <Name extends "query" | "page" | "country" | "device">(rows: readonly Shown[], ...names: readonly Name[]) =>
    [...Map.groupBy(rows, (row) => JSON.stringify(names.map((name) => row[name]))).values()].map((group) => ({
      ...(Object.fromEntries(names.map((name) => [name, group[0]![name]])) as Record<Name, string>), // a group has a row, and the names are those
      ...group.reduce(added, NOTHING),
    }))
  return {
    totals: shown.reduce(added, NOTHING),
    page: sums(shown, "page"),
    place: sums(shown, "country", "device"),
    query: sums(
      shown.filter(({ isRare }) => !isRare),
      "query",
      "page",
    ),
    fresh,
    cut: false,
  }
}

const NOTHING: Figures = { clicks: 0, impressions: 0, position_sum: 0 }
const added = (sum: Figures, { clicks, impressions, position_sum }: Figures): Figures => ({
  clicks: sum.clicks + clicks,
  impressions: sum.impressions + impressions,
  position_sum: sum.position_sum + position_sum,
})

const FORMS: readonly ((subject: string) => string)[] = [
  (subject) => subject,
  (subject) => `best ${subject}`,
  (subject) => subject,
  (subject) => `${subject} at home`,
  (subject) => subject,
]

const ARTICLES = [
  ...["pour over ratio", "coffee grind size chart", "aeropress recipe", "french press brew time", "cold brew ratio", "espresso too bitter"],
  ...["moka pot coffee", "how to store coffee beans", "washed vs natural coffee", "coffee bloom", "water temperature for coffee"],
  ...[
    "burr grinder vs blade",
    "decaf process",
    "light roast vs dark roast",
    "latte art basics",
    "descale espresso machine",
    "v60 technique",
  ],
  ...["arabica vs robusta", "coffee freshness", "coffee tasting notes", "chemex filter", "single origin meaning", "flat white vs latte"],
]
const PRODUCTS = [
  ...["ethiopian coffee beans", "espresso beans", "decaf coffee beans", "colombian coffee", "dark roast beans", "coffee gift box"],
  ...["filter coffee beans", "organic coffee beans", "kenyan coffee", "coffee sampler", "low acid coffee", "whole bean coffee 1kg"],
]
const WIDE = [
  "coffee",
  "coffee beans online",
  "coffee subscription",
  "how to make good coffee",
  "coffee shop near me",
  "fresh roasted coffee",
]
