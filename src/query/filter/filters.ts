import { dimensionFacts } from "../../domain/dimension.ts"
import { type Condition, type Filter, textTest } from "../../domain/filter.ts"
import type { PeopleSet } from "../../domain/people.ts"
import type { GoalRule, SiteFacts } from "../../domain/query.ts"
import type { EventColumn, Part, Snapshot, VisitColumn } from "../../store/events/part.ts"
import { compileGoals } from "./goals.ts"
import {
  fillByEvents,
  fillByPerson,
  fillByValue,
  fillByVisit,
  fillCounted,
  invert,
  keepBoth,
  keepCounted,
  keepEither,
  MaskPool,
  markProperty,
  markRows,
  valueMask,
} from "./masks.ts"

/** One byte per row, 1 for chosen rows; "all" when every row is chosen. */
export type Mask = Uint8Array | "all"

/**
 * A filter compiled for the parts of one snapshot, both segments and tail. Masks are computed on demand and remain valid until
 * the filter is applied to another part. Callers must not write to them.
 */
export interface CompiledFilter {
  /** Returns false when the filter tests only visits. Then `visits` reads no event column, and all events of a chosen visit are chosen. */
  hasEventConditions(): boolean
  /** Returns the event rows, engagement and vitals included, that satisfy the filter and whose visit does, at any time. */
  rows(part: Part): Mask
  /**
   * Returns the event rows that can be in E (metrics.md 5.1), at any time: counted events that satisfy the filter, and engagement
   * reports that complete a scroll goal named by the filter and satisfy the filter.
   */
  events(part: Part): Uint8Array
  /** Returns the visits with an event of `events`, at any time. Those that start in the range are V. */
  visits(part: Part): Mask
}

/**
 * Compiles a filter. Text is compared with the dictionaries once, when the filter is first used; per row only a look-up by number
 * remains.
 *
 * Two interpretations of metrics.md: every visit has a counted event, so a filter with only visit conditions chooses visits
 * without reading events. And a report that reaches a scroll goal counts as an event only in the tree that names the goal: the
 * filter itself, or the tree inside a `has_done`.
 */
export function compileFilter(snapshot: Snapshot, filter: Filter | undefined, site: SiteFacts): CompiledFilter {
  const pool = new MaskPool()
  let made: Node | undefined
  const tree = () => {
    if (filter) made ??= compileNode({ snapshot, site, pool }, filter)
    return made
  }
  const reaches = filter ? compileGoals(snapshot, namedScrollGoals(filter, site)) : undefined
  let current: Part | undefined
  let memo: { rows?: Mask; events?: Uint8Array; visits?: Mask } = {}
  const of = (part: Part) => {
    if (part !== current) {
      pool.reuse()
      memo = {}
      current = part
    }
    return memo
  }

  const rows = (part: Part): Mask => {
    const known = of(part)
    known.rows ??= rowsOf(part, tree(), pool)
    return known.rows
  }
  const events = (part: Part): Uint8Array => {
    const known = of(part)
    known.events ??= countedRows(part, rows(part), reaches?.reaches(part), pool)
    return known.events
  }
  const visits = (part: Part): Mask => {
    const known = of(part)
    known.visits ??= visitsOf(part, tree(), events, pool)
    return known.visits
  }
  const hasEventConditions = () => tree()?.level === "event"
  return { hasEventConditions, rows, events, visits }
}

/** A compiled node. `test` returns a mask of visits or of events, depending on the level, which the caller may overwrite. */
interface Node {
  level: "visit" | "event"
  test: (part: Part) => Uint8Array
}

interface Context {
  snapshot: Snapshot
  site: SiteFacts
  pool: MaskPool
}

function compileNode(context: Context, filter: Filter): Node {
  switch (filter.op) {
    case "and":
    case "or":
      return compileList(context, filter.op, filter.filters)
    case "not": {
      const inner = compileNode(context, filter.filter)
      return { level: inner.level, test: (part) => inverted(inner.test(part)) }
    }
    case "has_done":
      return compileHasDone(context, filter.filter)
    case "people":
      return compilePeople(context, filter.set)
    default:
      return compileCondition(context, filter)
  }
}

/** Compiles a list. An empty `and` is always true, an empty `or` never. */
function compileList({ pool, ...rest }: Context, op: "and" | "or", filters: readonly Filter[]): Node {
  const nodes = filters.map((filter) => compileNode({ pool, ...rest }, filter))
  const join = op === "and" ? keepBoth : keepEither
  const joined = (level: Node["level"], part: Part) => {
    const masks = nodes.filter((node) => node.level === level).map((node) => node.test(part))
    const [first, ...others] = masks
    for (const other of others) join(first!, other)
    return first
  }
  if (nodes.every((node) => node.level === "visit")) {
    return { level: "visit", test: (part) => joined("visit", part) ?? pool.take(part.visits).fill(op === "and" ? 1 : 0) }
  }
  return {
    level: "event",
    test: (part) => {
      const visits = joined("visit", part)
      const events = joined("event", part)!
      if (visits) join(events, projected(part, visits, pool))
      return events
    },
  }
}

function compileHasDone(context: Context, filter: Filter): Node {
  const { pool, snapshot, site } = context
  const inner = compileNode(context, filter)
  if (inner.level === "visit") return inner
  const reaches = compileGoals(snapshot, namedScrollGoals(filter, site))
  const test = (part: Part) => {
    const events = countedRows(part, inner.test(part), reaches.reaches(part), pool)
    const mask = pool.take(part.visits)
    fillByEvents(mask, part.event("visit"), events)
    return mask
  }
  return { level: "visit", test }
}

/** Compiles a condition on the visitor of a visit. The set is evaluated once per query, or taken from the worker's memory. */
function compilePeople({ snapshot, pool }: Context, set: PeopleSet): Node {
  if (!snapshot.people) throw new Error("A filter names people in a snapshot without sets")
  const states = snapshot.people(set)
  const test = (part: Part) => {
    const mask = pool.take(part.visits)
    fillByPerson(mask, part.visit("visitor"), states)
    return mask
  }
  return { level: "visit", test }
}

function compileCondition(context: Context, condition: Condition): Node {
  if (condition.dimension === "goal") return compileGoalCondition(context, condition)
  if (condition.dimension === "property") return compilePropertyCondition(context, condition)
  const { level, dictionary } = dimensionFacts(condition.dimension)
  const values = valueMask(context.snapshot.dictionary(dictionary!), condition)
  const test = (part: Part) => {
    const column = level === "visit" ? part.visit(visitColumn(condition)) : part.event(eventColumn(condition))
    const mask = context.pool.take(level === "visit" ? part.visits : part.events)
    fillByValue(mask, column, values)
    return mask
  }
  return { level, test }
}

// Every dimension but goal and property is a column of its level, under its own name, or `name` for the dimension `event`.
const visitColumn = ({ dimension }: Condition) => dimension as VisitColumn
const eventColumn = ({ dimension }: Condition) => (dimension === "event" ? "name" : dimension) as EventColumn

/** Compiles a condition on a property. The value is missing when the event does not have the key. */
function compilePropertyCondition({ snapshot, pool }: Context, condition: Condition): Node {
  const key = snapshot.dictionary("property").find(condition.property ?? "")
  const values = key && valueMask(snapshot.dictionary(`property:${key}`), condition)
  const test = (part: Part) => {
    const mask = pool.take(part.events).fill(condition.missing ? 1 : 0)
    if (key && values) markProperty(mask, part.props(), key, values)
    return mask
  }
  return { level: "event", test }
}

function compileGoalCondition({ snapshot, site, pool }: Context, condition: Condition): Node {
  const goals = compileGoals(snapshot, goalsNamed(condition, site))
  const test = (part: Part) => {
    const mask = pool.take(part.events).fill(0)
    const { rows, count } = goals.completions(part)
    markRows(mask, rows, count)
    return mask
  }
  return { level: "event", test }
}

/** Returns the goals whose name satisfies a condition on `goal`. */
export function goalsNamed(condition: Condition, site: SiteFacts): GoalRule[] {
  const named = textTest(condition)
  return site.goals.filter((goal) => named(goal.name))
}

function namedScrollGoals(filter: Filter, site: SiteFacts): GoalRule[] {
  switch (filter.op) {
    case "and":
    case "or":
      return filter.filters.flatMap((inner) => namedScrollGoals(inner, site))
    case "not":
      return namedScrollGoals(filter.filter, site)
    case "has_done":
    case "people":
      return []
    default:
      return filter.dimension === "goal" ? goalsNamed(filter, site).filter((goal) => goal.kind === "scroll") : []
  }
}

/** Returns the counted events of a mask, and its rows that complete a scroll goal. */
function countedRows(part: Part, rows: Mask, reaches: { rows: Uint32Array; count: number } | undefined, pool: MaskPool): Uint8Array {
  const mask = pool.take(part.events)
  if (rows === "all") {
    fillCounted(mask, part.event("name"))
    return mask
  }
  mask.set(rows)
  keepCounted(mask, part.event("name"))
  for (let i = 0; reaches && i < reaches.count; i++) mask[reaches.rows[i]!] = rows[reaches.rows[i]!]!
  return mask
}

function visitsOf(part: Part, tree: Node | undefined, events: (part: Part) => Uint8Array, pool: MaskPool): Mask {
  if (!tree) return "all"
  if (tree.level === "visit") return tree.test(part)
  const mask = pool.take(part.visits)
  fillByEvents(mask, part.event("visit"), events(part))
  return mask
}

function rowsOf(part: Part, tree: Node | undefined, pool: MaskPool): Mask {
  if (!tree) return "all"
  return tree.level === "event" ? tree.test(part) : projected(part, tree.test(part), pool)
}

function projected(part: Part, visits: Uint8Array, pool: MaskPool): Uint8Array {
  const mask = pool.take(part.events)
  fillByVisit(mask, part.event("visit"), visits)
  return mask
}

function inverted(mask: Uint8Array): Uint8Array {
  invert(mask)
  return mask
}
