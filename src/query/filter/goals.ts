import { FIXED_NAMES, PAGEVIEW } from "../../domain/dimension.ts"
import type { GoalRule } from "../../domain/query.ts"
import type { Items } from "../../store/events/bytes/items.ts"
import { NO_SCROLL, type Part, type Snapshot } from "../../store/events/part.ts"
import { NumberBuffer } from "./buffers.ts"
import { differs, isPageview, MaskPool, markProperty, ruleMask, type ValueMask, valueMask } from "./masks.ts"

/** Completions in a part, in the order of `rows` (event rows, ascending; twice where an event meets two goals). */
export interface Completions {
  rows: Uint32Array
  /** Index of each goal in the compiled list. */
  goals: Uint32Array
  count: number
}

export interface CompiledGoals {
  /** Returns all completions at any time: each matching event of event and page goals, and the first report that reaches a scroll goal. */
  completions(part: Part): Completions
  /** Returns only the reports that complete a scroll goal. They count as events although engagement is not counted otherwise. */
  reaches(part: Part): Completions
  /** Returns whether the items alone decide about completions: no goal asks for a property or a scroll depth. */
  areOfItems(): boolean
  /** Returns the items whose events complete a goal, if `areOfItems`. The `rows` are items. */
  ofItems(items: Items): Completions
}

/**
 * Compiles goals for the parts of one snapshot. Texts are compared with the dictionaries once, at first use. Results remain valid
 * until another part is read. Callers must not write to them.
 */
export function compileGoals(snapshot: Snapshot, goals: readonly GoalRule[]): CompiledGoals {
  let made: ReturnType<typeof compileRules> | undefined
  const rules = () => {
    made ??= compileRules(snapshot, goals)
    return made
  }
  const [buffers, itemBuffers] = [matchBuffers(), matchBuffers()]
  const masks = new MaskPool()

  const reaches = (part: Part) => merged(rules().scrolls.map((goal) => goal.reaches(part)))
  const matches = (part: Part) => {
    const { values, props } = rules()
    const all = matching({ name: part.event("name"), page: part.event("page") }, part.events, values, buffers)
    return props.every((tests) => tests.length === 0) ? all : keepWithProperties(part, all, props, masks)
  }
  let known: { part: Part; completions: Completions } | undefined
  return {
    reaches,
    areOfItems: () => rules().scrolls.length === 0 && rules().props.every((tests) => tests.length === 0),
    ofItems: ({ names, pages }) => matching({ name: names, page: pages }, names.length, rules().values, itemBuffers),
    completions(part) {
      if (known?.part !== part) known = { part, completions: merged([matches(part), ...rules().scrolls.map((goal) => goal.reaches(part))]) }
      return known.completions
    },
  }
}

function compileRules(snapshot: Snapshot, goals: readonly GoalRule[]) {
  return {
    values: goalsByValue(snapshot, goals),
    scrolls: goals.flatMap((goal, index) => (goal.kind === "scroll" ? [scrollGoal(snapshot, goal, index)] : [])),
    props: goals.map((goal) => propertyTests(snapshot, goal)),
  }
}

/**
 * Goals by the value that completes them: event names first, pages from the index `pages` on. The goals of value n are
 * `goals[starts[n]]` up to, but not including, `goals[starts[n + 1]]`.
 */
interface GoalsByValue {
  starts: Uint32Array
  goals: Uint32Array
  pages: number
}

function goalsByValue(snapshot: Snapshot, goals: readonly GoalRule[]): GoalsByValue {
  const [names, pages] = [snapshot.dictionary("name"), snapshot.dictionary("page")]
  const masks = goals.map((goal) => (goal.kind === "scroll" ? undefined : ruleMask(goal.kind === "event" ? names : pages, goal)))
  const found: number[] = []
  const starts = [0]
  const list = (kind: GoalRule["kind"], from: number, size: number) => {
    for (let id = 0; id < size; id++) {
      for (let goal = 0; goal < goals.length; goal++)
        if (id >= from && goals[goal]!.kind === kind && masks[goal]![id] === 1) found.push(goal)
      starts.push(found.length)
    }
  }
  // A pageview never completes an event goal, and engagement and vitals are not custom events.
  list("event", FIXED_NAMES.length, Math.max(FIXED_NAMES.length, names.size))
  list("page", 0, Math.max(1, pages.size))
  return { starts: Uint32Array.from(starts), goals: Uint32Array.from(found), pages: Math.max(FIXED_NAMES.length, names.size) }
}

/** Returns the keys and values that an event must have. Undefined for a key that the site never recorded: no event can match it. */
function propertyTests(snapshot: Snapshot, goal: GoalRule): ({ key: number; values: ValueMask } | undefined)[] {
  return Object.entries(goal.props ?? {}).map(([name, value]) => {
    const key = snapshot.dictionary("property").find(name)
    if (key === undefined || key === 0) return undefined
    const wanted = { op: "is", values: [value], caseSensitive: true, missing: false } as const
    return { key, values: valueMask(snapshot.dictionary(`property:${key}`), wanted) }
  })
}

const matchBuffers = () => ({ candidates: new NumberBuffer(), rows: new NumberBuffer(), goals: new NumberBuffer() })

function matching(columns: NameAndPage, length: number, values: GoalsByValue, buffers: ReturnType<typeof matchBuffers>): Completions {
  const candidates = buffers.candidates.room(length)
  const { count, total } = listCandidates(columns, length, values, candidates)
  const [rows, goals] = [buffers.rows.room(total), buffers.goals.room(total)]
  listMatches(columns, candidates.subarray(0, count), values, rows, goals)
  return { rows, goals, count: total }
}

interface NameAndPage {
  name: Uint32Array
  page: Uint32Array
}

/** Lists the events that complete a goal, and counts the completions. */
function listCandidates({ name, page }: NameAndPage, length: number, { starts, pages }: GoalsByValue, out: Uint32Array) {
  let count = 0
  let total = 0
  for (let row = 0; row < length; row++) {
    const value = name[row]! + isPageview(name[row]!) * (pages - PAGEVIEW + page[row]!)
    const goals = starts[value + 1]! - starts[value]!
    out[count] = row
    count += differs(goals, 0)
    total += goals
  }
  return { count, total }
}

function listMatches(
  { name, page }: NameAndPage,
  candidates: Uint32Array,
  values: GoalsByValue,
  rows: Uint32Array,
  goals: Uint32Array,
): void {
  const { starts, pages, goals: list } = values
  let count = 0
  for (let i = 0; i < candidates.length; i++) {
    const row = candidates[i]!
    const value = name[row]! + isPageview(name[row]!) * (pages - PAGEVIEW + page[row]!)
    const end = starts[value + 1]!
    for (let at = starts[value]!; at < end; at++) {
      rows[count] = row
      goals[count++] = list[at]!
    }
  }
}

/** Removes, in place, the completions whose event lacks a property of the goal. */
function keepWithProperties(
  part: Part,
  { rows, goals, count }: Completions,
  props: ReturnType<typeof propertyTests>[],
  pool: MaskPool,
): Completions {
  pool.reuse()
  const masks = props.map((tests) => tests.map((test) => propertyMask(part, test, pool)))
  let kept = 0
  for (let i = 0; i < count; i++) {
    const row = rows[i]!
    if (!masks[goals[i]!]!.every((mask) => mask[row] === 1)) continue
    rows[kept] = row
    goals[kept++] = goals[i]!
  }
  return { rows, goals, count: kept }
}

function propertyMask(part: Part, test: { key: number; values: ValueMask } | undefined, pool: MaskPool): Uint8Array {
  const mask = pool.take(part.events).fill(0)
  if (test) markProperty(mask, part.props(), test.key, test.values)
  return mask
}

function scrollGoal(snapshot: Snapshot, goal: GoalRule, index: number) {
  const first = firstReaches(ruleMask(snapshot.dictionary("page"), goal), goal.threshold ?? 0)
  return {
    reaches(part: Part): Completions {
      const rows = first(part)
      return { rows, goals: new Uint32Array(rows.length).fill(index), count: rows.length }
    },
  }
}

/** Merges lists that are each ascending by row. */
const merged = (lists: readonly Completions[]): Completions =>
  lists.reduce((all, list) => (list.count === 0 ? all : all.count === 0 ? list : mergedTwo(all, list)), NO_COMPLETIONS)

const NO_COMPLETIONS: Completions = { rows: new Uint32Array(0), goals: new Uint32Array(0), count: 0 }

function mergedTwo(a: Completions, b: Completions): Completions {
  const count = a.count + b.count
  const [rows, goals] = [new Uint32Array(count), new Uint32Array(count)]
  let [i, j] = [0, 0]
  for (let at = 0; at < count; at++) {
    const isFirst = j === b.count || (i < a.count && a.rows[i]! <= b.rows[j]!)
    rows[at] = isFirst ? a.rows[i]! : b.rows[j]!
    goals[at] = isFirst ? a.goals[i++]! : b.goals[j++]!
  }
  return { rows, goals, count }
}

/**
 * Returns a function that finds, part by part, the rows of the reports that are the first of their visit and page to reach the
 * threshold (metrics.md 5.1), ascending. The whole visit counts, not only the range.
 */
export function firstReaches(pages: ValueMask, threshold: number): (part: Part) => Uint32Array {
  // For each page the last visit that reached it, numbered from 1 over all parts. The events of a visit are contiguous.
  const reachedBy = new Uint32Array(pages.length)
  let before = 1
  return (part) => {
    const reports = scrollReports(part)
    const out = new Uint32Array(reports.row.length)
    const columns = { visit: part.event("visit"), page: part.event("page") }
    const count = listFirst(reports, columns, { pages, threshold }, { reachedBy, before }, out)
    before += part.visits
    const rows = out.subarray(0, count)
    return part.order() === null ? rows : rows.sort()
  }
}

interface ScrollReports {
  row: Uint32Array
  scroll: Uint32Array
}

/** Returns the engagement reports of a part ordered by visit, time and sequence. */
function scrollReports(part: Part): ScrollReports {
  const { row, scroll } = part.engagement()
  const order = part.order()
  if (order === null) return { row, scroll }
  const depths = new Uint32Array(part.events).fill(NO_SCROLL)
  for (let i = 0; i < row.length; i++) depths[row[i]!] = scroll[i]!
  const rows = order.filter((event) => depths[event] !== NO_SCROLL)
  return { row: rows, scroll: rows.map((event) => depths[event]!) }
}

function listFirst(
  { row, scroll }: ScrollReports,
  { visit, page }: { visit: Uint32Array; page: Uint32Array },
  { pages, threshold }: { pages: ValueMask; threshold: number },
  { reachedBy, before }: { reachedBy: Uint32Array; before: number },
  out: Uint32Array,
): number {
  let count = 0
  for (let i = 0; i < row.length; i++) {
    const event = row[i]!
    const on = page[event]!
    const of = visit[event]! + before
    if (scroll[i]! < threshold || scroll[i] === NO_SCROLL || pages[on] === 0 || reachedBy[on] === of) continue
    reachedBy[on] = of
    out[count++] = event
  }
  return count
}
