import { type Static, Type as t } from "@sinclair/typebox"
import { type Fault, fault, inspect, isObject, missingPermission, type PeopleSet, type Range, refuseFaults, type Site } from "#plugin"
import { daysOf, engineCaller, percent, type ReportCaller, readAsOf, todayOf } from "./caller.ts"
import { type Cohort, type CohortsHost, type Condition, type Definition, isGroup, LIMITS, type Restriction } from "./cohort.ts"
import { conditionsOf, DefinitionInput, readDefinition, VISIT_DIMENSIONS } from "./definition.ts"
import { refuseBroken, refuseCycle, type Setting, setOf, setOfCohort, untilOf, windowsOf } from "./resolve.ts"
import type { EvaluationResponse } from "./responses.ts"
import { RestrictInput } from "./schemas.ts"
import { hiddenGroups, isSmall, tellsSmallGroup } from "./small-groups.ts"

export const EvaluateInput = t.Object(
  {
    definition: t.Optional(DefinitionInput),
    cohort_id: t.Optional(t.Integer({ minimum: 1, description: "Id of a saved cohort, instead of a definition." })),
    as_of: t.Optional(t.String({ description: "Day as of which to evaluate, as YYYY-MM-DD. Default: today." })),
    compare_to: t.Optional(t.Any({ description: "`all`, or the id of a saved cohort to compare with." })),
    breakdown: t.Optional(
      t.Array(t.Any(), { maxItems: LIMITS.breakdowns, uniqueItems: true, description: "Up to three dimensions of visits." }),
    ),
    trend_days: t.Optional(t.Integer({ minimum: 0, maximum: LIMITS.trendDays, description: "Days of the trend. Default: 14." })),
    restrict: t.Optional(RestrictInput),
  },
  { additionalProperties: false, title: "EvaluateCohort" },
)
const Shallow = t.Object({ ...EvaluateInput.properties, definition: t.Optional(t.Any()) }, { additionalProperties: false })

/** A request to evaluate a definition, or a saved cohort. */
interface EvaluationRequest {
  definition: Definition | undefined
  cohortId: number | undefined
  asOf: Temporal.PlainDate
  compareTo: "all" | number | undefined
  breakdown: readonly (typeof VISIT_DIMENSIONS)[number][]
  trendDays: number
  restrict: Restriction | null | undefined
}

function readRequest(body: unknown, today: Temporal.PlainDate): EvaluationRequest {
  const { fields, faults } = inspect(Shallow, body, "", [])
  const given = isObject(body) ? body : {}
  const definition = given.definition === undefined ? undefined : readDefinition(given.definition, "/definition", faults)
  if (given.definition === undefined && given.cohort_id === undefined && isObject(body))
    faults.push(fault("/definition", "required", "or cohort_id is required"))
  if (given.definition !== undefined && given.cohort_id !== undefined)
    faults.push(fault("/cohort_id", "unsupported_combination", "cannot be combined with definition"))
  const asOf = readAsOf(fields.as_of, "/as_of", { usual: today, today }, faults)
  faults.push(...compareFaults(given.compare_to), ...dimensionFaults(fields.breakdown ?? []))
  refuseFaults(faults)
  const { cohort_id: cohortId, trend_days: trendDays = 14, restrict } = fields as Static<typeof Shallow> // valid, or rejected above
  return {
    ...{ definition, cohortId, asOf, trendDays, restrict },
    compareTo: fields.compare_to as "all" | number | undefined,
    breakdown: (fields.breakdown ?? []) as EvaluationRequest["breakdown"],
  }
}

const compareFaults = (given: unknown): Fault[] =>
  given === undefined || given === "all" || (Number.isSafeInteger(given) && (given as number) > 0)
    ? []
    : [fault("/compare_to", "invalid_choice", "must be all or the id of a cohort", ["all"])]

const dimensionFaults = (given: readonly unknown[]): Fault[] =>
  given.flatMap((name, i) =>
    VISIT_DIMENSIONS.some((known) => known === name)
      ? []
      : [fault(`/breakdown/${i}`, "invalid_choice", "must be a dimension of visits", VISIT_DIMENSIONS)],
  )

interface EvaluationParts {
  settingOf(site: Site): Promise<Setting>
  /** Returns a cohort of the site. Throws `cohort_not_found`. */
  find(site: Site, id: number): Promise<Cohort>
}

/** The result of computing one cohort. */
export interface Computation {
  size: number
  pending: number
  coverage: number
  /** The smallest number of people, other than none, by which leaving out one condition or filter changes the size. */
  leastDifference: number | null
  tookMs: number
}

const MAX_ROWS = 100

export function createEvaluation(host: CohortsHost, { settingOf, find }: EvaluationParts) {
  const { people } = host.services

  /** Opens a definition: who counts, and the sets to compute. Throws `identity_insufficient`. */
  async function open(site: Site, setting: Setting, { definition, cohort, restrict }: Subject, more: readonly Range[] = []) {
    const windows = [...(definition ? windowsOf(definition, setting) : []), ...more]
    const day = daysOf(setting.asOf, setting.asOf, setting.timezone)
    const range = windows.reduce((all, { from, to }) => ({ from: Math.min(all.from, from), to: Math.max(all.to, to) }), day)
    const counted = await people.resolve({ site, range, ...(restrict === "identified" && { restrict }) })
    const setAsOf = (asOf: Temporal.PlainDate, left = definition): PeopleSet => {
      const past = { ...setting, asOf }
      if (cohort?.kind === "static") return setOfCohort(cohort, past, counted.scope)
      return setOf(left ?? EVERYONE, past, counted.scope)
    }
    return { counted, range, setAsOf }
  }

  return {
    /** Evaluates a definition or a saved cohort. Stores nothing. */
    async evaluate(caller: ReportCaller, body: unknown): Promise<EvaluationResponse> {
      const { site, least } = caller
      const today = todayOf(site, host.now())
      const request = readRequest(body, today)
      const cohort = request.cohortId === undefined ? undefined : await find(site, request.cohortId)
      const compared = typeof request.compareTo === "number" ? await find(site, request.compareTo) : undefined
      const setting = { ...(await settingOf(site)), asOf: request.asOf }
      const definition = request.definition ?? (cohort?.kind === "dynamic" ? cohort.definition : undefined)
      if (definition) {
        refuseRevenue(definition, caller, setting)
        refuseCycle(cohort?.id, definition, setting.cohorts)
        refuseBroken(definition, setting)
      }
      if (compared?.kind === "dynamic") refuseBroken(compared.definition, setting)
      const restrict = request.restrict ?? cohort?.restrict ?? null
      const also = compared?.kind === "dynamic" ? windowsOf(compared.definition, setting) : []
      const { counted, range, setAsOf } = await open(site, setting, { definition, cohort, restrict }, also)
      const trend = Array.from({ length: request.trendDays }, (_, i) => request.asOf.subtract({ days: request.trendDays - 1 - i }))
      const variants = least > 0 && definition ? leaveOneOut(definition) : []
      const started = performance.now()
      const result = await host.engine.evaluate(
        {
          site: counted.scope.site,
          set: setAsOf(request.asOf),
          range,
          ...(compared && { comparedTo: setOfCohort(compared, setting, counted.scope) }),
          breakdown: request.breakdown,
          earlier: [...trend.map((day) => setAsOf(day)), ...variants.map((left) => setAsOf(request.asOf, left))],
        },
        engineCaller(caller),
      )
      const tookMs = Math.round(performance.now() - started)
      const sizes = result.earlier.slice(0, trend.length)
      const others = result.earlier.slice(trend.length)
      const { size, pending, total } = result
      const isHidden = (people: number) => isSmall(people, least)
      const hidesSize = isHidden(size) || tellsSmallGroup(size, others, least)
      let groups = Number(hidesSize)
      const shown = (people: number, hides: boolean): number | null => {
        groups += Number(hides)
        return hides ? null : people
      }
      const breakdown = request.breakdown.map((dimension, i) => {
        const rows = result.breakdown[i]!
        const hidden = hiddenGroups(
          rows.map(({ people }) => people),
          least,
        )
        const kept = rows.filter((row, at) => row.people > 0 && !hidden[at] && !hidesSize && !isHidden(row.total))
        groups += rows.filter(({ people }) => people > 0).length - kept.length
        return {
          dimension,
          rows: kept.slice(0, MAX_ROWS).map((row) => ({
            value: row.value,
            people: row.people,
            share: percent(row.people, size),
            share_of_all: percent(row.total, total),
          })),
        }
      })
      const pair = request.compareTo === "all" ? { size: total, people: size } : result.compared
      const hidesPair =
        pair !== undefined && (hidesSize || [pair.size, pair.people, pair.size - pair.people, size - pair.people].some(isHidden))
      return {
        size: hidesSize ? null : size,
        pending: shown(pending, isHidden(pending)),
        share_of_people: hidesSize || isHidden(total) ? null : percent(size, total),
        people_total: shown(total, isHidden(total)),
        identity: counted.identity(result.coverage),
        trend: trend.map((day, i) => ({ day: day.toString(), size: shown(sizes[i]!, hidesSize || isHidden(sizes[i]!)) })),
        breakdown,
        ...(pair && { compared: { size: hidesPair ? null : pair.size, people: hidesPair ? null : pair.people } }),
        suppressed: { below: least, groups },
        computed_at: new Date(host.now()).toISOString().replace(/\.\d+Z$/, "Z"),
        took_ms: tookMs,
        meta: { as_of: request.asOf.toString(), timezone: site.timezone },
      }
    },

    /** Computes a saved cohort as of today. Throws `broken_reference` and `identity_insufficient`. */
    async compute(site: Site, cohort: Cohort, signal?: AbortSignal): Promise<Computation> {
      const setting = { ...(await settingOf(site)), asOf: todayOf(site, host.now()) }
      const definition = cohort.kind === "dynamic" ? cohort.definition : undefined
      if (definition) refuseBroken(definition, setting)
      const { counted, range, setAsOf } = await open(site, setting, { definition, cohort, restrict: cohort.restrict })
      const variants = definition ? leaveOneOut(definition) : []
      const started = performance.now()
      const result = await host.engine.evaluate(
        {
          site: counted.scope.site,
          set: setAsOf(setting.asOf),
          range,
          breakdown: [],
          earlier: variants.map((left) => setAsOf(setting.asOf, left)),
        },
        { organizationId: site.organization_id, ...(signal && { signal }) },
      )
      const differences = result.earlier.map((size) => Math.abs(size - result.size)).filter((size) => size > 0)
      return {
        size: result.size,
        pending: result.pending,
        coverage: counted.identity(result.coverage).coverage,
        leastDifference: differences.length > 0 ? Math.min(...differences) : null,
        tookMs: Math.round(performance.now() - started),
      }
    },

    /** Returns the set of a saved cohort for a filter, with the time in which it looks. Throws `broken_reference`. */
    async filterSet(site: Site, cohort: Cohort) {
      const setting = { ...(await settingOf(site)), asOf: todayOf(site, host.now()) }
      if (cohort.kind === "dynamic") refuseBroken(cohort.definition, setting)
      return {
        windows: cohort.kind === "dynamic" ? windowsOf(cohort.definition, setting) : [],
        until: untilOf(setting),
        set: (scope: PeopleSet["scope"]): PeopleSet => setOfCohort(cohort, setting, scope),
      }
    },
  }
}
export type Evaluation = ReturnType<typeof createEvaluation>

interface Subject {
  definition: Definition | undefined
  cohort: Cohort | undefined
  restrict: Restriction | null
}

const EVERYONE: Definition = { conditions: [] }

/** Throws `forbidden` for a definition that looks at revenue, which not everyone may see. */
function refuseRevenue(definition: Definition, { seesRevenue }: ReportCaller, { cohorts }: Setting): void {
  const looks = (one: Definition): boolean =>
    conditionsOf(one).some((condition) => {
      if (condition.type === "revenue") return true
      const other = condition.type === "cohort" ? cohorts.get(condition.cohort_id) : undefined
      return other?.kind === "dynamic" && looks(other.definition)
    })
  if (!seesRevenue && looks(definition))
    throw missingPermission("revenue:read", "The definition looks at revenue, which requires the permission revenue:read.")
}

/** Returns the definition without each of its conditions, and without each filter of a condition. Without conditions it is everyone. */
export function leaveOneOut(definition: Definition): Definition[] {
  return definition.conditions.flatMap((item, i): Definition[] => {
    const replaced = (by: Condition | Definition): Definition => ({ ...definition, conditions: definition.conditions.with(i, by) })
    const others = isGroup(item)
      ? leaveOneOut(item)
          .filter(({ conditions }) => conditions.length > 0)
          .map(replaced)
      : (item.filters ?? []).map((_, at) => replaced({ ...item, filters: item.filters!.toSpliced(at, 1) }))
    return [without(definition, i), ...others]
  })
}

/** Returns a definition without a condition. Windows after it lose their reference, and those after later ones follow their index. */
function without(definition: Definition, index: number): Definition {
  const conditions = definition.conditions.toSpliced(index, 1).map((item) => {
    if (isGroup(item) || item.window?.type !== "after" || item.window.condition < index) return item
    const { window, ...rest } = item
    return (window.condition === index ? rest : { ...rest, window: { ...window, condition: window.condition - 1 } }) as Condition
  })
  return { ...definition, conditions }
}
