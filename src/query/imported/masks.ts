import { dimensionFacts, FIXED_NAMES } from "../../domain/dimension.ts"
import type { Condition, Filter } from "../../domain/filter.ts"
import type { ImportedKind } from "../../domain/imported.ts"
import type { GoalRule, Query } from "../../domain/query.ts"
import type { Snapshot } from "../../store/events/part.ts"
import type { TotalsPart } from "../../store/events/totals.ts"
import { goalsNamed } from "../filter/filters.ts"
import { ruleMask, type ValueMask, valueMask } from "../filter/masks.ts"
import { columnOf, needsProperty, propertyOf } from "./fit.ts"

/** Returns 1 for each row of a part that a query counts, by its filter and by the property that it names. Undefined: every row. */
export function chosenRows(snapshot: Snapshot, query: Query, kind: ImportedKind, part: TotalsPart): Uint8Array | undefined {
  const masks = [query.filter && filterMask(snapshot, query, part, query.filter), propertyMask(snapshot, query, kind, part)]
  return masks.reduce((all, mask) => (all && mask ? all.map((holds, row) => holds & mask[row]!) : (all ?? mask)))
}

function propertyMask(snapshot: Snapshot, query: Query, kind: ImportedKind, part: TotalsPart): Uint8Array | undefined {
  const key = propertyOf(query)
  if (key === undefined) return undefined
  if (kind === "imported_custom_props") {
    const wanted = snapshot.dictionary("property").find(key)
    return Uint8Array.from(part.text("property"), (id) => Number(id === wanted))
  }
  if (!needsProperty(query)) return undefined
  return Uint8Array.from(part.text(columnOf({ dimension: "property", property: key })), (id) => Number(id !== 0))
}

/** All dimensions of the filter are columns of the table, which `tableFor` has checked. */
function filterMask(snapshot: Snapshot, query: Query, part: TotalsPart, filter: Filter): Uint8Array {
  switch (filter.op) {
    case "and":
    case "or": {
      const masks = filter.filters.map((inner) => filterMask(snapshot, query, part, inner))
      const holds = (row: number) => (filter.op === "and" ? masks.every((mask) => mask[row] === 1) : masks.some((mask) => mask[row] === 1))
      return Uint8Array.from({ length: part.rows }, (_, row) => Number(holds(row)))
    }
    case "not":
      return filterMask(snapshot, query, part, filter.filter).map((holds) => 1 - holds)
    case "has_done":
    case "people":
      throw new Error(`No table of imported totals can answer ${filter.op}`)
    default:
      return conditionMask(snapshot, query, part, filter)
  }
}

function conditionMask(snapshot: Snapshot, { site }: Query, part: TotalsPart, condition: Condition): Uint8Array {
  if (condition.dimension === "goal") {
    const masks = goalsNamed(condition, site).map((goal) => goalMask(snapshot, part, goal))
    return Uint8Array.from({ length: part.rows }, (_, row) => Number(masks.some((mask) => mask[row] === 1)))
  }
  const values = valuesOf(snapshot, condition)
  return Uint8Array.from(part.text(columnOf(condition)), (id) => values[id] ?? 0)
}

function valuesOf(snapshot: Snapshot, condition: Condition): ValueMask {
  // Goals are handled by the caller, and every other dimension but `property` has a dictionary.
  if (condition.dimension !== "property") return valueMask(snapshot.dictionary(dimensionFacts(condition.dimension).dictionary!), condition)
  const key = snapshot.dictionary("property").find(condition.property ?? "") ?? 0
  return valueMask(snapshot.dictionary(`property:${key}`), condition)
}

/** Returns 1 for each row whose event or page completes a goal. The goal has no properties, which `tableFor` has checked. */
export function goalMask(snapshot: Snapshot, part: TotalsPart, goal: GoalRule): Uint8Array {
  const isEvent = goal.kind === "event"
  const values = ruleMask(snapshot.dictionary(isEvent ? "name" : "page"), goal)
  // A pageview never completes an event goal.
  if (isEvent) values.fill(0, 0, FIXED_NAMES.length)
  return Uint8Array.from(part.text(isEvent ? "name" : "page"), (id) => values[id] ?? 0)
}
