import { afterAll, beforeAll, expect, test } from "bun:test"
import { type Answer, bySize, startInstance, type TestInstance } from "../kit.ts"
import { SEED } from "../size.ts"
import { seededRandom } from "./random.ts"

// A share whose filters are locked must answer like a share of a site that has only the events which the filters let through. The second
// site is the oracle: its figures are computed from other data, so no other figure can appear in both.

interface Widget {
  id: number
  type: string
}
interface Board {
  id: number
  widgets: readonly Widget[]
}
interface Shared extends Pick<Board, "widgets"> {
  slug: string
}
/** A share with locked filters. */
interface Locked extends Shared {
  /** Places of the widgets that look beyond the filtered visits, or at other tables, and are never answered. */
  cannotKeep: ReadonlySet<number>
}

/** Configurations of types that need one. All other types are added without. */
const CONFIGS: Readonly<Record<string, object>> = {
  metric: { metric: "visitors" },
  timeseries: { metrics: ["visitors", "pageviews"] },
  breakdown: { dimension: "page", metrics: ["visitors", "pageviews"] },
  map: { metric: "visitors", level: "country" },
  funnel: {
    steps: [
      { type: "page", value: "/start" },
      { type: "event", value: "Order" },
    ],
  },
  comparison: {
    metric: "visitors",
    rows: [
      { label: "Start", filters: [{ dimension: "page", values: ["/start"] }] },
      { label: "Secret", filters: [{ dimension: "page", values: ["/hidden"] }] },
    ],
  },
  text: { markdown: "Hello" },
  revenue: {},
}
const MORE: readonly (readonly [string, object])[] = [
  ["breakdown", { dimension: "source", metrics: ["visitors"] }],
  ["breakdown", { dimension: "event", metrics: ["visitors", "events"] }],
  ["breakdown", { dimension: "property", property: "plan", metrics: ["visitors", "events"] }],
  ["metric", { metric: "visitors", range: { period: "all" } }],
  ["metric", { metric: "pageviews", filters: [{ dimension: "page", values: ["/hidden"] }] }],
  ["goals", { range: { period: "7d" }, compare: "previous_period" }],
]

let instance: TestInstance
let owner: { cookie: string }
/** Shares of the same visits, by different filters. */
let locks: readonly Locked[]
let oracle: Shared

beforeAll(async () => {
  instance = await startInstance({ settings: { geo_header: "cf-ipcountry", trusted_proxies: "198.51.100.0/24" } })
  owner = { cookie: await instance.signIn({ role: "owner" }) }
  const { sites } = instance.app.instance
  const twin = await sites.create(1, { name: "Twin", hosts: ["twin.example"], timezone: "Europe/Berlin", revenue_currency: "EUR" })
  for (const id of [1, twin.id]) {
    await send("PATCH", `/sites/${id}/settings`, { min_group: 1 })
    await send("POST", `/sites/${id}/goals`, { kind: "event", value: "Order" })
    await send("POST", `/sites/${id}/goals`, { kind: "page", value: "/start" })
  }
  await visit("shop.example", 0, true)
  await visit("twin.example", 0, false)
  instance.clock.advance(2 * 86_400_000)
  await visit("shop.example", 100, true)
  await visit("twin.example", 100, false)
  const board = await boardOf(1)
  const french = [{ dimension: "country", operator: "is", values: ["FR"] }]
  const segment = (await send("POST", "/sites/1/segments", { name: "French", scope: "site", filters: french })) as { id: number }
  const filters = [
    french,
    [{ dimension: "segment", values: [segment.id] }],
    [{ dimension: "country", operator: "is_not", values: ["DE", "US"] }],
    [{ dimension: "source", operator: "contains_not", values: ["hidden"] }],
  ]
  locks = await Promise.all(filters.map(async (locked_filters) => lockOf(await shareOf(1, board, { locked_filters }))))
  oracle = await shareOf(twin.id, await boardOf(twin.id))
})
afterAll(() => instance[Symbol.asyncDispose]())

const send = async (method: string, path: string, body?: object): Promise<unknown> => {
  const answer = await instance.api.send(method, `/api/private${path}`, body, undefined, owner)
  if (answer.status >= 300) throw new Error(`${method} ${path}: ${JSON.stringify(answer.body)}`)
  return answer.body
}

/** Sends three visits from France and, if `hidden`, many others that a locked filter must hide. */
async function visit(host: string, from: number, hidden: boolean): Promise<void> {
  const seen = [
    ["FR", "https://news.example/", "pro"],
    ["FR", "", "free"],
    ["FR", "https://news.example/", "free"],
  ] as const
  const others = Array.from({ length: 17 }, (_, i) => [i % 2 ? "DE" : "US", "https://hidden.example/", "hidden"] as const)
  for (const [i, [country, referrer, plan]] of [...seen, ...(hidden ? others : [])].entries()) {
    const headers = { "cf-ipcountry": country, "x-forwarded-for": `203.0.113.${from + i}` }
    const at = (n: string, path: string) => ({ n, u: `https://${host}${path}`, d: host, ...(referrer && { r: referrer }), p: { plan } })
    const own = country === "FR" ? "/start" : "/hidden"
    for (const event of [at("pageview", own), at("pageview", "/"), at(country === "FR" ? "Order" : "Hidden", own)])
      await instance.collect(event, { headers })
    if (country !== "FR") await instance.collect(at("Order", "/start"), { headers })
  }
}

async function boardOf(siteId: number): Promise<Board> {
  const { data } = (await send("GET", `/dashboard-widgets?site=${siteId}`)) as { data: { type: string; available: boolean }[] }
  const types: [string, object][] = data.filter(({ available }) => available).map(({ type }) => [type, CONFIGS[type] ?? {}])
  const widgets = [...types, ...MORE].map(([type, config], i) => ({ type, config, x: (i % 2) * 6, y: Math.floor(i / 2) * 6, w: 6, h: 6 }))
  return (await send("POST", `/sites/${siteId}/dashboards`, { name: "Board", range: { period: "7d" }, widgets })) as Board
}
async function shareOf(siteId: number, { id, widgets }: Board, fields: object = {}): Promise<Shared> {
  const share = { name: "Share", allow_export: true, ...fields }
  const { slug } = (await send("POST", `/sites/${siteId}/dashboards/${id}/shares`, share)) as { slug: string }
  return { slug, widgets }
}
async function lockOf(share: Shared): Promise<Locked> {
  const { results } = figuresOf(await ask(share.slug, "{}"), share)
  return { ...share, cannotKeep: new Set(results.flatMap((result, i) => (result?.status === "unavailable" ? [i] : []))) }
}

const ask = (slug: string, text: string): Promise<Answer> =>
  inTime(() => instance.api.post(`/api/share/d/${slug}/data`, text, undefined, { "content-type": "application/json" }))

/** Asks again for a widget that took too long, which on a busy machine any may: it shows no figure that could be compared. */
async function inTime(question: () => Promise<Answer>): Promise<Answer> {
  const answer = await question()
  return JSON.stringify(answer.body).includes("query_timeout") ? inTime(question) : answer
}

interface Result {
  status: string
}
/** Returns what an answer says, in the order of the widgets, without what differs by request. */
function figuresOf({ status, body }: Answer, { widgets }: Shared): { status: number; code?: string; results: (Result | undefined)[] } {
  const { results = {}, code } = body as { results?: Record<string, Result>; code?: string }
  return { status, ...(code !== undefined && { code }), results: widgets.map(({ id }) => results[id]) }
}

function compare(request: string, locked: Locked, mine: Answer, theirs: Answer): void {
  const [found, expected] = [figuresOf(mine, locked), figuresOf(theirs, oracle)]
  expect({ request, text: JSON.stringify(mine.body).includes("idden") }).toEqual({ request, text: false })
  const { results } = found
  const known = expected.results.map((result, i) => (result && locked.cannotKeep.has(i) ? { status: "unavailable" } : result))
  expect({ request, ...found, results }).toEqual({ request, ...expected, results: known })
}

test("every registered widget keeps a locked filter, or is unavailable", async () => {
  const theirs = figuresOf(await ask(oracle.slug, "{}"), oracle).results
  for (const locked of locks) {
    const { cannotKeep, widgets } = locked
    const unavailable = [...cannotKeep].map((i) => widgets[i]!.type)
    for (const type of ["metric", "timeseries", "breakdown", "map", "goals", "funnel", "realtime", "comparison", "annotations", "text"])
      expect(unavailable).not.toContain(type)
    for (const type of ["retention", "power_users", "links_top", "pixel_opens", "search_queries"])
      if (widgets.some((widget) => widget.type === type)) expect(unavailable).toContain(type)
    const mine = figuresOf(await ask(locked.slug, "{}"), locked).results
    expect(mine.filter((_, i) => !cannotKeep.has(i))).toEqual(theirs.filter((_, i) => !cannotKeep.has(i)))
  }
})

const { chance, pick, whole } = seededRandom(SEED)
/** Returns a whole number from 0 to below a limit. */
const upTo = (limit: number): number => whole(0, limit - 1)
const DIMENSIONS =
  "page source country event property city goal segment cohort hostname entry_page channel region __proto__ visit:country".split(" ")
const OPERATORS = ["is", "is_not", "contains", "contains_not", "starts_with", "matches_wildcard", "matches_wildcard_not", "regex", "or"]
const VALUES: readonly unknown[] = [
  "FR",
  "DE",
  "US",
  "/start",
  "/hidden",
  "/",
  "*",
  "hidden*",
  "Order",
  "Hidden",
  "pro",
  "",
  1,
  99,
  null,
  "(none)",
  "news.example",
]
const PERIODS = ["today", "7d", "28d", "all", "12mo", "yesterday", "century", "24h"]

const filter = (): unknown =>
  pick<() => unknown>([
    () => ({ dimension: pick(DIMENSIONS), values: [pick(VALUES)] }),
    () => ({ dimension: pick(DIMENSIONS), operator: pick(OPERATORS), values: Array.from({ length: upTo(4) }, () => pick(VALUES)) }),
    () => ({ dimension: "property", property: pick(["plan", "hidden", ""]), values: [pick(VALUES)] }),
    () => ({ or: [filter(), filter()] }),
    () => ({ dimension: "country", values: ["DE"], filters: [filter()] }),
    () => [pick(OPERATORS), pick(DIMENSIONS), [pick(VALUES)]],
    () => pick(VALUES),
  ])()

const FIELDS: Readonly<Record<string, () => unknown>> = {
  range: () =>
    pick([{ period: pick(PERIODS) }, { from: "2026-11-01", to: "2026-11-30" }, { period: "7d", compare: "previous_period" }, pick(VALUES)]),
  compare: () => pick(["none", "previous_period", "previous_year", { from: "2026-11-01", to: "2026-11-20" }, pick(VALUES)]),
  filters: () => pick([Array.from({ length: upTo(3) }, filter), filter(), [], null]),
  site: () => pick([0, 0, 1, -1, "0", 2, null]),
  config: () => ({ dimension: "country", filters: [] }),
  locked_filters: () => [],
  source_site_id: () => pick([1, 2, 99]),
  segment_id: () => 1,
  cohort_id: () => 1,
  goal_id: () => 1,
  share: () => ({ lockedFilters: [] }),
  min_group: () => 1,
  __proto__: () => ({ locked_filters: [] }),
}

/** Returns the members of a body as text, so that names can be repeated. */
function members(widgets: (i: number) => unknown): string[] {
  const usual = ["range", "compare", "filters", "site"]
  const names = chance(0.75) ? usual : Object.keys(FIELDS)
  const chosen = Array.from({ length: upTo(4) }, () => pick(names))
  const parts = chosen.map((name) => `${JSON.stringify(name)}:${JSON.stringify(FIELDS[name]!()) ?? "null"}`)
  if (chance(0.7))
    parts.push(`"widgets":${JSON.stringify(Array.from({ length: 1 + upTo(3) }, () => widgets(upTo(oracle.widgets.length))))}`)
  return parts
}

test("no body makes a share with locked filters show another figure", async () => {
  for (let i = 0; i < bySize({ check: 80, full: 10_000, release: 20_000 }); i++) {
    // The same body for both shares: ids of widgets are placeholders.
    const text = `{${members((index) => `#${index}`).join(",")}}`
    const bodyFor = ({ widgets }: Shared) => text.replace(/"#(\d+)"/g, (_, index) => String(widgets[Number(index)]?.id ?? 999_999))
    const locked = pick(locks)
    compare(text, locked, await ask(locked.slug, bodyFor(locked)), await ask(oracle.slug, bodyFor(oracle)))
  }
}, 3_600_000)

test("no query string makes an export of such a share show another figure", async () => {
  const csv = async ({ slug, widgets }: Shared, index: number, query: string): Promise<Answer> =>
    inTime(() => instance.api.get(`/api/share/d/${slug}/widgets/${widgets[index]?.id ?? 999_999}.csv${query}`))
  const say = ({ status, body }: Answer) => [status, (body as { code?: string })?.code ?? String(body)]
  for (let i = 0; i < bySize({ check: 40, full: 3_000, release: 6_000 }); i++) {
    const parts = ["range", "compare", "filters", "site", "widgets", "config"].filter(() => chance(0.35))
    const query = parts.map((name) => `${name}=${encodeURIComponent(text(FIELDS[name]?.() ?? 1))}`)
    if (chance(0.1)) query.push(...query)
    const locked = pick(locks)
    const index = upTo(locked.widgets.length + 1)
    const asked = query.length > 0 ? `?${query.join("&")}` : ""
    const [mine, theirs] = [await csv(locked, index, asked), await csv(oracle, index, asked)]
    expect(String(mine.body)).not.toContain("idden")
    if (locked.cannotKeep.has(index)) expect(mine.status).not.toBe(200)
    else expect([index, asked, ...say(mine)]).toEqual([index, asked, ...say(theirs)])
  }
}, 3_600_000)

const text = (value: unknown): string => (typeof value === "string" ? value : JSON.stringify(value))
