/**
 * What the reports on people have in common: filters that can name cohorts, the cohort whose people count, the rule of identity, and the
 * numbers that must not be shown because leaving something out would tell a small group.
 */
import {
  type CountedPeople,
  type Filter,
  filtersSeenBy,
  mapConcurrent,
  type PeopleScope,
  type PeopleSet,
  parseNaming,
  type Range,
  readFilterList,
  refuseFaults,
  type SavedFilter,
  type SavedFilters,
  type Site,
  type SiteFacts,
  withBrokenReference,
} from "#plugin"
import { type ReportCaller, todayOf } from "./caller.ts"
import type { Cohort, CohortsHost, Restriction } from "./cohort.ts"
import { AT_ONCE, type Evaluation, looksAtRevenue } from "./evaluation.ts"
import { cohortVariants, isTelling, measureVariants } from "./leave-one-out.ts"
import { brokenReferences, type Setting, setOfCohort, windowsOf } from "./resolve.ts"

/** What every report on people is asked for. */
export interface ReportRequest {
  filters: readonly SavedFilter[]
  cohortId: number | undefined
  restrict: Restriction | null | undefined
}

/** Range of a report. With `separate` windows, it is answered if people are recognized in one of them, such as a cell. */
export interface ReportRange {
  range: Range
  separate?: readonly Range[]
}

/** What all queries for a report have in common. */
export interface ReportQuery {
  site: SiteFacts
  scope: PeopleScope
  filter?: Filter
  among?: PeopleSet
}

/** A result, and which of its numbers are hidden from the caller. */
export interface Measured<Result> {
  result: Result
  /** Returns whether a number of the result is small, or leaving out a filter or condition changes it by a small group. */
  hides(numberOf: (result: Result) => number): boolean
}

export interface OpenReport {
  counted: CountedPeople
  query: ReportQuery
  /** Runs the query, for those who may not see people also without each filter and condition. */
  measure<Result>(run: (query: ReportQuery) => Promise<Result>): Promise<Measured<Result>>
}

/** A report, or one without a filter, without its cohort, or with a condition of a cohort left out. */
interface Subject {
  filters: readonly SavedFilter[]
  cohortId: number | undefined
  cohorts: ReadonlyMap<number, Cohort>
}

interface ReportParts {
  settingOf(site: Site): Promise<Setting>
  /** Returns a cohort of the site. Throws `cohort_not_found`. */
  find(site: Site, id: number): Promise<Cohort>
  evaluation: Evaluation
}

const EVERYONE: Filter = { op: "and", filters: [] }
/** Replaces a filter whose segment was deleted since it was read. */
const NOBODY: Filter = { op: "or", filters: [] }

export function createReports(host: CohortsHost, { settingOf, find, evaluation }: ReportParts) {
  const segmentsOf = ({ site, userId, seesRevenue }: ReportCaller): SavedFilters =>
    filtersSeenBy(host.services.segments.saved(site, userId), site, seesRevenue)

  /** Returns whether a caller can name a cohort in a filter. */
  async function usable(caller: ReportCaller, id: number, setting: Setting): Promise<Filter | "broken" | undefined> {
    const cohort = setting.cohorts.get(id)
    if (!cohort || (!caller.seesRevenue && looksAtRevenue(cohort.definition, setting))) return undefined
    if (cohort.kind === "dynamic" && brokenReferences(cohort.definition, setting).length > 0) return "broken"
    return (await evaluation.hidesCohort(caller, cohort)) ? undefined : EVERYONE
  }

  return {
    /**
     * Reads a request whose filters can name segments and cohorts, and checks the filters that always apply. Throws what `parse` throws,
     * and `broken_reference`.
     */
    async read<Request>(caller: ReportCaller, parse: (saved: SavedFilters) => Request): Promise<Request> {
      const segments = segmentsOf(caller)
      const parseWith = (lookup: (id: number) => ReturnType<SavedFilters>): Request => {
        const find: SavedFilters = (kind, id) => (kind === "cohort" ? lookup(id) : segments(kind, id))
        const saved = Object.assign(find, { hides: segments.hides })
        refuseFaults(readFilterList(caller.locked ?? [], "/filters", saved).faults)
        return parse(saved)
      }
      const { ids, parsed } = parseNaming(parseWith)
      if (ids.size === 0) return parsed()
      const setting = await settingOf(caller.site)
      const found = new Map(await Promise.all([...ids].map(async (id) => [id, await usable(caller, id, setting)] as const)))
      return withBrokenReference(() => parseWith((id) => found.get(id)))
    },

    /**
     * Opens a report that was read. Throws `cohort_not_found`, `forbidden`, `broken_reference`, `validation_failed` if the size of its
     * cohort is hidden, and `identity_insufficient`.
     */
    async open(caller: ReportCaller, request: ReportRequest, { range, separate }: ReportRange): Promise<OpenReport> {
      const { site, least } = caller
      const segments = segmentsOf(caller)
      const cohort = request.cohortId === undefined ? undefined : await find(site, request.cohortId)
      if (cohort) await evaluation.admit(caller, cohort)
      const setting = { ...(await settingOf(site)), asOf: todayOf(site, host.now()) }
      const filters = distinct([...request.filters, ...(caller.locked ?? [])])
      // One by one, because a list has a maximum length.
      const toFilters = (rules: readonly SavedFilter[], cohort: (id: number) => ReturnType<SavedFilters>): Filter[] =>
        rules.map((rule) => {
          const { filter } = readFilterList([rule], "", (kind, id) => (kind === "cohort" ? cohort(id) : segments(kind, id)))
          return filter ?? NOBODY
        })
      const { ids } = parseNaming((lookup) => toFilters(filters, lookup))
      const named = [...ids]
        .map((id) => setting.cohorts.get(id))
        .concat(cohort)
        .filter((one) => one !== undefined)
      const windows = named.flatMap((one) => (one.kind === "dynamic" ? windowsOf(one.definition, setting) : []))
      const restrict = request.restrict ?? named.find((one) => one.restrict)?.restrict
      const counted = await host.services.people.resolve({
        ...{ site, range },
        ...(separate ? { separate: separate.map((window) => spanOf([window, ...windows])) } : { windows }),
        ...(restrict && { restrict }),
      })
      const { scope } = counted
      const queryOf = ({ filters, cohortId, cohorts }: Subject): ReportQuery => {
        const setFor = (id: number) => setOfCohort(cohorts.get(id)!, { ...setting, cohorts }, scope) // found above
        const all = toFilters(filters, (id) => (cohorts.has(id) ? { op: "people", set: setFor(id) } : undefined))
        if (caller.lockedFilter) all.push(caller.lockedFilter)
        return {
          site: scope.site,
          scope,
          ...(all.length > 0 && { filter: { op: "and", filters: all } }),
          ...(cohortId !== undefined && { among: setFor(cohortId) }),
        }
      }
      const whole: Subject = { filters, cohortId: request.cohortId, cohorts: setting.cohorts }
      const query = queryOf(whole)
      return {
        counted,
        query,
        async measure(run) {
          const result = await run(query)
          if (least === 0) return { result, hides: () => false }
          const variants = await measureVariants(whole, result, {
            variantsOf: (subject) => leftOut(subject, ids),
            measure: (subjects) => mapConcurrent(subjects, AT_ONCE, (subject) => run(queryOf(subject))),
            isSame: (left, other) => Bun.deepEquals(left, other),
          })
          return { result, hides: (numberOf) => variants === undefined || isTelling(variants, numberOf, least) }
        },
      }
    },
  }
}
export type Reports = ReturnType<typeof createReports>

/** Returns a report without each of its filters, without its cohort, and with each condition of its cohorts left out. */
function leftOut({ filters, cohortId, cohorts }: Subject, named: ReadonlySet<number>): Subject[] {
  const ids = [...named, ...(cohortId === undefined ? [] : [cohortId])]
  return [
    ...filters.map((_, i) => ({ filters: filters.toSpliced(i, 1), cohortId, cohorts })),
    ...(cohortId === undefined ? [] : [{ filters, cohortId: undefined, cohorts }]),
    ...cohortVariants(ids, cohorts).map((left) => ({ filters, cohortId, cohorts: left })),
  ]
}

/** Of equal filters, leaving out one changes nothing. */
const distinct = (filters: readonly SavedFilter[]): SavedFilter[] => [...new Map(filters.map((one) => [JSON.stringify(one), one])).values()]

/** Returns the range from the start of the first to the end of the last one. */
const spanOf = (ranges: readonly Range[]): Range => ({
  from: Math.min(...ranges.map(({ from }) => from)),
  to: Math.max(...ranges.map(({ to }) => to)),
})
