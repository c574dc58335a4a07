import { dimensionFacts } from "../../domain/dimension.ts"
import { type Condition, type Filter, textTest } from "../../domain/filter.ts"
import type { PeopleSet } from "../../domain/people.ts"
import type { GoalRule, SiteFacts } from "../../domain/query.ts"
import type { Items } from "../../store/events/bytes/items.ts"
import type { EventColumn, Part, Snapshot, VisitColumn } from "../../store/events/part.ts"
import { compileGoals } from "./goals.ts"
import { fillByItems, fillCountedByItems, fillVisitsByItems } from "./item-masks.ts"
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
  /** Returns true for a part in which surely no event passes. It reads no rows. */
  lacks(part: Part): boolean
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
  /** Returns the same choice by item and by visit. Undefined when the part has no items, or when the filter has other conditions. */
  byItem(part: Part): ItemChoice | undefined
}

/** A choice of events by the item and by the visit of each: `rows` are the events for which both are chosen. */
export interface ItemChoice {
  items: Items
  /** One byte per item. */
  chosen: Mask
  visits: Mask
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
  let memo: { rows?: Mask; events?: Uint8Array; visits?: Mask; byItem?: ItemChoice | undefined } = {}
  const of = (part: Part) => {
    if (part !== current) {
      pool.reuse()
      memo = {}
      current = part
    }
    return memo
  }

  const lacks = (part: Part) => tree()?.lacks?.(part) === true
  const byItem = (part: Part): ItemChoice | undefined => {
    const known = of(part)
    if (!("byItem" in known)) known.byItem = lacks(part) ? noItems(part) : choiceOf(part, tree())
    return known.byItem
  }
  const rows = (part: Part): Mask => {
    const known = of(part)
    known.rows ??= lacks(part) ? pool.take(part.events).fill(0) : rowsOf(part, tree(), byItem, pool)
    return known.rows
  }
  const events = (part: Part): Uint8Array => {
    const known = of(part)
    known.events ??= eventsOf(part)
    return known.events
  }
  const eventsOf = (part: Part): Uint8Array => {
    if (lacks(part)) return pool.take(part.events).fill(0)
    const choice = hasEventConditions() ? byItem(part) : undefined
    if (!choice) return countedRows(part, rows(part), reaches?.reaches(part), pool)
    const mask = pool.take(part.events)
    fillCountedByItems(mask, choice)
    return mask
  }
  const visits = (part: Part): Mask => {
    const known = of(part)
    known.visits ??= lacks(part) ? pool.take(part.visits).fill(0) : visitsOf(part, tree(), { events, byItem }, pool)
    return known.visits
  }
  const hasEventConditions = () => tree()?.level === "event"
  return { lacks, hasEventConditions, rows, events, visits, byItem }
}

/** A compiled node. `test` returns a mask of visits or of events, depending on the level, which the caller may overwrite. */
interface Node {
  level: "visit" | "event"
  test: (part: Part) => Uint8Array
  /**
   * For a node of events that depends on their items alone, or that joins such conditions with conditions on visits: both sides, of
   * which an event must pass all that exist.
   */
  apart?: { items: ItemTest; visits?: (part: Part) => Uint8Array }
  /** Returns true for a part in which surely nothing passes. It reads no rows. */
  lacks?: (part: Part) => boolean
}

/** Returns a mask of items, which the caller may overwrite. */
type ItemTest = (items: Items) => Uint8Array

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
      const { level, test, apart } = compileNode(context, filter.filter)
      const items = apart && !apart.visits ? apart.items : undefined
      return {
        ...{ level, test: (part) => inverted(test(part)) },
        ...(items && { apart: { items: (of) => inverted(items(of)) } }),
      }
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
  const lacking = nodes.flatMap((node) => node.lacks ?? [])
  // An empty `or` has no node that could lack anything.
  const lacks =
    op === "and"
      ? (part: Part) => lacking.some((each) => each(part))
      : (part: Part) => nodes.length > 0 && lacking.length === nodes.length && lacking.every((each) => each(part))
  if (nodes.every((node) => node.level === "visit")) {
    return { level: "visit", lacks, test: (part) => joined("visit", part) ?? pool.take(part.visits).fill(op === "and" ? 1 : 0) }
  }
  const apart = op === "and" ? bothApart(nodes) : eitherApart(nodes)
  return {
    level: "event",
    lacks,
    test: (part) => {
      const visits = joined("visit", part)
      const events = joined("event", part)!
      if (visits) join(events, projected(part, visits, pool))
      return events
    },
    ...(apart && { apart }),
  }
}

function bothApart(nodes: readonly Node[]): Node["apart"] {
  const ofEvents = nodes.filter(({ level }) => level === "event")
  const sides = ofEvents.map(({ apart }) => apart).filter((apart) => apart !== undefined)
  if (sides.length < ofEvents.length) return undefined
  const ofVisits = [
    ...nodes.filter(({ level }) => level === "visit").map(({ test }) => test),
    ...sides.flatMap(({ visits }) => visits ?? []),
  ]
  const items = joinedTests(
    sides.map((side) => side.items),
    keepBoth,
  )
  return { items, ...(ofVisits.length > 0 && { visits: joinedTests(ofVisits, keepBoth) }) }
}

function eitherApart(nodes: readonly Node[]): Node["apart"] {
  const tests = nodes.map(({ apart }) => (apart && !apart.visits ? apart.items : undefined)).filter((items) => items !== undefined)
  return tests.length === nodes.length ? { items: joinedTests(tests, keepEither) } : undefined
}

const joinedTests =
  <Of>(tests: readonly ((of: Of) => Uint8Array)[], join: (mask: Uint8Array, other: Uint8Array) => void) =>
  (of: Of): Uint8Array => {
    const [first, ...others] = tests.map((test) => test(of))
    for (const other of others) join(first!, other)
    return first!
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
  const lacks = (part: Part) => part.lacks?.(level === "visit" ? visitColumn(condition) : eventColumn(condition), values) === true
  if (condition.dimension !== "page" && condition.dimension !== "event") return { level, test, lacks }
  const isOfPage = condition.dimension === "page"
  const items = ({ names, pages }: Items) => {
    const mask = context.pool.take(names.length)
    fillByValue(mask, isOfPage ? pages : names, values)
    return mask
  }
  return { level, test, lacks, apart: { items } }
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
  if (!goals.areOfItems()) return { level: "event", test }
  const items = (of: Items) => {
    const mask = pool.take(of.names.length).fill(0)
    const { rows, count } = goals.ofItems(of)
    markRows(mask, rows, count)
    return mask
  }
  return { level: "event", test, apart: { items } }
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

function visitsOf(part: Part, tree: Node | undefined, { events, byItem }: Pick<CompiledFilter, "events" | "byItem">, pool: MaskPool): Mask {
  if (!tree) return "all"
  if (tree.level === "visit") return tree.test(part)
  const mask = pool.take(part.visits)
  const choice = byItem(part)
  if (choice) fillVisitsByItems(mask, choice)
  else fillByEvents(mask, part.event("visit"), events(part))
  return mask
}

function rowsOf(part: Part, tree: Node | undefined, byItem: CompiledFilter["byItem"], pool: MaskPool): Mask {
  if (!tree) return "all"
  if (tree.level === "visit") return projected(part, tree.test(part), pool)
  const choice = byItem(part)
  if (!choice) return tree.test(part)
  const mask = pool.take(part.events)
  fillByItems(mask, choice)
  return mask
}

/** Returns a choice without any event, in a part that has items. */
function noItems(part: Part): ItemChoice | undefined {
  const items = part.items?.()
  return items && { items, chosen: new Uint8Array(items.names.length), visits: "all" }
}

function choiceOf(part: Part, tree: Node | undefined): ItemChoice | undefined {
  const items = !tree || tree.level === "visit" || tree.apart ? part.items?.() : undefined
  if (!items) return undefined
  if (!tree) return { items, chosen: "all", visits: "all" }
  if (tree.level === "visit") return { items, chosen: "all", visits: tree.test(part) }
  return { items, chosen: tree.apart!.items(items), visits: tree.apart!.visits?.(part) ?? "all" }
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
