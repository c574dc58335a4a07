import { ENGAGEMENT, PAGEVIEW, VITALS } from "../domain/dimension.ts"
import type { GoalRule } from "../domain/query.ts"
import type { Part, Snapshot } from "../store/events/part.ts"
import { NumberBuffer } from "./buffer.ts"
import { MaskPool, markProperty } from "./masks.ts"
import { firstReaches, scrollReports } from "./scroll.ts"
import { ruleMask, type ValueMask, valueMask } from "./value-mask.ts"

/** Completions in a part, in the order of `rows` (event rows, ascending; twice where an event meets two goals). */
export interface Completions {
  rows: Uint32Array
  /** Positions in the list of goals that was compiled. */
  goals: Uint32Array
  count: number
}

export interface CompiledGoals {
  /** All completions at any time: of event and page goals each matching event, of scroll goals the first report that reaches. */
  completions(part: Part): Completions
  /** Only the reports that complete a scroll goal: the rows that count as events though they are none. */
  reaches(part: Part): Completions
}

/**
 * Makes goals ready for the parts of one snapshot: their texts are compared with the dictionaries here, once. What is
 * returned is good until another part is asked about; never write into it.
 */
export function compileGoals(snapshot: Snapshot, goals: readonly GoalRule[]): CompiledGoals {
  const events = goalsByValue(snapshot, goals, "event")
  const pages = goalsByValue(snapshot, goals, "page")
  const scrolls = goals.flatMap((goal, index) =>
    goal.kind === "scroll" ? [{ index, threshold: goal.threshold ?? 0, pages: ruleMask(snapshot.dictionary("page"), goal) }] : [],
  )
  const props = goals.map((goal) => propertyTests(snapshot, goal))
  const found = [new NumberBuffer(), new NumberBuffer()] as const
  const masks = new MaskPool()

  const reaches = (part: Part) => inRowOrder(scrolls.map((goal) => reachesOf(part, goal)))
  const matches = (part: Part) => {
    const all = matchingEvents(part, events, pages, found)
    return props.every((tests) => tests.length === 0) ? all : keepWithProperties(part, all, props, masks)
  }
  let known: { part: Part; completions: Completions } | undefined
  return {
    reaches,
    completions(part) {
      if (known?.part === part) return known.completions
      known = { part, completions: scrolls.length === 0 ? matches(part) : inRowOrder([matches(part), reaches(part)]) }
      return known.completions
    },
  }
}

/** Goals by the number of a value: those of number n are `goals[starts[n]]` up to before `goals[starts[n + 1]]`. */
interface GoalsByValue {
  starts: Uint32Array
  goals: Uint32Array
}

function goalsByValue(snapshot: Snapshot, goals: readonly GoalRule[], kind: "event" | "page"): GoalsByValue {
  const dictionary = snapshot.dictionary(kind === "event" ? "name" : "page")
  const masks = goals.map((goal) => (goal.kind === kind ? ruleMask(dictionary, goal) : undefined))
  // A pageview never completes an event goal, and engagement and vitals are no custom events.
  if (kind === "event") for (const mask of masks) mask?.fill(0, PAGEVIEW, Math.max(ENGAGEMENT, VITALS) + 1)
  const starts = new Uint32Array(Math.max(1, dictionary.size) + 1)
  const found: number[] = []
  for (let id = 0; id + 1 < starts.length; id++) {
    masks.forEach((mask, index) => {
      if (mask?.[id] === 1) found.push(index)
    })
    starts[id + 1] = found.length
  }
  return { starts, goals: Uint32Array.from(found) }
}

/** Keys and values that an event must carry; undefined where the site never had one of them, so that no event can. */
function propertyTests(snapshot: Snapshot, goal: GoalRule): ({ key: number; values: ValueMask } | undefined)[] {
  return Object.entries(goal.props ?? {}).map(([name, value]) => {
    const key = snapshot.dictionary("property").find(name)
    if (key === undefined || key === 0) return undefined
    const wanted = { op: "is", values: [value], caseSensitive: true, missing: false } as const
    return { key, values: valueMask(snapshot.dictionary(`property:${key}`), wanted) }
  })
}

function matchingEvents(
  part: Part,
  events: GoalsByValue,
  pages: GoalsByValue,
  [rowBuffer, goalBuffer]: readonly [NumberBuffer, NumberBuffer],
): Completions {
  const columns = { name: part.event("name"), page: part.event("page") }
  const total = countMatches(columns, part.events, events.starts, pages.starts)
  const rows = rowBuffer.room(total)
  const goals = goalBuffer.room(total)
  return { rows, goals, count: listMatches(columns, part.events, events, pages, rows, goals) }
}

interface NameAndPage {
  name: Uint32Array
  page: Uint32Array
}

function countMatches({ name, page }: NameAndPage, rows: number, names: Uint32Array, pages: Uint32Array): number {
  let total = 0
  for (let row = 0; row < rows; row++) {
    const isPageview = name[row] === PAGEVIEW
    const starts = isPageview ? pages : names
    const value = isPageview ? page[row]! : name[row]!
    total += starts[value + 1]! - starts[value]!
  }
  return total
}

function listMatches(
  { name, page }: NameAndPage,
  length: number,
  events: GoalsByValue,
  pages: GoalsByValue,
  rows: Uint32Array,
  goals: Uint32Array,
): number {
  let count = 0
  for (let row = 0; row < length; row++) {
    const isPageview = name[row] === PAGEVIEW
    const starts = isPageview ? pages.starts : events.starts
    const list = isPageview ? pages.goals : events.goals
    const value = isPageview ? page[row]! : name[row]!
    const end = starts[value + 1]!
    for (let i = starts[value]!; i < end; i++) {
      rows[count] = row
      goals[count++] = list[i]!
    }
  }
  return count
}

/** Takes out, in place, the completions whose event lacks a property of the goal. */
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

function reachesOf(part: Part, goal: { index: number; threshold: number; pages: ValueMask }): Completions {
  const reports = scrollReports(part)
  const rows = new Uint32Array(reports.row.length)
  const count = firstReaches(reports, { visit: part.event("visit"), page: part.event("page") }, goal.pages, goal.threshold, rows)
  return { rows, goals: new Uint32Array(count).fill(goal.index), count }
}

/** One list of several, by row and then by goal. */
function inRowOrder(lists: readonly Completions[]): Completions {
  const count = lists.reduce((sum, list) => sum + list.count, 0)
  // Row and goal in one number: fewer than 2^21 goals, and numbers sort natively.
  const keys = new Float64Array(count)
  let at = 0
  for (const { rows, goals, count } of lists) {
    for (let i = 0; i < count; i++) keys[at++] = rows[i]! * 2 ** 21 + goals[i]!
  }
  keys.sort()
  const rows = new Uint32Array(count)
  const goals = new Uint32Array(count)
  for (let i = 0; i < count; i++) {
    rows[i] = Math.floor(keys[i]! / 2 ** 21)
    goals[i] = keys[i]! % 2 ** 21
  }
  return { rows, goals, count }
}
