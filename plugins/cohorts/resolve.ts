import {
  AppError,
  currencyDecimals,
  dayStart,
  type Fault,
  type Filter,
  fault,
  type PeopleCondition,
  type PeopleGroup,
  type PeopleScope,
  type PeopleSet,
  type PeopleTest,
  type PeopleWindow,
  type Range,
  readFilterList,
  type SavedFilters,
  type Condition as TextCondition,
} from "#plugin"
import { type Cohort, type Condition, type Definition, isGroup, LIMITS, type WindowRule } from "./cohort.ts"
import { conditionsOf, isDecimal, isNumeric, minorUnits, ownFilter } from "./definition.ts"
import { cohortError } from "./errors.ts"

/** What definitions of a site can refer to, and the day as of which they are evaluated. */
export interface Setting {
  timezone: string
  goals: readonly { id: number; name: string }[]
  funnels: readonly Funnel[]
  /** Cohorts by id, without deleted ones. */
  cohorts: ReadonlyMap<number, Cohort>
  /** Segments of the whole site. */
  saved: SavedFilters
  /** Properties whose values reveal revenue. */
  revealing: ReadonlySet<string>
  asOf: Temporal.PlainDate
  /** Start of the site's data in epoch ms; undefined without any. */
  firstAt: number | undefined
}

interface Funnel {
  id: number
  steps: readonly { type: "page" | "event"; match: "exact" | "prefix" | "contains" | "wildcard"; value: string }[]
  order: "sequential" | "strict"
  window_hours: number | null
}

/** End of the last day that an evaluation looks at, in epoch ms. */
export const untilOf = ({ asOf, timezone }: Pick<Setting, "asOf" | "timezone">): number => dayStart(asOf.add({ days: 1 }), timezone)

/**
 * Returns the time in which the conditions of a definition look, those of the cohorts it refers to included. A window that begins with an
 * event of the person can lie anywhere in the data.
 */
export function windowsOf(definition: Definition, setting: Setting): Range[] {
  const until = untilOf(setting)
  const everything = { from: Math.min(setting.firstAt ?? until, until - 1), to: until }
  return definition.conditions.flatMap((item): Range[] => {
    if (isGroup(item)) return windowsOf(item, setting)
    if (item.type === "cohort") {
      const cohort = setting.cohorts.get(item.cohort_id)
      return cohort?.kind === "dynamic" ? windowsOf(cohort.definition, setting) : []
    }
    // An absolute window counts as a whole, so that the same definition is refused before the site has as much data, too.
    return [absoluteWindow(item.window, setting) ?? everything]
  })
}

/** Returns the range of a window, or undefined for one that depends on the person or has no bounds. */
function absoluteWindow(window: WindowRule | undefined, { asOf, timezone }: Setting): Range | undefined {
  const until = untilOf({ asOf, timezone })
  switch (window?.type) {
    case "last_days":
      return { from: dayStart(asOf.subtract({ days: window.days - 1 }), timezone), to: until }
    case "between": {
      const to = dayStart(Temporal.PlainDate.from(window.to).add({ days: 1 }), timezone)
      return { from: dayStart(Temporal.PlainDate.from(window.from), timezone), to: Math.min(to, until) }
    }
    default:
      return undefined
  }
}

/** Returns the set of people of a definition. Throws `broken_reference` for a goal, funnel, segment or cohort that does not exist. */
export function setOf(definition: Definition, setting: Setting, scope: PeopleScope): PeopleSet {
  const faults: Fault[] = []
  const group = groupOf(definition, "/definition", { setting, scope, faults })
  if (faults.length > 0) throw brokenReference(faults)
  return keyed({ scope, until: untilOf(setting), members: { by: "group", group } })
}

/** Returns the set of a saved cohort, with people restricted as the cohort and the scope say. */
export function setOfCohort(cohort: Cohort, setting: Setting, scope: PeopleScope): PeopleSet {
  const own = cohort.restrict === "identified" ? { ...scope, identifiedOnly: true } : scope
  if (cohort.kind === "dynamic") return setOf(cohort.definition, setting, own)
  // The time at which the members were written is part of the statement, so that no worker uses those it read before.
  const text = "select visitors from cohorts_members where cohort_id = ? and ? > 0 order by chunk"
  return keyed({ scope: own, until: untilOf(setting), members: { by: "stored", text, values: [cohort.id, cohort.computed_at ?? 0] } })
}

/** Throws `broken_reference` if a definition refers to something that the site does not have. */
export function refuseBroken(definition: Definition, setting: Setting): void {
  const faults = brokenReferences(definition, setting)
  if (faults.length > 0) throw brokenReference(faults)
}

const brokenReference = (errors: Fault[]) =>
  new AppError("broken_reference", "The definition refers to something that does not exist on this site or was deleted.", { errors })

/** Returns a fault for each reference of a definition to something that the site does not have, those of other cohorts included. */
export function brokenReferences(definition: Definition, setting: Setting, pointer = "/definition"): Fault[] {
  return definition.conditions.flatMap((item, i): Fault[] => {
    const at = `${pointer}/conditions/${i}`
    if (isGroup(item)) return brokenReferences(item, setting, at)
    const own = referenceFault(item, setting, at)
    const { faults } = readFilterList(item.filters ?? [], `${at}/filters`, setting.saved)
    return [...(own ? [own] : []), ...faults.map((found) => ({ ...found, code: "broken_reference" }))]
  })
}

function referenceFault(condition: Condition, setting: Setting, at: string): Fault | undefined {
  const missing = (field: string, thing: string) => fault(`${at}/${field}`, "broken_reference", `is not the id of a ${thing} of this site`)
  switch (condition.type) {
    case "goal":
      return setting.goals.some(({ id }) => id === condition.goal_id) ? undefined : missing("goal_id", "goal")
    case "funnel": {
      const funnel = setting.funnels.find(({ id }) => id === condition.funnel_id)
      if (!funnel) return missing("funnel_id", "funnel")
      if ((condition.step ?? 1) <= funnel.steps.length) return undefined
      return fault(`${at}/step`, "broken_reference", `must be at most ${funnel.steps.length}, the number of steps of the funnel`)
    }
    case "cohort": {
      const cohort = setting.cohorts.get(condition.cohort_id)
      if (!cohort) return missing("cohort_id", "cohort")
      if (cohort.kind === "static") return undefined
      return brokenReferences(cohort.definition, setting).length > 0 ? missing("cohort_id", "cohort without broken references") : undefined
    }
    default:
      return undefined
  }
}

interface Context {
  setting: Setting
  scope: PeopleScope
  faults: Fault[]
}

function groupOf(definition: Definition, pointer: string, context: Context): PeopleGroup {
  const conditions = definition.conditions.map((item, i) => {
    const at = `${pointer}/conditions/${i}`
    return isGroup(item) ? groupOf(item, at, context) : conditionOf(item, at, context)
  })
  return { match: definition.match ?? "all", conditions }
}

function conditionOf(condition: Condition, pointer: string, context: Context): PeopleCondition {
  const broken = referenceFault(condition, context.setting, pointer)
  if (broken) context.faults.push(broken)
  const { filter, faults } = readFilterList(condition.filters ?? [], `${pointer}/filters`, context.setting.saved)
  context.faults.push(...faults.map((found) => ({ ...found, code: "broken_reference" })))
  const count = "count" in condition ? condition.count : undefined
  const window = windowOf(condition.window, context.setting)
  return {
    test: broken ? { of: "visits" } : testOf(condition, filter, context),
    negate: condition.negate ?? false,
    ...(count && { count }),
    ...(condition.type === "revenue" && { count: sumOf(condition) }),
    ...(window && { window }),
  }
}

const sumOf = ({ operator, amount, currency }: Extract<Condition, { type: "revenue" }>) => ({
  op: operator,
  n: minorUnits(amount, currencyDecimals(currency)!), // checked when it was read
})

function windowOf(window: WindowRule | undefined, setting: Setting): PeopleWindow | undefined {
  if (window?.type === "after_first_seen") return { afterFirstSeen: window.days }
  if (window?.type === "after") return { after: window.condition, days: window.days }
  const range = absoluteWindow(window, setting)
  return range && { range }
}

function testOf(condition: Condition, filter: Filter | undefined, { setting, scope }: Context): PeopleTest {
  const also = filter ? { filter } : {}
  switch (condition.type) {
    case "event":
      return { of: "events", filter: all(ownFilterOf(condition), not(named("pageview")), filter) }
    case "page":
      return { of: "events", filter: all(ownFilterOf(condition), named("pageview"), filter) }
    case "property":
      return {
        of: "events",
        filter: all(propertyFilter(condition), condition.event === undefined ? undefined : named(condition.event), filter),
      }
    case "dimension":
      return { of: "visits", filter: all(ownFilterOf(condition), filter) }
    case "goal": {
      const { name } = setting.goals.find(({ id }) => id === condition.goal_id)! // looked up before
      return { of: "events", filter: all(exactly("goal", name), filter) }
    }
    case "funnel": {
      const { steps, order, window_hours } = setting.funnels.find(({ id }) => id === condition.funnel_id)! // looked up before
      const window = window_hours === null ? {} : { windowMs: window_hours * 3_600_000 }
      return {
        of: "funnel",
        steps: steps.map(({ type, match, value }) => ({ type, match, value })),
        order,
        ...window,
        step: condition.step ?? steps.length,
        ...also,
      }
    }
    case "first_seen":
    case "active_days":
      return { of: condition.type, ...also }
    case "revenue":
      return { of: "revenue", currency: condition.currency, ...also }
    case "cohort":
      return { of: "set", set: setOfCohort(setting.cohorts.get(condition.cohort_id)!, setting, scope) } // looked up before
  }
}

const all = (...filters: (Filter | undefined)[]): Filter => {
  const given = filters.filter((filter) => filter !== undefined)
  return given.length === 1 ? given[0]! : { op: "and", filters: given }
}
const not = (filter: Filter): Filter => ({ op: "not", filter })
const exactly = (dimension: "event" | "goal", value: string): TextCondition => ({
  op: "is",
  dimension,
  values: [value],
  missing: false,
  caseSensitive: true,
})
const named = (event: string): Filter => exactly("event", event)

/** Returns the filter of an event, page or visit condition, whose form was checked when it was read. */
const ownFilterOf = (condition: Condition): Filter | undefined => readFilterList([ownFilter(condition)], "", () => undefined).filter

/** An event carries the property with such a value. `is_not` needs the property, too. */
function propertyFilter(condition: Extract<Condition, { type: "property" }>): Filter {
  const { property, operator = "is", values } = condition
  const text = { dimension: "property", property, missing: false, caseSensitive: true } as const
  if (isNumeric(operator)) return { ...text, op: operator as "gt", values: values.filter(isDecimal) }
  const filter = ownFilterOf(condition)!
  return operator === "is_not" ? all(not({ ...text, op: "is", values: [], missing: true }), filter) : filter
}

/** Names a set by its contents, so that an equal one is found in the cache of a worker for every caller. */
function keyed(set: Omit<PeopleSet, "key">): PeopleSet {
  const { site, timezone, identifiedOnly, deviceMs } = set.scope
  const contents = JSON.stringify([site.id, site.goals, timezone, identifiedOnly, deviceMs, set.until, set.members])
  return { ...set, key: new Bun.CryptoHasher("sha256").update(contents).digest("base64url") }
}

/** Throws `cohort_cycle` if a cohort would contain itself, directly or through others. */
export function refuseCycle(id: number | undefined, definition: Definition, cohorts: ReadonlyMap<number, Cohort>): void {
  const seen = new Set<number>()
  const visit = (current: Definition): void => {
    for (const item of current.conditions) {
      if (isGroup(item)) visit(item)
      else if (item.type === "cohort") {
        if (item.cohort_id === id) throw cohortError("cohort_cycle", "The cohort would contain itself through the cohorts it refers to.")
        const other = cohorts.get(item.cohort_id)
        if (other?.kind !== "dynamic" || seen.has(other.id)) continue
        seen.add(other.id)
        visit(other.definition)
      }
    }
  }
  visit(definition)
}

/**
 * Throws `too_many_conditions` if the definition of a cohort gave it, or another cohort of the site, too many references. Each level of
 * references multiplies them. Expects definitions without cycles.
 */
export function refuseTangle(id: number | undefined, definition: Definition, cohorts: ReadonlyMap<number, Cohort>): void {
  const known = new Map<number, number>()
  const referencesIn = (current: Definition): number =>
    conditionsOf(current).reduce((sum, condition) => sum + (condition.type === "cohort" ? 1 + referencesOf(condition.cohort_id) : 0), 0)
  const referencesOf = (cohortId: number): number => {
    const other = cohorts.get(cohortId)
    const own = cohortId === id ? definition : other?.kind === "dynamic" ? other.definition : undefined
    const count = known.get(cohortId) ?? (own ? referencesIn(own) : 0)
    known.set(cohortId, count)
    return count
  }
  if (Math.max(referencesIn(definition), ...[...cohorts.keys()].map(referencesOf)) > LIMITS.allReferences)
    throw cohortError(
      "too_many_conditions",
      `A definition can have at most ${LIMITS.allReferences} references to cohorts, including those of the cohorts it refers to.`,
    )
}
