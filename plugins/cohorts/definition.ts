import { type TSchema, Type as t } from "@sinclair/typebox"
import { currencyDecimals, type Fault, fault, inspect, isObject, parseDay, readFilterList } from "#plugin"
import {
  COUNT_OPERATORS,
  type Condition,
  type Definition,
  type FilterRule,
  isGroup,
  LIMITS,
  NUMBER_OPERATORS,
  PROPERTY_OPERATORS,
  TEXT_OPERATORS,
  VISIT_OPERATORS,
} from "./cohort.ts"
import { cohortError } from "./errors.ts"
import { oneOf } from "./schemas.ts"

/** The schemas of conditions by type, and of their windows. They are also the documentation of the body. */
const closed = { additionalProperties: false } as const
const days = (maximum: number, description: string) => t.Integer({ minimum: 1, maximum, description })
const id = (description: string) => t.Integer({ minimum: 1, description })

const Count = t.Object(
  {
    op: oneOf(COUNT_OPERATORS, "Comparison: `gte`, `eq` or `lte`."),
    n: t.Integer({ minimum: 0, maximum: 10_000, description: "Number to compare with." }),
  },
  { ...closed, description: "How often it must have happened. Default: at least once." },
)

const WINDOWS: Record<string, TSchema> = {
  last_days: t.Object({ type: t.Literal("last_days"), days: days(1095, "Number of days, the last one included.") }, closed),
  between: t.Object(
    {
      type: t.Literal("between"),
      from: t.String({ description: "First day, as YYYY-MM-DD." }),
      to: t.String({ description: "Last day, as YYYY-MM-DD." }),
    },
    closed,
  ),
  after_first_seen: t.Object({ type: t.Literal("after_first_seen"), days: days(365, "Days after the first visit.") }, closed),
  after: t.Object(
    {
      type: t.Literal("after"),
      condition: t.Integer({ minimum: 0, description: "Index of an earlier condition of the same group." }),
      days: days(365, "Days after that condition was first met."),
    },
    closed,
  ),
}

const COMMON = {
  negate: t.Optional(t.Boolean({ description: "Whether the person must not have done it. Default: false." })),
  window: t.Optional(
    t.Any({ description: "Time in which to look: `last_days`, `between`, `after_first_seen` or `after`. Default: all data." }),
  ),
  filters: t.Optional(t.Any({ description: "Filters on the event and its visit, as in statistics requests." })),
}
const value = t.String({ minLength: 1, maxLength: 2_000, description: "Name of the event, or path of the page." })
const values = t.Any({ description: "Values, one of which must match." })

const CONDITIONS: Record<Condition["type"], ReturnType<typeof t.Object>> = {
  event: t.Object(
    { type: t.Literal("event"), value, operator: t.Optional(oneOf(TEXT_OPERATORS, "Default: `is`.")), count: t.Optional(Count), ...COMMON },
    closed,
  ),
  page: t.Object(
    { type: t.Literal("page"), value, operator: t.Optional(oneOf(TEXT_OPERATORS, "Default: `is`.")), count: t.Optional(Count), ...COMMON },
    closed,
  ),
  goal: t.Object({ type: t.Literal("goal"), goal_id: id("Id of a goal."), count: t.Optional(Count), ...COMMON }, closed),
  funnel: t.Object(
    {
      type: t.Literal("funnel"),
      funnel_id: id("Id of a saved funnel."),
      step: t.Optional(t.Integer({ minimum: 1, description: "Step to reach, from 1. Default: the last one." })),
      ...COMMON,
    },
    closed,
  ),
  property: t.Object(
    {
      type: t.Literal("property"),
      event: t.Optional(t.String({ minLength: 1, maxLength: 120, description: "Name of the event. Default: any event." })),
      property: t.String({ minLength: 1, maxLength: 300, description: "Key of the property." }),
      operator: t.Optional(oneOf(PROPERTY_OPERATORS, "Default: `is`. The last four compare decimal numbers.")),
      values,
      ...COMMON,
    },
    closed,
  ),
  dimension: t.Object(
    {
      type: t.Literal("dimension"),
      dimension: t.String({ description: "Dimension of visits." }),
      operator: t.Optional(oneOf(VISIT_OPERATORS, "Default: `is`.")),
      values,
      ...COMMON,
    },
    closed,
  ),
  first_seen: t.Object({ type: t.Literal("first_seen"), ...COMMON }, closed),
  revenue: t.Object(
    {
      type: t.Literal("revenue"),
      operator: oneOf(NUMBER_OPERATORS, "Comparison of the sum."),
      amount: t.String({ minLength: 1, maxLength: 40, description: "Amount, as a decimal number." }),
      currency: t.String({ minLength: 3, maxLength: 3, description: "ISO 4217 code. Amounts in other currencies don't count." }),
      ...COMMON,
    },
    closed,
  ),
  active_days: t.Object({ type: t.Literal("active_days"), count: t.Optional(Count), ...COMMON }, closed),
  cohort: t.Object({ type: t.Literal("cohort"), cohort_id: id("Id of another cohort of the site."), ...COMMON }, closed),
}
const TYPES = Object.keys(CONDITIONS) as Condition["type"][]

/** Schema of a definition for the documentation. The reader below checks it condition by condition, which gives exact pointers. */
export const DefinitionInput = t.Unsafe<Definition>(
  t.Object(
    {
      match: t.Optional(oneOf(["all", "any"], "Whether all conditions must hold or any of them. Default: `all`.")),
      conditions: t.Array(t.Any(), {
        minItems: 1,
        maxItems: LIMITS.conditions,
        description: `Conditions, or groups of conditions with a \`match\` of their own. A condition has a \`type\`: ${TYPES.map((type) => `\`${type}\``).join(", ")}.`,
      }),
    },
    { ...closed, title: "CohortDefinition", description: "What the people of a cohort did and did not do." },
  ),
)

/**
 * Reads a definition. Throws `too_many_conditions`, and adds faults of form to `faults`; the result is undefined if there are any. Goals,
 * funnels, segments and cohorts are looked up later, because they can be deleted.
 */
export function readDefinition(given: unknown, pointer: string, faults: Fault[]): Definition | undefined {
  const before = faults.length
  const definition = readGroup(given, pointer, { isNested: false, faults })
  if (faults.length > before) return undefined
  const all = conditionsOf(definition)
  if (all.length > LIMITS.conditions)
    throw cohortError(
      "too_many_conditions",
      `A definition can have at most ${LIMITS.conditions} conditions, but this one has ${all.length}.`,
    )
  if (all.filter(({ type }) => type === "cohort").length > LIMITS.references)
    throw cohortError("too_many_conditions", `A definition can refer to at most ${LIMITS.references} cohorts.`)
  refuseMeaningless(definition, pointer)
  return definition
}

/** Returns all conditions of a definition, those of its groups included. */
export const conditionsOf = (definition: Definition): Condition[] =>
  definition.conditions.flatMap((item) => (isGroup(item) ? conditionsOf(item) : [item]))

const Group = t.Object(
  {
    match: t.Optional(oneOf(["all", "any"], "Default: `all`.")),
    conditions: t.Array(t.Any(), { minItems: 1, maxItems: 100 }),
  },
  closed,
)

function readGroup(given: unknown, pointer: string, { isNested, faults }: { isNested: boolean; faults: Fault[] }): Definition {
  const { fields, faults: found } = inspect(Group, given, pointer, [])
  faults.push(...found)
  const items = isObject(given) && Array.isArray(given.conditions) && fields.conditions ? given.conditions : []
  const conditions = items.map((item: unknown, i: number): Condition | Definition => {
    const at = `${pointer}/conditions/${i}`
    if (!isObject(item) || !("conditions" in item)) return readCondition(item, at, faults)
    if (isNested) faults.push(fault(at, "invalid_definition", "is a group within a group. Groups can be one level deep"))
    return isNested ? { conditions: [] } : readGroup(item, at, { isNested: true, faults })
  })
  return { ...(fields.match === "any" && { match: "any" as const }), conditions }
}

function readCondition(given: unknown, pointer: string, faults: Fault[]): Condition {
  const type = isObject(given) ? TYPES.find((known) => known === given.type) : undefined
  if (type === undefined) {
    const code = isObject(given) && given.type === undefined ? "required" : isObject(given) ? "invalid_choice" : "invalid_type"
    const at = isObject(given) ? `${pointer}/type` : pointer
    faults.push(fault(at, code, isObject(given) ? `must be one of: ${TYPES.join(", ")}` : "must be an object", TYPES))
    return { type: "first_seen" }
  }
  const { faults: found } = inspect(CONDITIONS[type], given, pointer, [])
  // Values are kept as they were sent, because they are compared with the values of events.
  const condition = structuredClone(given) as unknown as Condition
  if (found.length === 0) found.push(...valueFaults(condition, pointer), ...windowFaults(condition.window, `${pointer}/window`))
  if (condition.filters !== undefined) found.push(...filterFaults(condition.filters, `${pointer}/filters`))
  faults.push(...found)
  return condition
}

/** The part of a condition that is a filter of the flat form, if its operator is one. Its faults are those of the filter. */
export function ownFilter(condition: Condition): FilterRule | undefined {
  const operator = "operator" in condition ? (condition.operator ?? "is") : "is"
  switch (condition.type) {
    case "event":
    case "page":
      return { dimension: condition.type, operator, values: [condition.value] }
    case "dimension":
      return { dimension: condition.dimension, operator, values: condition.values }
    case "property":
      return isNumeric(operator) ? undefined : { dimension: "property", property: condition.property, operator, values: condition.values }
    default:
      return undefined
  }
}

export const isNumeric = (operator: string): boolean => NUMBER_OPERATORS.some((known) => known === operator)
/** A decimal number such as `-12.50`, of at most 40 characters. */
export const isDecimal = (text: unknown): boolean => typeof text === "string" && text.length <= 40 && /^-?\d+(\.\d+)?$/.test(text)

function valueFaults(condition: Condition, pointer: string): Fault[] {
  const filter = ownFilter(condition)
  if (filter) {
    const { faults } = readFilterList([filter], "", () => undefined)
    const single = condition.type === "event" || condition.type === "page"
    return faults.map((found) => ({ ...found, pointer: pointer + placeIn(found.pointer, single) })).concat(visitFaults(condition, pointer))
  }
  if (condition.type === "property") return numberFaults(condition.values, `${pointer}/values`)
  if (condition.type === "revenue") return moneyFaults(condition, pointer)
  return []
}

/** Returns the place of a fault in a condition: its filter is the first of a list, and the value of an event or page is not a list. */
const placeIn = (pointer: string, single: boolean): string => {
  const place = pointer.replace(/^\/0/, "")
  return single ? place.replace(/^\/values(\/0)?/, "/value") : place
}

function visitFaults(condition: Condition, pointer: string): Fault[] {
  if (condition.type !== "dimension") return []
  const isOfVisits = VISIT_DIMENSIONS.some((known) => known === condition.dimension)
  return isOfVisits ? [] : [fault(`${pointer}/dimension`, "invalid_choice", "must be a dimension of visits", VISIT_DIMENSIONS)]
}

/** The dimensions of visits in the flat form. */
export const VISIT_DIMENSIONS = [
  ...["entry_page", "exit_page", "source", "referrer", "channel", "utm_source", "utm_medium", "utm_campaign", "utm_term", "utm_content"],
  ...["country", "region", "city", "device", "size", "browser", "browser_version", "os", "os_version", "language"],
] as const

function numberFaults(given: unknown, pointer: string): Fault[] {
  if (!Array.isArray(given)) return [fault(pointer, "invalid_type", "must be a list")]
  if (given.length === 0) return [fault(pointer, "too_few", "must have at least 1 item")]
  if (given.length > 50) return [fault(pointer, "too_many", "must have at most 50 items")]
  return given.flatMap((item, i) =>
    isDecimal(item) ? [] : [fault(`${pointer}/${i}`, "invalid_type", 'must be a decimal number such as "12.50"')],
  )
}

function moneyFaults({ amount, currency }: { amount: string; currency: string }, pointer: string): Fault[] {
  const decimals = currencyDecimals(currency)
  if (decimals === undefined) return [fault(`${pointer}/currency`, "invalid_choice", "must be an active currency, such as EUR")]
  if (!isDecimal(amount)) return [fault(`${pointer}/amount`, "invalid_type", 'must be a decimal number such as "12.50"')]
  if ((amount.split(".")[1] ?? "").length > decimals)
    return [fault(`${pointer}/amount`, "out_of_range", `must have at most ${decimals} decimals in ${currency}`)]
  return Number.isSafeInteger(minorUnits(amount, decimals)) ? [] : [fault(`${pointer}/amount`, "out_of_range", "is too large")]
}

/** Returns a decimal amount in minor units, without ever being a fraction. */
export function minorUnits(amount: string, decimals: number): number {
  const [whole = "0", fraction = ""] = amount.split(".")
  return Number(`${whole}${fraction.padEnd(decimals, "0")}`)
}

function windowFaults(window: unknown, pointer: string): Fault[] {
  if (window === undefined) return []
  if (!isObject(window)) return [fault(pointer, "invalid_type", "must be an object")]
  const schema = typeof window.type === "string" && Object.hasOwn(WINDOWS, window.type) ? WINDOWS[window.type] : undefined
  const types = Object.keys(WINDOWS)
  if (!schema)
    return [
      fault(`${pointer}/type`, window.type === undefined ? "required" : "invalid_choice", `must be one of: ${types.join(", ")}`, types),
    ]
  const { faults } = inspect(schema as ReturnType<typeof t.Object>, window, pointer, [])
  if (faults.length > 0 || window.type !== "between") return faults
  const [from, to] = [parseDay(String(window.from)), parseDay(String(window.to))]
  if (!from || !to)
    return [
      ...(from ? [] : [fault(`${pointer}/from`, "invalid_date", "must be a calendar date, YYYY-MM-DD")]),
      ...(to ? [] : [fault(`${pointer}/to`, "invalid_date", "must be a calendar date, YYYY-MM-DD")]),
    ]
  return Temporal.PlainDate.compare(from, to) <= 0 ? [] : [fault(`${pointer}/to`, "invalid_range", "must not be before from")]
}

/** Cohorts can't be filters of a condition, also not within a segment; segments are those of the whole site. */
export function filterFaults(filters: unknown, pointer: string): Fault[] {
  const named = Array.isArray(filters) ? filters.findIndex((filter) => isObject(filter) && filter.dimension === "cohort") : -1
  if (named >= 0)
    return [
      fault(`${pointer}/${named}/dimension`, "unsupported_combination", "cannot be a cohort here. Add a condition of the type cohort"),
    ]
  // Which segments exist is found out when the definition is resolved.
  return readFilterList(filters, pointer, () => ({ op: "and", filters: [] })).faults
}

/** Throws `invalid_definition` for windows after a condition that has no moment at which it is first met. */
function refuseMeaningless(definition: Definition, pointer: string): void {
  const errors = groupsOf(definition, pointer).flatMap(({ group, at }) =>
    group.conditions.flatMap((item, i) => {
      if (isGroup(item) || item.window?.type !== "after") return []
      const reference = group.conditions[item.window.condition]
      const place = `${at}/conditions/${i}/window/condition`
      if (item.window.condition >= i || !reference || isGroup(reference))
        return [fault(place, "invalid_definition", "must be the index of an earlier condition of the same group")]
      return hasMoment(reference)
        ? []
        : [fault(place, "invalid_definition", "refers to a condition without a moment at which it is first met")]
    }),
  )
  if (errors.length > 0) throw cohortError("invalid_definition", "A condition of the definition can't be evaluated.", { errors })
}

const groupsOf = (group: Definition, at: string): { group: Definition; at: string }[] => [
  { group, at },
  ...group.conditions.flatMap((item, i) => (isGroup(item) ? groupsOf(item, `${at}/conditions/${i}`) : [])),
]

/** Returns whether a single event or visit start can make the condition true. */
function hasMoment(condition: Condition): boolean {
  if (condition.negate || condition.type === "cohort") return false
  if (condition.type === "revenue") return condition.operator === "gt" || condition.operator === "gte"
  const count = "count" in condition ? condition.count : undefined
  return count === undefined || (count.op === "gte" && count.n > 0)
}
