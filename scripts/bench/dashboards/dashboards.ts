/**
 * Saved dashboards over HTTP: all data of 30 different widgets over 28 days of a million events, next to the sum of the widgets asked one
 * by one in the same run, and 30 equal widgets next to one. What a request costs without a query, measured by a widget of text, is
 * subtracted from each part of the sum.
 */
import { FROM_SOURCE, prepareUser, serveFootfall, USER } from "../../instance.ts"
import { fillDataDir } from "../server/memory.ts"
import type { DataOptions } from "../stores/data.ts"
import { count, ms, table, times } from "../table.ts"
import { timed } from "../timing.ts"

interface Tile {
  type: string
  config: object
}

const metrics = ["visitors", "visits", "pageviews", "events", "views_per_visit", "bounce_rate", "visit_duration", "engaged_time"]
const dimensions = ["page", "entry_page", "exit_page", "source", "referrer", "channel", "utm_source", "utm_campaign"]
const devices = ["country", "city", "device", "browser", "os", "language"]
const page = (path: string) => [{ dimension: "page", operator: "starts_with", values: [path] }]

export const TILES: readonly Tile[] = [
  ...metrics.map((metric) => ({ type: "metric", config: { metric, compare: "previous_period" } })),
  ...["day", "hour"].map((interval) => ({ type: "timeseries", config: { metrics: ["visitors", "pageviews"], interval } })),
  ...[...dimensions, ...devices].map((dimension) => ({ type: "breakdown", config: { dimension, metrics: ["visitors", "pageviews"] } })),
  { type: "map", config: { metric: "visits", level: "country" } },
  { type: "map", config: { metric: "visitors", level: "region" } },
  { type: "goals", config: {} },
  { type: "funnel", config: { steps: [1, 2].map((step) => ({ type: "page", match: "prefix", value: step === 1 ? "/" : "/p" })) } },
  { type: "comparison", config: { metric: "visitors", rows: ["/", "/p"].map((path) => ({ label: path, filters: page(path) })) } },
  { type: "realtime", config: {} },
]

export async function measureDashboards(options: DataOptions): Promise<void> {
  await using filled = await fillDataDir(FROM_SOURCE, options, prepareUser)
  await using server = await serveFootfall({ dataDir: filled.dataDir, flags: ["--private-rate", "100000"] })
  const ask = await member(server.address, filled.site.siteId)
  await ask("POST", "/goals", { kind: "page", match: "prefix", value: "/p", name: "Read" })
  const board = async (tiles: readonly Tile[]) => {
    const widgets = tiles.map((tile, i) => ({ ...tile, x: 0, y: i * 2, w: 4, h: 2 }))
    const { id, widgets: stored } = await ask("POST", "/dashboards", { name: "Bench", range: { period: "28d" }, widgets })
    return { path: `/dashboards/${id}/data`, ids: (stored as { id: number }[]).map((widget) => widget.id) }
  }
  const all = await board(TILES)
  const equal = await board(new Array(30).fill(TILES[10]))
  const plain = await board([{ type: "text", config: { markdown: "Nothing to compute" } }])

  const whole = async (path: string) => (await timed(() => ask("POST", path, {}))).median
  await ask("POST", all.path, {})
  const overhead = await whole(plain.path)
  let sum = 0
  for (const id of all.ids) sum += (await timed(() => ask("POST", all.path, { widgets: [id] }), { runs: 7 })).median - overhead
  const one = (await timed(() => ask("POST", equal.path, { widgets: [equal.ids[0]] }))).median
  const [different, same] = [await whole(all.path), await whole(equal.path)]

  console.log(`\n### Saved dashboards, ${count(options.events)} events in ${options.days} days\n`)
  const rows = [
    [
      "30 different widgets",
      ms(different),
      `${times(different / (sum + overhead))} the sum of the widgets alone (${ms(sum + overhead)} ms)`,
      "400 ms, 1.3×",
    ],
    ["30 equal widgets", ms(same), `${times(same / one)} one of them (${ms(one)} ms)`, "1.2×"],
  ]
  console.log(table(["Dashboard", "Median ms", "Compared", "Bar"], rows))
}

/** Signs in and returns a function that calls routes of the site. Rejects answers that are no success. */
export async function member(address: string, siteId: number) {
  const json = { "content-type": "application/json" }
  const login = await fetch(`${address}/api/private/auth/login`, { method: "POST", headers: json, body: JSON.stringify(USER) })
  const cookie = login.headers
    .getSetCookie()
    .map((line) => line.split(";")[0])
    .join("; ")
  return async (method: string, path: string, body: object): Promise<Record<string, unknown>> => {
    const url = `${address}/api/private/sites/${siteId}${path}`
    const answer = await fetch(url, { method, headers: { ...json, cookie }, body: JSON.stringify(body) })
    const text = await answer.text()
    if (!answer.ok) throw new Error(`${method} ${path} was answered with ${answer.status}: ${text}`)
    const parsed = JSON.parse(text) as Record<string, unknown>
    const failed = Object.values((parsed.results ?? {}) as Record<string, { status: string }>).find(({ status }) => status !== "ok")
    if (failed) throw new Error(`A widget failed: ${JSON.stringify(failed)}`)
    return parsed
  }
}
