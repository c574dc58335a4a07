import { type Static, Type as t } from "@sinclair/typebox"
import {
  type Fault,
  fault,
  inspect,
  isObject,
  mapConcurrent,
  missingPermission,
  namesProperty,
  type PeopleSet,
  type Range,
  readFilterList,
  refuseFaults,
  type Site,
} from "#plugin"
import { daysOf, engineCaller, percent, type ReportCaller, readAsOf, todayOf } from "./caller.ts"
import { type Cohort, type CohortsHost, type Definition, LIMITS, type Restriction } from "./cohort.ts"
import { conditionsOf, DefinitionInput, readDefinition, VISIT_DIMENSIONS } from "./definition.ts"
import { isTelling, leastDifferenceOf, measureVariants, type Variant, variantsOf } from "./leave-one-out.ts"
import { refuseBroken, refuseCycle, type Setting, setOf, setOfCohort, untilOf, windowsOf } from "./resolve.ts"
import type { EvaluationResponse } from "./responses.ts"
import { type Computed, keepComputed } from "./rows.ts"
import { RestrictInput } from "./schemas.ts"
import { hiddenGroups, hidesSize as hidesSizeOf, isSmall } from "./small-groups.ts"

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

/** How long a computed size decides whether those who may not see small groups can name a cohort. */
const SIZE_VALID_MS = 600_000
const MAX_ROWS = 100
/** Variants that are measured at a time, so that they leave room for the reports of others. */
export const AT_ONCE = 2

export function createEvaluation(host: CohortsHost, { settingOf, find }: EvaluationParts) {
  const { people } = host.services

  /** Opens a definition: who counts, and the sets to compute. Throws `identity_insufficient`. */
  async function open(site: Site, setting: Setting, { definition, cohort, restrict }: Subject, more: readonly Range[] = []) {
    const windows = [...(definition ? windowsOf(definition, setting) : []), ...more]
    const day = daysOf(setting.asOf, setting.asOf, setting.timezone)
    // Nothing before the data counts, but windows that begin before it are as long as they say.
    const first = Math.min(day.from, setting.firstAt ?? day.from)
    const range = windows.reduce(
      (all, { from, to }) => ({ from: Math.min(all.from, Math.max(from, first)), to: Math.max(all.to, to) }),
      day,
    )
    const counted = await people.resolve({ site, range, windows, ...(restrict === "identified" && { restrict }) })
    const setAsOf = (asOf: Temporal.PlainDate, variant?: Variant): PeopleSet => {
      const past = { ...setting, ...(variant && { cohorts: variant.cohorts }), asOf }
      if (cohort?.kind === "static") return setOfCohort(cohort, past, counted.scope)
      return setOf(variant?.definition ?? definition ?? EVERYONE, past, counted.scope)
    }
    return { counted, range, setAsOf }
  }

  /** Computes a saved cohort as of today. Throws `broken_reference` and `identity_insufficient`. */
  async function compute(site: Site, cohort: Cohort, signal?: AbortSignal): Promise<Computed> {
    const setting = { ...(await settingOf(site)), asOf: todayOf(site, host.now()) }
    const definition = cohort.kind === "dynamic" ? cohort.definition : undefined
    if (definition) refuseBroken(definition, setting)
    const { counted, range, setAsOf } = await open(site, setting, { definition, cohort, restrict: cohort.restrict })
    const started = performance.now()
    const measure = (variants: readonly Variant[]) =>
      host.engine.evaluate(
        {
          site: counted.scope.site,
          set: setAsOf(setting.asOf),
          range,
          breakdown: [],
          earlier: variants.map((variant) => setAsOf(setting.asOf, variant)),
        },
        { organizationId: site.organization_id, ...(signal && { signal }) },
      )
    const result = await measure([])
    const variants =
      definition &&
      (await measureVariants(
        { definition, cohorts: setting.cohorts },
        { size: result.size },
        {
          variantsOf,
          measure: async (variants: readonly Variant[]) => (await measure(variants)).earlier.map((size) => ({ size })),
          isSame: (left, whole) => left.size === whole.size,
        },
      ))
    return {
      size: result.size,
      pending: result.pending,
      coverage: counted.identity(result.coverage).coverage,
      // Nobody knows which groups the size of a frozen cohort tells but those who froze it. Too many variants tell anything.
      least_difference: definition ? (variants ? leastDifferenceOf(variants) : 1) : cohort.least_difference,
      compute_ms: Math.round(performance.now() - started),
    }
  }

  /** Computes a saved cohort, keeps the result and returns it. */
  async function refresh(site: Site, cohort: Cohort, signal?: AbortSignal): Promise<Computed> {
    const computed = await compute(site, cohort, signal)
    await keepComputed(host.db, cohort, computed, host.now())
    return computed
  }

  /** Returns whether someone must not learn the size of a saved cohort, which every number about its people would tell. */
  async function hidesCohort({ site, least, signal }: Pick<ReportCaller, "site" | "least" | "signal">, cohort: Cohort): Promise<boolean> {
    if (least === 0) return false
    const isFresh = cohort.computed_at !== null && host.now() - cohort.computed_at < SIZE_VALID_MS
    return hidesSizeOf(isFresh ? cohort : await refresh(site, cohort, signal), least)
  }

  /** Returns the set of a saved cohort for a filter, with the time in which it looks. Throws `broken_reference`. */
  async function filterSet(site: Site, cohort: Cohort) {
    const setting = { ...(await settingOf(site)), asOf: todayOf(site, host.now()) }
    if (cohort.kind === "dynamic") refuseBroken(cohort.definition, setting)
    return {
      windows: cohort.kind === "dynamic" ? windowsOf(cohort.definition, setting) : [],
      until: untilOf(setting),
      set: (scope: PeopleSet["scope"]): PeopleSet => setOfCohort(cohort, setting, scope),
    }
  }

  /**
   * Refuses a report on a cohort to those who may not see it. Throws `forbidden` for one that looks at revenue, `broken_reference`, and
   * `validation_failed` if its size is hidden.
   */
  async function admit(caller: ReportCaller, cohort: Cohort): Promise<void> {
    const setting = await settingOf(caller.site)
    refuseRevenue(cohort.definition, caller, setting)
    if (cohort.kind === "dynamic") refuseBroken(cohort.definition, setting)
    if (await hidesCohort(caller, cohort))
      refuseFaults([fault("/cohort_id", "invalid_choice", "is a cohort whose size is hidden, because it tells a small group of people")])
  }

  return {
    compute,
    refresh,
    hidesCohort,
    filterSet,
    admit,

    /** Returns the set of a saved cohort for someone's report. Throws `forbidden`, and `validation_failed` if its size is hidden. */
    async setFor(caller: ReportCaller, cohort: Cohort) {
      await admit(caller, cohort)
      return filterSet(caller.site, cohort)
    },

    /** Evaluates a definition or a saved cohort. Stores nothing. */
    async evaluate(caller: ReportCaller, body: unknown): Promise<EvaluationResponse> {
      const { site, least } = caller
      const today = todayOf(site, host.now())
      const request = readRequest(body, today)
      const cohort = request.cohortId === undefined ? undefined : await find(site, request.cohortId)
      const compared = typeof request.compareTo === "number" ? await find(site, request.compareTo) : undefined
      const setting = { ...(await settingOf(site)), asOf: request.asOf }
      const definition = request.definition ?? (cohort?.kind === "dynamic" ? cohort.definition : undefined)
      for (const named of [cohort, compared]) if (named) refuseRevenue(named.definition, caller, setting)
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
      const started = performance.now()
      const measure = (variant: Variant | undefined, comparedTo: PeopleSet | undefined) =>
        host.engine.evaluate(
          {
            ...{ site: counted.scope.site, set: setAsOf(request.asOf, variant), range, breakdown: request.breakdown },
            ...(comparedTo && { comparedTo }),
            earlier: trend.map((day) => setAsOf(day, variant)),
          },
          engineCaller(caller),
        )
      const setToCompare = compared && setOfCohort(compared, setting, counted.scope)
      const result = await measure(undefined, setToCompare)
      const variants =
        least > 0 && definition
          ? await measureVariants({ definition, cohorts: setting.cohorts }, result, {
              variantsOf,
              measure: (variants: readonly Variant[]) => mapConcurrent(variants, AT_ONCE, (variant) => measure(variant, setToCompare)),
              isSame: (left, whole) => left.size === whole.size,
            })
          : { numbers: result, left: [] }
      const hides = (numberOf: (numbers: typeof result) => number): boolean =>
        least > 0 && (variants === undefined || isTelling(variants, numberOf, least))
      const tookMs = Math.round(performance.now() - started)
      const sizes = result.earlier
      const { size, pending, total } = result
      const isHidden = (people: number) => isSmall(people, least)
      const hidesFrozen = cohort?.kind === "static" && (await hidesCohort(caller, cohort))
      const hidesSize = hidesFrozen || isHidden(total - size) || hides((numbers) => numbers.size)
      let groups = Number(hidesSize)
      const shown = (people: number, hides: boolean): number | null => {
        groups += Number(hides)
        return hides ? null : people
      }
      const breakdown = request.breakdown.map((dimension, i) => {
        const rows = result.breakdown[i]!
        const peopleIn = (numbers: typeof result, value: string | null) =>
          numbers.breakdown[i]!.find((row) => row.value === value)?.people ?? 0
        const isOwnHidden = rows.map((row) => isHidden(row.total - row.people) || hides((numbers) => peopleIn(numbers, row.value)))
        const hidden = hiddenGroups(
          rows.map(({ people }) => people),
          least,
          (at) => isOwnHidden[at]!,
        )
        const hiddenTotals = hiddenGroups(
          rows.map(({ total }) => total),
          least,
        )
        const kept = rows.filter((row, at) => row.people > 0 && !hidden[at] && !hiddenTotals[at] && !hidesSize)
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
      const pairTells = async (): Promise<boolean> => {
        if (!compared || least === 0) return false
        if (await hidesCohort(caller, compared)) return true
        if (compared.kind === "static") return false
        const peopleIn = (numbers: typeof result) => numbers.compared?.people ?? 0
        const others = await measureVariants({ definition: compared.definition, cohorts: setting.cohorts }, result, {
          variantsOf,
          measure: (variants: readonly Variant[]) =>
            mapConcurrent(variants, AT_ONCE, ({ definition, cohorts }) =>
              measure(undefined, setOfCohort({ ...compared, definition }, { ...setting, cohorts }, counted.scope)),
            ),
          isSame: (left, whole) => left.compared?.size === whole.compared?.size,
        })
        return others === undefined || isTelling(others, peopleIn, least)
      }
      const hidesPair =
        pair !== undefined &&
        (hidesSize ||
          [pair.size, pair.people, pair.size - pair.people, size - pair.people].some(isHidden) ||
          hides((numbers) => numbers.compared?.people ?? 0) ||
          (await pairTells()))
      return {
        size: hidesSize ? null : size,
        pending: shown(pending, hidesSize || hides((numbers) => numbers.pending)),
        share_of_people: hidesSize || isHidden(total) ? null : percent(size, total),
        people_total: shown(total, isHidden(total)),
        identity: counted.identity(result.coverage),
        trend: trend.map((day, i) => ({
          day: day.toString(),
          size: shown(sizes[i]!, hidesFrozen || hides((numbers) => numbers.earlier[i]!)),
        })),
        breakdown,
        ...(pair && { compared: { size: hidesPair ? null : pair.size, people: hidesPair ? null : pair.people } }),
        suppressed: { below: least, groups },
        computed_at: new Date(host.now()).toISOString().replace(/\.\d+Z$/, "Z"),
        took_ms: tookMs,
        meta: { as_of: request.asOf.toString(), timezone: site.timezone },
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

/** Returns whether a definition looks at revenue, itself or through the cohorts it refers to. */
export function looksAtRevenue(definition: Definition, setting: RevenueSetting): boolean {
  const { cohorts, saved, revealing } = setting
  const reveals = (property: string) => revealing.has(property)
  return conditionsOf(definition).some((condition) => {
    if (condition.type === "revenue" || (condition.type === "property" && reveals(condition.property))) return true
    const { filter } = readFilterList(condition.filters ?? [], "", saved)
    if (filter && namesProperty(filter, reveals)) return true
    const other = condition.type === "cohort" ? cohorts.get(condition.cohort_id) : undefined
    return other !== undefined && looksAtRevenue(other.definition, setting)
  })
}

type RevenueSetting = Pick<Setting, "cohorts" | "saved" | "revealing">

/** Throws `forbidden` for a definition that looks at revenue, which not everyone may see. */
export function refuseRevenue(definition: Definition, { seesRevenue }: Pick<ReportCaller, "seesRevenue">, setting: RevenueSetting): void {
  if (!seesRevenue && looksAtRevenue(definition, setting))
    throw missingPermission("revenue:read", "The definition looks at revenue, which requires the permission revenue:read.")
}
