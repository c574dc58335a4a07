import { ENGAGEMENT, FIXED_NAMES, PAGEVIEW, VITALS } from "../../domain/dimension.ts"
import type { PathAnchor, PathNode, PathsQuery, PathsResult } from "../../domain/query.ts"
import { compareCodePoints } from "../../domain/text.ts"
import type { Dictionary, Part, Snapshot } from "../../store/events/part.ts"
import { compileFilter, type Mask } from "../filter/filters.ts"
import { orderedPart } from "../measure/ordered-part.ts"

/**
 * The pages that visits really took from a chosen item on, or up to one (metrics.md section 13). The items with most visits
 * are known only when all visits have been counted, so the parts are walked twice: the first time counts the items of each
 * column, the second one the ways between those that are shown. What is kept meanwhile does not grow with the visits.
 */
export function paths(snapshot: Snapshot, query: PathsQuery, check: () => void): PathsResult {
  const items = pathItems(snapshot, query)
  const walk = walker(snapshot, query, items, check)
  const counts = countColumns(walk, items, query)
  const columns = counts.columns.map((column, at) => shownNodes(column, items, at === 0 ? 1 : query.top))
  const edges = countEdges(walk, items, query, columns)
  return { visits: counts.visits, columns: columns.map((nodes) => nodes.map(({ item: _, ...node }) => node)), ...edges }
}

/** What a path has behind its end: nothing comes after it, or before. */
const END = -1

/** Told of each visit with the anchor: its items from the anchor on (backwards from it, when it is the end), END behind the last one. */
type Take = (path: Int32Array) => void
type Walk = (take: Take) => void

function walker(snapshot: Snapshot, query: PathsQuery, items: PathItems, check: () => void): Walk {
  const parts = snapshot.parts.filter(
    ({ visits, maxStart, minStart }) => visits > 0 && maxStart >= query.range.from && minStart < query.range.to,
  )
  const filter = compileFilter(snapshot, query.filter, query.site)
  const path = new Int32Array(query.steps)
  return (take) => {
    if (items.anchor === undefined) return
    for (const unordered of parts) {
      check()
      const part = orderedPart(unordered)
      walkPart(part, filter.visits(part), items, query, path, take)
    }
  }
}

function walkPart(part: Part, mask: Mask, items: PathItems, { range, mode }: PathsQuery, path: Int32Array, take: Take): void {
  const [visit, name, page, starts] = [part.event("visit"), part.event("name"), part.event("page"), part.starts()]
  let seen: Int32Array = new Int32Array(64)
  let length = 0
  let current = -1
  const finish = () => {
    if (length > 0 && followed(seen, length, items.anchor!, mode, path)) take(path)
    length = 0
  }
  for (let row = 0; row < part.events; row++) {
    const its = visit[row]!
    if (its !== current) {
      finish()
      current = its
    }
    if ((mask !== "all" && mask[its] === 0) || starts[its]! < range.from || starts[its]! >= range.to) continue
    const item = itemOf(name[row]!, page[row]!, items)
    // Equal neighbours are one.
    if (item === END || (length > 0 && seen[length - 1] === item)) continue
    if (length === seen.length) seen = grown(seen)
    seen[length++] = item
  }
  finish()
}

function itemOf(name: number, page: number, { ofPage, ofName }: PathItems): number {
  if (name === PAGEVIEW) return ofPage[page]!
  return name === ENGAGEMENT || name === VITALS || ofName === undefined ? END : ofName[name]!
}

const grown = (numbers: Int32Array): Int32Array => {
  const larger = new Int32Array(numbers.length * 2)
  larger.set(numbers)
  return larger
}

/** Writes the path that begins at the first anchor, or that ends at the last one; false for a visit without it. */
function followed(seen: Int32Array, length: number, anchor: number, mode: PathsQuery["mode"], path: Int32Array): boolean {
  const first = mode === "start" ? firstPlace(seen, length, anchor) : lastPlace(seen, length, anchor)
  if (first < 0) return false
  const step = mode === "start" ? 1 : -1
  for (let column = 0; column < path.length; column++) {
    const at = first + step * column
    path[column] = at >= 0 && at < length ? seen[at]! : END
  }
  return true
}

function firstPlace(seen: Int32Array, length: number, anchor: number): number {
  for (let at = 0; at < length; at++) if (seen[at] === anchor) return at
  return -1
}

function lastPlace(seen: Int32Array, length: number, anchor: number): number {
  for (let at = length - 1; at >= 0; at--) if (seen[at] === anchor) return at
  return -1
}

/** How many columns of a path are counted: those up to and with the first one whose pinned item it did not take. */
function countedColumns(path: Int32Array, pins: PathItems["pins"]): number {
  for (const { column, item } of pins) if (path[column] !== item) return column + 1
  return path.length
}

function countColumns(walk: Walk, { pins }: PathItems, { steps }: PathsQuery) {
  const columns = Array.from({ length: steps }, () => new Map<number, number>())
  let visits = 0
  walk((path) => {
    visits++
    const end = countedColumns(path, pins)
    for (let column = 0; column < end; column++) {
      const item = path[column]!
      columns[column]!.set(item, (columns[column]!.get(item) ?? 0) + 1)
      if (item === END) break
    }
  })
  return { visits, columns }
}

interface Node extends PathNode {
  /** Undefined of those that stand for several. */
  item?: number
}

/** The items with most visits, ties by their text; then all others as one, and those who went no further. */
function shownNodes(counts: ReadonlyMap<number, number>, items: PathItems, top: number): Node[] {
  const all = [...counts].filter(([item]) => item !== END).map(([item, visits]) => ({ ...items.shown(item), visits, item }))
  all.sort((a, b) => b.visits - a.visits || compareCodePoints(a.value, b.value) || compareCodePoints(a.kind, b.kind))
  const others = all.slice(top).reduce((sum, { visits }) => sum + visits, 0)
  const ended = counts.get(END) ?? 0
  return [
    ...all.slice(0, top),
    ...(others > 0 ? [{ kind: "other" as const, value: "", visits: others }] : []),
    ...(ended > 0 ? [{ kind: "end" as const, value: "", visits: ended, item: END }] : []),
  ]
}

/** Visits from each shown node to each of the next column. Who ends at a node is in `ended`, by column and node. */
function countEdges(
  walk: Walk,
  { pins }: PathItems,
  { steps }: PathsQuery,
  columns: readonly Node[][],
): Pick<PathsResult, "edges" | "ended"> {
  const places = columns.map((nodes) => new Map(nodes.map(({ item }, place) => [item, place])))
  const placeOf = (column: number, item: number): number => places[column]!.get(item) ?? places[column]!.get(undefined)!
  const counts = columns.slice(1).map((nodes, column) => columns[column]!.map(() => new Float64Array(nodes.length)))
  walk((path) => {
    const end = Math.min(countedColumns(path, pins), steps)
    for (let column = 1; column < end; column++) {
      counts[column - 1]![placeOf(column - 1, path[column - 1]!)]![placeOf(column, path[column]!)]!++
      if (path[column] === END) break
    }
  })
  const isEnd = (column: number, place: number) => columns[column]![place]!.kind === "end"
  const all = counts.flatMap((from, column) =>
    from.flatMap((to, place) =>
      Array.from(to, (visits, next) => ({ column, from: place, to: next, visits })).filter(({ visits }) => visits > 0),
    ),
  )
  const ended = counts.map((from, column) =>
    from.map((to) => to.reduce((sum, visits, next) => (isEnd(column + 1, next) ? sum + visits : sum), 0)),
  )
  return { edges: all.filter(({ column, to }) => !isEnd(column + 1, to)), ended }
}

/** What journeys are made of: numbers of pages, or of groups of them, and above these numbers of event names. */
export interface PathItems {
  /** By number of the page. */
  ofPage: Int32Array
  /** By number of the event name; undefined when events are no items. */
  ofName: Int32Array | undefined
  /** Undefined when no event of the site ever was it. */
  anchor: number | undefined
  /** By column ascending. An item the site never had is one that no path takes. */
  pins: readonly { column: number; item: number }[]
  shown(item: number): Pick<PathNode, "kind" | "value">
}

const NOBODY = -2

export function pathItems(snapshot: Snapshot, { anchor, pins, group, collapseQuery, withEvents }: PathsQuery): PathItems {
  const [pages, names] = [snapshot.dictionary("page"), snapshot.dictionary("name")]
  const shownPage = pageShower(group, collapseQuery)
  const grouped = groupedPages(pages, shownPage)
  const ofName = withEvents ? Int32Array.from({ length: names.size }, (_, id) => grouped.values.length + id) : undefined
  const numberOf = ({ kind, value }: PathAnchor): number | undefined => {
    if (kind === "page") return grouped.numbers.get(shownPage(value))
    const id = names.find(value)
    return id === undefined || id < FIXED_NAMES.length ? undefined : ofName?.[id]
  }
  return {
    ofPage: grouped.ofPage,
    ofName,
    anchor: numberOf(anchor),
    pins: pins.map(({ column, ...pin }) => ({ column, item: numberOf(pin) ?? NOBODY })).sort((a, b) => a.column - b.column),
    shown: (item) =>
      item < grouped.values.length
        ? { kind: "page", value: grouped.values[item]! }
        : { kind: "event", value: names.text(item - grouped.values.length) },
  }
}

/** How a page is called. A directory is what stands before the second slash: `/blog/*` for all below it. */
function pageShower(group: PathsQuery["group"], collapseQuery: boolean): (page: string) => string {
  const plain = (page: string) => (collapseQuery ? page.split("?", 1)[0]! : page)
  if (group === "page") return plain
  return (page) => {
    const [, directory] = /^(\/[^/?#]*)\//.exec(plain(page)) ?? []
    return directory === undefined ? plain(page) : `${directory}/*`
  }
}

/** Pages of one name are one item. */
function groupedPages(pages: Dictionary, shownPage: (page: string) => string) {
  const numbers = new Map<string, number>()
  const values: string[] = []
  const ofPage = Int32Array.from({ length: Math.max(1, pages.size) }, (_, id) => {
    const value = shownPage(pages.text(id))
    const known = numbers.get(value)
    if (known !== undefined) return known
    numbers.set(value, values.length)
    values.push(value)
    return values.length - 1
  })
  return { ofPage, numbers, values }
}
