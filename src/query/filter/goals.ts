import { FIXED_NAMES, PAGEVIEW } from "../domain/dimension.ts"
import type { GoalRule } from "../domain/query.ts"
import type { Part, Snapshot } from "../store/events/part.ts"
import { NumberBuffer } from "./buffer.ts"
import { differs, isPageview } from "./flags.ts"
import { MaskPool, markProperty } from "./masks.ts"
import { firstReaches } from "./scroll.ts"
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
 * Makes goals ready for the parts of one snapshot: their texts are compared with the dictionaries once, at the first use.
 * What is returned is good until another part is asked about; never write into it.
 */
export function compileGoals(snapshot: Snapshot, goals: readonly GoalRule[]): CompiledGoals {
  let made: ReturnType<typeof compileRules> | undefined
  const rules = () => {
    made ??= compileRules(snapshot, goals)
    return made
  }
  const buffers = { candidates: new NumberBuffer(), rows: new NumberBuffer(), goals: new NumberBuffer() }
  const masks = new MaskPool()

  const reaches = (part: Part) => merged(rules().scrolls.map((goal) => goal.reaches(part)))
  const matches = (part: Part) => {
    const { values, props } = rules()
    const all = matchingEvents(part, values, buffers)
    return props.every((tests) => tests.length === 0) ? all : keepWithProperties(part, all, props, masks)
  }
  let known: { part: Part; completions: Completions } | undefined
  return {
    reaches,
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
 * Goals by what completes them: first the numbers of event names, from `pages` on those of pages. The goals of number n are
 * `goals[starts[n]]` up to before `goals[starts[n + 1]]`.
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
  // A pageview never completes an event goal, and engagement and vitals are no custom events.
  list("event", FIXED_NAMES.length, Math.max(FIXED_NAMES.length, names.size))
  list("page", 0, Math.max(1, pages.size))
  return { starts: Uint32Array.from(starts), goals: Uint32Array.from(found), pages: Math.max(FIXED_NAMES.length, names.size) }
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

function matchingEvents(part: Part, values: GoalsByValue, buffers: Record<"candidates" | "rows" | "goals", NumberBuffer>): Completions {
  const columns = { name: part.event("name"), page: part.event("page") }
  const candidates = buffers.candidates.room(part.events)
  const { count, total } = listCandidates(columns, part.events, values, candidates)
  const [rows, goals] = [buffers.rows.room(total), buffers.goals.room(total)]
  listMatches(columns, candidates.subarray(0, count), values, rows, goals)
  return { rows, goals, count: total }
}

interface NameAndPage {
  name: Uint32Array
  page: Uint32Array
}

/** Events that complete a goal, and how many goals they complete in all. */
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

function scrollGoal(snapshot: Snapshot, goal: GoalRule, index: number) {
  const first = firstReaches(ruleMask(snapshot.dictionary("page"), goal), goal.threshold ?? 0)
  return {
    reaches(part: Part): Completions {
      const rows = first(part)
      return { rows, goals: new Uint32Array(rows.length).fill(index), count: rows.length }
    },
  }
}

/** One list of several, each ascending by row. */
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
