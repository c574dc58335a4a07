import { ENGAGEMENT, FIXED_NAMES, PAGEVIEW, VITALS } from "../../domain/dimension.ts"
import type { PathAnchor, PathNode, PathsQuery, PathsResult } from "../../domain/query.ts"
import { compareCodePoints } from "../../domain/text.ts"
import type { Dictionary, Part, Snapshot } from "../../store/events/part.ts"
import { compileFilter, type Mask } from "../filter/filters.ts"
import { orderedPart } from "../measure/ordered-part.ts"

/**
 * Counts the paths of visits that start at a chosen item, or that end at one (metrics.md section 13). The items with the most visits are
 * known only once all visits are counted, so the parts are read twice: first to count the items of each column, then to count the edges
 * between those that are shown. Memory does not grow with the number of visits.
 */
export function paths(snapshot: Snapshot, query: PathsQuery, check: () => void): PathsResult {
  const items = pathItems(snapshot, query)
  const walk = walker(snapshot, query, items, check)
  const counts = countColumns(walk, items, query)
  const columns = counts.columns.map((column, at) => topNodes(column, items, at === 0 ? 1 : query.top))
  const edges = countEdges(walk, items, query, columns)
  return { visits: counts.visits, columns: columns.map((nodes) => nodes.map(({ item: _, ...node }) => node)), ...edges }
}

/** Item that fills a path after its last item. */
const END = -1

/** Called with the path of each visit that has the anchor: its items from the anchor forwards, or backwards in mode `end`, then END. */
type OnPath = (path: Int32Array) => void
type Walk = (onPath: OnPath) => void

function walker(snapshot: Snapshot, query: PathsQuery, items: PathItems, check: () => void): Walk {
  const parts = snapshot.parts.filter(
    ({ visits, maxStart, minStart }) => visits > 0 && maxStart >= query.range.from && minStart < query.range.to,
  )
  const filter = compileFilter(snapshot, query.filter, query.site)
  const path = new Int32Array(query.steps)
  return (onPath) => {
    if (items.anchor === undefined) return
    for (const unordered of parts) {
      check()
      const part = orderedPart(unordered)
      walkPart(part, filter.visits(part), items, query, path, onPath)
    }
  }
}

function walkPart(part: Part, mask: Mask, items: PathItems, { range, mode }: PathsQuery, path: Int32Array, onPath: OnPath): void {
  const [visit, name, page, starts] = [part.event("visit"), part.event("name"), part.event("page"), part.starts()]
  let taken: Int32Array = new Int32Array(64)
  let length = 0
  let current = -1
  const finish = () => {
    if (length > 0 && writePath(taken, length, items.anchor!, mode, path)) onPath(path)
    length = 0
  }
  for (let row = 0; row < part.events; row++) {
    const visitRow = visit[row]!
    if (visitRow !== current) {
      finish()
      current = visitRow
    }
    if ((mask !== "all" && mask[visitRow] === 0) || starts[visitRow]! < range.from || starts[visitRow]! >= range.to) continue
    const item = itemOf(name[row]!, page[row]!, items)
    // Consecutive equal items count once.
    if (item === END || (length > 0 && taken[length - 1] === item)) continue
    if (length === taken.length) taken = grown(taken)
    taken[length++] = item
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

/** Writes the path that begins at the first anchor, or that ends at the last one. Returns false for a visit without the anchor. */
function writePath(taken: Int32Array, length: number, anchor: number, mode: PathsQuery["mode"], path: Int32Array): boolean {
  const first = mode === "start" ? firstIndexOf(taken, length, anchor) : lastIndexOf(taken, length, anchor)
  if (first < 0) return false
  const step = mode === "start" ? 1 : -1
  for (let column = 0; column < path.length; column++) {
    const at = first + step * column
    path[column] = at >= 0 && at < length ? taken[at]! : END
  }
  return true
}

function firstIndexOf(items: Int32Array, length: number, anchor: number): number {
  for (let at = 0; at < length; at++) if (items[at] === anchor) return at
  return -1
}

function lastIndexOf(items: Int32Array, length: number, anchor: number): number {
  for (let at = length - 1; at >= 0; at--) if (items[at] === anchor) return at
  return -1
}

/** Returns the number of columns of a path that are counted: up to and including the first whose pinned item the path did not take. */
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
  /** Undefined for a node that stands for several items. */
  item?: number
}

/** Returns the items with the most visits, ties by text, then all other items as one node, and the visits that ended before. */
function topNodes(counts: ReadonlyMap<number, number>, items: PathItems, top: number): Node[] {
  const all = [...counts].filter(([item]) => item !== END).map(([item, visits]) => ({ ...items.describe(item), visits, item }))
  all.sort((a, b) => b.visits - a.visits || compareCodePoints(a.value, b.value) || compareCodePoints(a.kind, b.kind))
  const others = all.slice(top).reduce((sum, { visits }) => sum + visits, 0)
  const ended = counts.get(END) ?? 0
  return [
    ...all.slice(0, top),
    ...(others > 0 ? [{ kind: "other" as const, value: "", visits: others }] : []),
    ...(ended > 0 ? [{ kind: "end" as const, value: "", visits: ended, item: END }] : []),
  ]
}

/** Counts the visits from each shown node to each of the next column. `ended` counts those that ended at a node, by column and node. */
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

/** The items of journeys by number: pages or groups of pages first, then event names. */
export interface PathItems {
  /** Item by dictionary number of a page. */
  ofPage: Int32Array
  /** Item by dictionary number of an event name. Undefined when events are not included. */
  ofName: Int32Array | undefined
  /** Undefined when the site never recorded the anchor. */
  anchor: number | undefined
  /** Pinned items by column, ascending. An item that the site never recorded is UNKNOWN. */
  pins: readonly { column: number; item: number }[]
  describe(item: number): Pick<PathNode, "kind" | "value">
}

/** An item that no path contains. */
const UNKNOWN = -2

export function pathItems(snapshot: Snapshot, { anchor, pins, group, collapseQuery, withEvents }: PathsQuery): PathItems {
  const [pages, names] = [snapshot.dictionary("page"), snapshot.dictionary("name")]
  const groupOf = pageGrouping(group, collapseQuery)
  const grouped = groupedPages(pages, groupOf)
  const ofName = withEvents ? Int32Array.from({ length: names.size }, (_, id) => grouped.values.length + id) : undefined
  const numberOf = ({ kind, value }: PathAnchor): number | undefined => {
    if (kind === "page") return grouped.numbers.get(groupOf(value))
    const id = names.find(value)
    return id === undefined || id < FIXED_NAMES.length ? undefined : ofName?.[id]
  }
  return {
    ofPage: grouped.ofPage,
    ofName,
    anchor: numberOf(anchor),
    pins: pins.map(({ column, ...pin }) => ({ column, item: numberOf(pin) ?? UNKNOWN })).sort((a, b) => a.column - b.column),
    describe: (item) =>
      item < grouped.values.length
        ? { kind: "page", value: grouped.values[item]! }
        : { kind: "event", value: names.text(item - grouped.values.length) },
  }
}

/** Creates the function that returns the group of a page. The group by directory is the first path segment, such as `/blog/*`. */
function pageGrouping(group: PathsQuery["group"], collapseQuery: boolean): (page: string) => string {
  const plain = (page: string) => (collapseQuery ? page.split("?", 1)[0]! : page)
  if (group === "page") return plain
  return (page) => {
    const [, directory] = /^(\/[^/?#]*)\//.exec(plain(page)) ?? []
    return directory === undefined ? plain(page) : `${directory}/*`
  }
}

/** Numbers the groups of pages. Pages of the same group are one item. */
function groupedPages(pages: Dictionary, groupOf: (page: string) => string) {
  const numbers = new Map<string, number>()
  const values: string[] = []
  const ofPage = Int32Array.from({ length: Math.max(1, pages.size) }, (_, id) => {
    const value = groupOf(pages.text(id))
    const known = numbers.get(value)
    if (known !== undefined) return known
    numbers.set(value, values.length)
    values.push(value)
    return values.length - 1
  })
  return { ofPage, numbers, values }
}
