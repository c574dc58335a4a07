/** The import of the demo: two months that the shop counted with Plausible before it moved to Footfall. */
import type { DemoTraffic } from "#plugin"
import type { Area } from "./area.ts"

const DAY_MS = 86_400_000
const DAYS = 61
/** Traffic of the first imported day as a part of that of the last one, which is that of the first own days. */
const BEGINNING = 0.55
/** Relative number of visitors from Sunday to Saturday. */
const WEEK = [0.72, 1.08, 1.15, 1.12, 1.08, 1, 0.68]

const VISITS_PER_VISITOR = 1.06
const BOUNCED = 0.46
const SECONDS_PER_VISIT = 94

interface DayTotals {
  day: string
  visitors: number
  visits: number
  pageviews: number
}

/** Columns that name a value, such as `source`, and the values with their shares. */
interface Split {
  columns: readonly string[]
  values: readonly (readonly [share: number, ...texts: string[]])[]
}

const NO_CAMPAIGN = ["", "", "", ""]
const SOURCES: Split = {
  columns: ["source", "utm_medium", "utm_campaign", "utm_content", "utm_term"],
  values: [
    [34, "", ...NO_CAMPAIGN],
    [31, "Google", ...NO_CAMPAIGN],
    [9, "newsletter", "email", "welcome", "", ""],
    [7, "Facebook", ...NO_CAMPAIGN],
    [5, "Twitter", ...NO_CAMPAIGN],
    [5, "Bing", ...NO_CAMPAIGN],
    [5, "DuckDuckGo", ...NO_CAMPAIGN],
    [4, "Reddit", ...NO_CAMPAIGN],
  ],
}
const PAGES: Split = {
  columns: ["hostname", "page"],
  values: [
    [30, "shop.example", "/"],
    [16, "shop.example", "/magazine/1"],
    [14, "shop.example", "/products/1"],
    [11, "shop.example", "/products/2"],
    [9, "shop.example", "/magazine/2"],
    [9, "shop.example", "/cart"],
    [6, "shop.example", "/checkout"],
    [5, "shop.example", "/subscribe"],
  ],
}
const ENTRIES: Split = {
  columns: ["entry_page"],
  values: [
    [44, "/"],
    [24, "/magazine/1"],
    [18, "/products/1"],
    [14, "/magazine/2"],
  ],
}
const EXITS: Split = {
  columns: ["exit_page"],
  values: [
    [40, "/"],
    [22, "/magazine/1"],
    [20, "/products/2"],
    [18, "/cart"],
  ],
}
const PLACES: Split = {
  columns: ["country", "region", "city"],
  values: [
    [38, "DE", "", ""],
    [21, "US", "", ""],
    [13, "GB", "", ""],
    [10, "FR", "", ""],
    [10, "CH", "", ""],
    [8, "JP", "", ""],
  ],
}
const DEVICES: Split = {
  columns: ["device"],
  values: [
    [52, "Mobile"],
    [44, "Desktop"],
    [4, "Tablet"],
  ],
}
const BROWSERS: Split = {
  columns: ["browser"],
  values: [
    [51, "Chrome"],
    [29, "Safari"],
    [12, "Firefox"],
    [8, "Microsoft Edge"],
  ],
}
const SYSTEMS: Split = {
  columns: ["operating_system"],
  values: [
    [31, "Android"],
    [26, "Windows"],
    [22, "iOS"],
    [15, "Mac"],
    [6, "GNU/Linux"],
  ],
}

const OF_VISITS = ["visitors", "visits", "visit_duration", "bounces"] as const
type Count = (typeof OF_VISITS)[number] | "pageviews" | "entrances" | "exits"

/** The files of the export: each splits the totals of a day, so that its rows add up to them. */
const TABLES: Readonly<Record<string, { split: Split; counts: readonly Count[] }>> = {
  visitors: { split: { columns: [], values: [[1]] }, counts: ["visitors", "pageviews", "bounces", "visits", "visit_duration"] },
  sources: { split: SOURCES, counts: OF_VISITS },
  pages: { split: PAGES, counts: ["visitors", "pageviews"] },
  entry_pages: { split: ENTRIES, counts: ["visitors", "entrances", "visit_duration", "bounces"] },
  exit_pages: { split: EXITS, counts: ["visitors", "exits"] },
  locations: { split: PLACES, counts: OF_VISITS },
  devices: { split: DEVICES, counts: OF_VISITS },
  browsers: { split: BROWSERS, counts: OF_VISITS },
  operating_systems: { split: SYSTEMS, counts: OF_VISITS },
}

/** Previews and starts the import. Its job runs once the demo serves, because imports wait for no traffic. */
export async function beginDemo({ host, imports }: Area, { site, userId, events }: DemoTraffic): Promise<[]> {
  const author = { site, userId, actor: host.audit.system, permissions: { has: () => true } }
  const input = {
    source: "plausible",
    options: {},
    files: exportedFiles(totalsBefore(host.now(), paceOf(events()))),
    uploadIds: [],
    label: "Plausible, before the move",
    previewHash: undefined,
    force: false,
  }
  const { signal } = new AbortController()
  const { previewHash } = await imports.preview(author, input, signal)
  await imports.create(author, { ...input, previewHash }, signal, async () => {})
  return []
}

/** Returns the visitors and pageviews per day of the first week of traffic. */
function paceOf(events: ReturnType<DemoTraffic["events"]>): { visitors: number; pageviews: number } {
  const visitors = new Set<string>()
  const days = new Set<number>()
  let pageviews = 0
  for (const { at, name, person } of events) {
    const day = Math.floor(at / DAY_MS)
    if (days.size === 7 && !days.has(day)) break
    days.add(day)
    visitors.add(`${day} ${person}`)
    if (name === "pageview") pageviews++
  }
  const count = Math.max(1, days.size)
  return { visitors: visitors.size / count, pageviews: pageviews / count }
}

/** Returns the totals of the days before a moment, which grow up to the pace of the traffic after it. */
function totalsBefore(end: number, { visitors, pageviews }: ReturnType<typeof paceOf>): DayTotals[] {
  return Array.from({ length: DAYS }, (_, index) => {
    const at = new Date(end - (DAYS - index) * DAY_MS)
    const part = (BEGINNING + ((1 - BEGINNING) * index) / DAYS) * WEEK[at.getUTCDay()]!
    const people = Math.max(1, Math.round(visitors * part))
    const visits = Math.round(people * VISITS_PER_VISITOR)
    return { day: at.toISOString().slice(0, 10), visitors: people, visits, pageviews: Math.max(visits, Math.round(pageviews * part)) }
  })
}

/** Returns the files of an export, named as Plausible does. */
function exportedFiles(days: readonly DayTotals[]): { name: string; content: Uint8Array }[] {
  const range = [days[0]!, days.at(-1)!].map(({ day }) => day.replaceAll("-", "")).join("_")
  return Object.entries(TABLES).map(([name, { split, counts }]) => {
    const lines = days.flatMap((day) => rowsOf(day, split, counts))
    const header = ["date", ...split.columns, ...counts].join(",")
    return { name: `imported_${name}_${range}.csv`, content: new TextEncoder().encode(`${[header, ...lines].join("\n")}\n`) }
  })
}

function rowsOf(day: DayTotals, { values }: Split, counts: readonly Count[]): string[] {
  const shares = values.map(([share]) => share)
  const columns = counts.map((count) => divided(totalOf(day, count), shares))
  return values.flatMap(([, ...texts], row) => {
    const numbers = columns.map((column) => column[row]!)
    return numbers.every((number) => number === 0) ? [] : [[day.day, ...texts, ...numbers].join(",")]
  })
}

function totalOf({ visitors, visits, pageviews }: DayTotals, count: Count): number {
  switch (count) {
    case "visitors":
      return visitors
    case "pageviews":
      return pageviews
    case "bounces":
      return Math.round(visits * BOUNCED)
    case "visit_duration":
      return visits * SECONDS_PER_VISIT
    default:
      return visits
  }
}

/** Divides a number by shares into whole numbers that add up to it. */
function divided(total: number, shares: readonly number[]): number[] {
  const whole = shares.reduce((sum, share) => sum + share, 0)
  let before = 0
  let sum = 0
  return shares.map((share) => {
    sum += share
    const upTo = Math.round((total * sum) / whole)
    const part = upTo - before
    before = upTo
    return part
  })
}
