import { expect, test } from "bun:test"
import fc from "fast-check"
import type { PathAnchor, PathNode, PathsQuery, PathsResult } from "../../../src/domain/query.ts"
import { paths } from "../../../src/query/paths/paths.ts"
import type { VisitRow } from "../../../src/query/rows/rows.ts"
import { bySize, SEED } from "../../size.ts"
import { rowBatches } from "../engine/row-batches.ts"
import { openTraffic, SITE } from "../traffic.ts"

const START = Date.parse("2026-11-21T10:00:00Z")
const second = (seconds: number) => START + seconds * 1_000
const neverStop = () => {}

const PAGES = ["/", "/a", "/a?x=1", "/blog/one", "/blog/two", "/blog/", "/b/c/d"]
const anyEvent = fc.record({
  wait: fc.integer({ min: 0, max: 2 }),
  page: fc.constantFrom(...PAGES),
  name: fc.constantFrom("pageview", "pageview", "pageview", "S", "T", "engagement"),
})
const anyVisit = fc.record({
  visitor: fc.integer({ min: 0, max: 5 }),
  start: fc.integer({ min: 0, max: 60 }),
  country: fc.constantFrom("DE", "FR"),
  events: fc.array(anyEvent, { minLength: 1, maxLength: 8 }),
})
const anyItem = fc.oneof(
  fc.constantFrom(...PAGES, "/never", "/blog/*").map((value) => ({ kind: "page" as const, value })),
  fc.constantFrom("S", "T", "pageview", "never").map((value) => ({ kind: "event" as const, value })),
)
const anyQuery = fc.record({
  mode: fc.constantFrom("start" as const, "end" as const),
  anchor: anyItem,
  steps: fc.integer({ min: 2, max: 6 }),
  top: fc.integer({ min: 1, max: 4 }),
  pin: fc.option(fc.tuple(fc.integer({ min: 1, max: 5 }), anyItem), { nil: undefined }),
  group: fc.constantFrom("page" as const, "directory" as const),
  collapseQuery: fc.boolean(),
  withEvents: fc.boolean(),
  from: fc.integer({ min: 0, max: 8 }),
  to: fc.integer({ min: 40, max: 80 }),
  onlyGerman: fc.boolean(),
})
type RandomVisit = typeof anyVisit extends fc.Arbitrary<infer Value> ? Value : never
type RandomQuery = typeof anyQuery extends fc.Arbitrary<infer Value> ? Value : never

const RUNS = bySize({ check: 40, full: 120, release: 5_000 })

test("agrees with journeys computed by following every visit", async () => {
  let found = 0
  const agree = fc.asyncProperty(
    fc.array(anyVisit, { minLength: 1, maxLength: 40 }),
    fc.nat(30),
    fc.array(anyQuery, { minLength: 8, maxLength: 8 }),
    async (visits, sealed, queries) => {
      using traffic = openTraffic(START)
      for (const visit of visits.slice(0, sealed)) record(traffic, visit)
      await traffic.seal()
      for (const visit of visits.slice(sealed)) record(traffic, visit)
      const snapshot = traffic.snapshot()
      const all = [...rowBatches(snapshot, { site: SITE, range: { from: 0, to: second(1_000) } })].flat()
      for (const one of queries) {
        const query = toQuery(one)
        const answer = paths(snapshot, query, neverStop)
        found += answer.visits
        expect(answer, JSON.stringify(one)).toEqual(slowPaths(all, query, one.onlyGerman))
        columnsAddUp(answer)
      }
    },
  )
  await fc.assert(agree, { seed: SEED, numRuns: RUNS })
  // The queries must find something, otherwise the comparison proves nothing.
  expect(found).toBeGreaterThan(RUNS * 3)
})

function record(traffic: ReturnType<typeof openTraffic>, { visitor, start, country, events }: RandomVisit) {
  let at = second(start)
  const timed = events.map(({ wait, name, page }, i) => {
    at += wait * 1_000
    // Engagement does not open a visit.
    const own = i === 0 && name === "engagement" ? "pageview" : name
    return { name: own, page, at, ...(own === "engagement" && { engagement: { engagedMs: 100 } }) }
  })
  traffic.visit({ visitor, traits: { country }, events: timed })
}

const toQuery = ({ from, to, pin, onlyGerman, ...rest }: RandomQuery): PathsQuery => ({
  ...rest,
  site: SITE,
  range: { from: second(from), to: second(to) },
  pins: pin && pin[0] < rest.steps ? [{ column: pin[0], ...pin[1] }] : [],
  ...(onlyGerman && { filter: { op: "is", dimension: "country", values: ["DE"], missing: false, caseSensitive: true } }),
})

/** Checks that each column, including `(other)` and ended visits, adds up to the visits that reached the previous column. */
function columnsAddUp({ columns, edges, ended }: PathsResult) {
  for (const [column, nodes] of columns.entries()) {
    if (column === 0) continue
    const into = edges.filter((edge) => edge.column === column - 1).reduce((sum, { visits }) => sum + visits, 0)
    const over = ended[column - 1]!.reduce((sum, visits) => sum + visits, 0)
    expect(nodes.reduce((sum, { visits }) => sum + visits, 0)).toBe(into + over)
  }
}

const nameOf = ({ kind, value }: PathAnchor) => `${kind} ${value}`

/** Computes journeys as metrics.md section 13 defines them, visit by visit and with strings. */
function slowPaths(all: readonly VisitRow[], query: PathsQuery, onlyGerman: boolean): PathsResult {
  const { mode, steps, top, range } = query
  const shown = (page: string) => {
    const plain = query.collapseQuery ? page.replace(/\?.*/, "") : page
    const parts = plain.split("/")
    return query.group === "directory" && parts.length > 2 ? `/${parts[1]}/*` : plain
  }
  const itemName = (item: PathAnchor) => nameOf(item.kind === "page" ? { kind: "page", value: shown(item.value) } : item)
  const taken: string[][] = []
  for (const visit of all) {
    if (visit.started_at < range.from || visit.started_at >= range.to || (onlyGerman && visit.country !== "DE")) continue
    const items = visit.events.flatMap(({ name, page }) => {
      if (name === "pageview") return [`page ${shown(page)}`]
      return query.withEvents && name !== "engagement" ? [`event ${name}`] : []
    })
    const merged = items.filter((item, i) => item !== items[i - 1])
    // A pageview is not a custom event, so no event item has this name.
    const anchor =
      query.anchor.kind === "event" && (!query.withEvents || query.anchor.value === "pageview") ? "nothing" : itemName(query.anchor)
    const path =
      mode === "start" ? merged.slice(indexOr(merged.indexOf(anchor))) : merged.slice(0, merged.lastIndexOf(anchor) + 1).reverse()
    if (path.length > 0 && path[0] === anchor) taken.push(path)
  }
  // A visit is in a column if it took the pinned items of the previous columns.
  const reaches = (path: string[], column: number) =>
    column <= path.length && query.pins.every((pin) => pin.column >= column || path[pin.column] === itemName(pin))
  const columns = Array.from({ length: steps }, (_, column) => {
    const counts = new Map<string, number>()
    for (const path of taken) if (reaches(path, column)) counts.set(path[column] ?? "end", (counts.get(path[column] ?? "end") ?? 0) + 1)
    const pages = [...counts].filter(([item]) => item !== "end")
    pages.sort(([a, x], [b, y]) => y - x || compare(textOf(a), textOf(b)) || compare(a, b))
    const most = column === 0 ? 1 : top
    const rest = pages.slice(most).reduce((sum, [, visits]) => sum + visits, 0)
    return [
      ...pages.slice(0, most).map(([item, visits]) => ({ kind: item.split(" ")[0] as PathNode["kind"], value: textOf(item), visits })),
      ...(rest > 0 ? [{ kind: "other" as const, value: "", visits: rest }] : []),
      ...(counts.has("end") ? [{ kind: "end" as const, value: "", visits: counts.get("end")! }] : []),
    ]
  })
  const placeOf = (column: number, item: string | undefined) => {
    const nodes = columns[column]!
    if (item === undefined) return nodes.findIndex(({ kind }) => kind === "end")
    const place = nodes.findIndex(
      (node) => node.kind !== "end" && node.kind !== "other" && nameOf({ kind: node.kind, value: node.value }) === item,
    )
    return place >= 0 ? place : nodes.findIndex(({ kind }) => kind === "other")
  }
  const edges: PathsResult["edges"] = []
  const ended = columns.slice(0, -1).map((nodes) => nodes.map(() => 0))
  for (let column = 0; column + 1 < steps; column++) {
    for (const path of taken) {
      if (!reaches(path, column + 1)) continue
      const from = placeOf(column, path[column])
      if (path[column + 1] === undefined) {
        ended[column]![from]!++
        continue
      }
      const to = placeOf(column + 1, path[column + 1])
      const known = edges.find((edge) => edge.column === column && edge.from === from && edge.to === to)
      if (known) known.visits++
      else edges.push({ column, from, to, visits: 1 })
    }
  }
  edges.sort((a, b) => a.column - b.column || a.from - b.from || a.to - b.to)
  return { visits: taken.length, columns, edges, ended }
}

const indexOr = (index: number) => (index < 0 ? Number.POSITIVE_INFINITY : index)
const textOf = (item: string) => item.slice(item.indexOf(" ") + 1)
const compare = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0)
