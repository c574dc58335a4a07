import { type Dimension, FLAT_DIMENSIONS } from "../../domain/dimension.ts"
import type { Fault } from "../../domain/error.ts"
import { conditionOf, type Filter, OPERATORS, type Operator, positiveOperator } from "../../domain/filter.ts"
import { parseId } from "../../domain/id.ts"
import { QUERY } from "../../domain/limits.ts"
import { fault, isObject } from "../../domain/shape.ts"
import { isClean } from "../../domain/text.ts"
import { withStoredNames } from "../../domain/value-aliases.ts"
import { type ArgumentReader, forbiddenCharacters } from "./arguments.ts"
import { HIDDEN } from "./array-dimensions.ts"
import { BROKEN, GOAL_OPERATORS, isShortPattern, PATTERN_BOUNDS, type SavedFilters, SET_OPERATORS } from "./array-filters.ts"

/**
 * The filters of the flat form. All must hold; the values of one filter are alternatives (api.md section 6.1). In a request and in a
 * segment, an item can also be `{any: [filters]}`, which holds when one of its filters does.
 */
interface FlatFilters {
  filter: Filter | undefined
  /** All dimensions that the filters name. */
  dimensions: readonly Dimension[]
}

const NONE: FlatFilters = { filter: undefined, dimensions: [] }
/** Dimensions whose values are ids of saved sets. */
const SETS = ["segment", "cohort"] as const
const FILTERED: readonly string[] = [...FLAT_DIMENSIONS, ...SETS]
const FIELDS = ["dimension", "property", "operator", "values"]

/** Reads the argument `filters`. `saved` resolves segments and cohorts. */
export function readFilters(reader: ArgumentReader, saved: SavedFilters): FlatFilters {
  const given = reader.raw("filters")
  if (given === undefined) return NONE
  const { faults, ...read } = readFilterList(given, "/filters", saved, { groups: true })
  for (const fault of faults) reader.refuse(fault)
  return faults.length > 0 ? NONE : read
}

/**
 * Reads a list of filters. All its faults are returned in `faults`. `groups` allows items `{any: [filters]}`: requests and segments can
 * have them, all other lists are plain.
 */
export function readFilterList(
  given: unknown,
  pointer: string,
  saved: SavedFilters,
  { groups = false } = {},
): FlatFilters & { faults: Fault[] } {
  const faults = listFaults(given, pointer)
  const list = Array.isArray(given) && faults.length === 0 ? given : []
  const read = (item: unknown, i: number) =>
    groups && isGroup(item) ? readGroup(item, `${pointer}/${i}`, faults, saved) : readFilter(item, `${pointer}/${i}`, faults, saved)
  const filters = list.map(read).filter((filter) => filter !== undefined)
  return { filter: allOf(filters), dimensions: [...new Set(filters.flatMap(dimensionsOf))], faults }
}

const dimensionsOf = (filter: Filter): Dimension[] => {
  if ("filters" in filter) return filter.filters.flatMap(dimensionsOf)
  if ("filter" in filter) return dimensionsOf(filter.filter)
  return filter.op === "people" ? [] : [filter.dimension]
}

const isGroup = (item: unknown): item is { any: unknown } => isObject(item) && Object.hasOwn(item, "any")

/** Reads an item `{any: [filters]}`. */
function readGroup({ any, ...others }: { any: unknown }, pointer: string, faults: Fault[], saved: SavedFilters): Filter | undefined {
  const at = `${pointer}/any`
  if (Object.keys(others).length > 0)
    faults.push({ pointer, code: "unknown_field", detail: "A group can only have the field any.", allowed: ["any"] })
  if (!Array.isArray(any)) faults.push({ pointer: at, code: "invalid_type", detail: "any must be a list of filters." })
  else if (any.length === 0)
    faults.push({ pointer: at, code: "too_few", detail: "At least one filter is required.", allowed: { min: 1, max: QUERY.flatFilters } })
  const filters = (Array.isArray(any) ? any : [])
    .map((item, i) => readFilter(item, `${at}/${i}`, faults, saved))
    .filter((filter) => filter !== undefined)
  return filters.length < 2 ? filters[0] : { op: "or", filters }
}

function listFaults(given: unknown, pointer: string): Fault[] {
  const allowed = { min: 0, max: QUERY.flatFilters }
  if (!Array.isArray(given)) return [{ pointer, code: "invalid_type", detail: "filters must be a list of filters, as JSON." }]
  const count = given.reduce((sum: number, item) => sum + (isGroup(item) && Array.isArray(item.any) ? item.any.length : 1), 0)
  if (count <= allowed.max) return []
  return [{ pointer, code: "too_many", detail: `At most ${allowed.max} filters are allowed.`, allowed }]
}

function readFilter(item: unknown, pointer: string, faults: Fault[], saved: SavedFilters): Filter | undefined {
  const before = faults.length
  if (typeof item !== "object" || item === null || Array.isArray(item)) {
    faults.push({ pointer, code: "invalid_type", detail: "A filter must be an object with dimension and values." })
    return undefined
  }
  const fields: Record<string, unknown> = { ...item }
  faults.push(...unknownFields(fields, pointer), ...dimensionFaults(fields, pointer))
  const { dimension, property } = fields
  if (dimension === "property" && typeof property === "string" && saved.hides?.(property))
    faults.push(fault(`${pointer}/property`, HIDDEN.code, HIDDEN.detail))
  faults.push(...operatorFaults(fields, pointer), ...valuesFaults(fields, pointer))
  if (faults.length > before) return undefined
  const set = SETS.find((name) => name === fields.dimension)
  if (set === undefined) return toFilter(fields)
  const filter = readSaved(set, fields, saved)
  if (filter === "broken") faults.push(fault(`${pointer}/values`, BROKEN.code, BROKEN.detail))
  else if (filter) return filter
  else
    faults.push({ pointer: `${pointer}/values`, code: "invalid_choice", detail: `No ${set} with this id is visible to you.`, allowed: [] })
  return undefined
}

/** Returns a filter that holds when any of the named sets does, or undefined when one is not visible. Ids are numbers or digits. */
function readSaved(
  set: (typeof SETS)[number],
  { operator, values }: Record<string, unknown>,
  saved: SavedFilters,
): Filter | "broken" | undefined {
  const named = values as (string | number | undefined)[] // checked to be a list; its items are checked below
  const ids = named.map((value) => parseId(value))
  const found = ids.map((id) => (id === undefined ? undefined : saved(set, id))).filter((filter) => filter !== undefined)
  if (found.length < ids.length) return undefined
  const filters = found.filter((filter) => filter !== "broken")
  if (filters.length < ids.length) return "broken"
  const any: Filter = filters.length === 1 ? filters[0]! : { op: "or", filters }
  return operator === "is_not" ? { op: "not", filter: any } : any
}

function unknownFields(fields: Record<string, unknown>, pointer: string): Fault[] {
  // Only the first unknown field is reported, because a hostile caller can send thousands.
  for (const name in fields)
    if (!FIELDS.includes(name))
      return [{ pointer, code: "unknown_field", detail: `A filter can only have the fields ${FIELDS.join(", ")}.`, allowed: FIELDS }]
  return []
}

function dimensionFaults({ dimension, property }: Record<string, unknown>, pointer: string): Fault[] {
  const at = `${pointer}/dimension`
  if (dimension === undefined) return [{ pointer: at, code: "required", detail: "A filter requires a dimension." }]
  if (typeof dimension !== "string" || !FILTERED.includes(dimension)) {
    return [{ pointer: at, code: "invalid_choice", detail: `dimension must be one of: ${FILTERED.join(", ")}.`, allowed: FILTERED }]
  }
  return propertyFaults(dimension, property, `${pointer}/property`)
}

function propertyFaults(dimension: string, property: unknown, pointer: string): Fault[] {
  if (dimension !== "property") {
    if (property === undefined) return []
    return [{ pointer, code: "unsupported_combination", detail: "property is only allowed with the dimension property." }]
  }
  if (property === undefined) return [{ pointer, code: "required", detail: "The property key is required." }]
  if (typeof property !== "string") return [{ pointer, code: "invalid_type", detail: "property must be a string." }]
  const allowed = { min: 1, max: QUERY.propertyChars }
  if (property.length < allowed.min) return [{ pointer, code: "too_short", detail: "property must not be empty.", allowed }]
  if (property.length > allowed.max)
    return [{ pointer, code: "too_long", detail: `At most ${allowed.max} characters are allowed.`, allowed }]
  return !isClean(property) ? [forbiddenCharacters(pointer)] : []
}

function operatorFaults({ dimension, operator = "is" }: Record<string, unknown>, pointer: string): Fault[] {
  const at = `${pointer}/operator`
  if (operator === "matches" || operator === "matches_not") {
    return [
      {
        pointer: at,
        code: "regex_not_supported",
        detail: "Regular expressions are not supported. Use matches_wildcard.",
        allowed: OPERATORS,
      },
    ]
  }
  if (!isOperator(operator)) {
    return [{ pointer: at, code: "invalid_choice", detail: `operator must be one of: ${OPERATORS.join(", ")}.`, allowed: OPERATORS }]
  }
  const allowed = dimension === "goal" ? GOAL_OPERATORS : SETS.some((set) => set === dimension) ? SET_OPERATORS : OPERATORS
  if (allowed.some((one) => one === operator)) return []
  return [
    { pointer: at, code: "unsupported_combination", detail: `${dimension} supports only these operators: ${allowed.join(", ")}.`, allowed },
  ]
}

function valuesFaults({ dimension, operator, values }: Record<string, unknown>, pointer: string): Fault[] {
  const at = `${pointer}/values`
  const allowed = { min: 1, max: QUERY.flatValues }
  if (values === undefined) return [{ pointer: at, code: "required", detail: "A filter requires values." }]
  if (!Array.isArray(values)) return [{ pointer: at, code: "invalid_type", detail: "values must be a list of strings." }]
  if (values.length < allowed.min) return [{ pointer: at, code: "too_few", detail: "At least one value is required.", allowed }]
  if (values.length > allowed.max) return [{ pointer: at, code: "too_many", detail: `At most ${allowed.max} values are allowed.`, allowed }]
  if (SETS.some((name) => name === dimension)) return []
  const wildcard = operator === "matches_wildcard" || operator === "matches_wildcard_not"
  return values.flatMap((value, i) => valueFaults(value, wildcard, `${at}/${i}`))
}

function valueFaults(value: unknown, wildcard: boolean, pointer: string): Fault[] {
  if (typeof value !== "string") return [{ pointer, code: "invalid_type", detail: "A value must be a string." }]
  const allowed = { min: 1, max: QUERY.valueChars }
  if (value.length < allowed.min)
    return [{ pointer, code: "too_short", detail: "A value must not be empty. Use (none) for the missing value.", allowed }]
  if (value.length > allowed.max) return [{ pointer, code: "too_long", detail: `At most ${allowed.max} characters are allowed.`, allowed }]
  if (!isClean(value)) return [forbiddenCharacters(pointer)]
  return !wildcard || isShortPattern(value) ? [] : [{ pointer, code: "invalid_pattern", detail: PATTERN_BOUNDS }]
}

/** Returns the filter of fields that have already been checked. */
function toFilter({ dimension: name, property, operator = "is", values }: Record<string, unknown>): Filter | undefined {
  const dimension = FLAT_DIMENSIONS.find((known) => known === name)
  if (dimension === undefined || !isOperator(operator) || !Array.isArray(values)) return undefined
  const sent = values.filter((value) => typeof value === "string")
  const texts = positiveOperator(operator) === "is" ? withStoredNames(dimension, sent) : sent
  const { negative, condition } = conditionOf({ dimension, operator, values: texts, ...(typeof property === "string" && { property }) })
  return negative ? { op: "not", filter: condition } : condition
}

const isOperator = (value: unknown): value is Operator => OPERATORS.some((operator) => operator === value)

function allOf(filters: readonly Filter[]): Filter | undefined {
  return filters.length < 2 ? filters[0] : { op: "and", filters }
}
