import type { Clock } from "../../domain/clock.ts"
import { dimensionFacts } from "../../domain/dimension.ts"
import { AppError, type Fault, siteNotFound } from "../../domain/error.ts"
import type { PeopleIdentity } from "../../domain/identity.ts"
import type { ApiKey } from "../../domain/key.ts"
import type { Metric } from "../../domain/metric.ts"
import { isRevenueOpen } from "../../domain/permission.ts"
import type { AbsentValue, ImportFacts, Query, Range, Table } from "../../domain/query.ts"
import type { QueryAnswer } from "../../domain/query-answer.ts"
import { isObject } from "../../domain/shape.ts"
import type { Site } from "../../domain/site.ts"
import { normalizeText } from "../../domain/text.ts"
import type { Engine } from "../../query/engine/engine.ts"
import type { Caller } from "../../query/engine/pool.ts"
import { hasLeafOf } from "../../query/filter/filter-variants.ts"
import type { SavedFilters } from "../../query/parse/array-filters.ts"
import { type ParsedArrayQuery, parseArrayQuery } from "../../query/parse/array-parse.ts"
import { arrayQuery, partnerOf } from "../../query/parse/array-query.ts"
import { bucketsOf, queryLabel } from "../../query/parse/buckets.ts"
import { Faults } from "../../query/parse/faults.ts"
import { zoned } from "../../query/parse/period.ts"
import { comparedRows, rowFormatter, shownRow } from "../../query/show/array-result.ts"
import type { Goals } from "../definitions/goals.ts"
import type { VisibleImports } from "../imports/visible-imports.ts"
import type { SavedSets } from "../people/visitor-sets.ts"
import { ambiguousSite, namedSites, type Sites } from "../sites/sites.ts"
import { exclusionText, importsOf, shownImports } from "./import-facts.ts"
import { LATE_EVENTS, lateFact, NO_GOALS, NOTHING_SAVED, otherCurrenciesNote, rangeNotes, siteFacts, visitorFacts } from "./open-report.ts"

/** Queries in the array form (api.md section 7), compatible with Plausible's Stats API v2. */
export interface QueryForm {
  /**
   * Answers a query whose body names the site. Faults of the body throw `validation_failed` first, then a site that the key
   * cannot see throws `site_not_found`. Aborting the signal cancels the query.
   */
  answer(key: ApiKey, body: unknown, signal?: AbortSignal): Promise<QueryAnswer>
  /** Runs a query with metrics of the engine instead of those of the body, and returns its rows with their keys as stored. */
  run(key: ApiKey, body: object, options: { metrics: readonly Metric[]; signal?: AbortSignal | undefined }): Promise<{ table: Table }>
}

interface QueryFormOptions {
  engine: Pick<Engine, "aggregate" | "compare">
  imports: Pick<VisibleImports, "firstAt">
  sites: Pick<Sites, "directory" | "list">
  goals: Pick<Goals, "rules">
  clock: Pick<Clock, "now">
  /** Returns whether events that were acknowledged a while ago may be missing in answers. */
  hasLateEvents(): boolean
  /** Saved segments and cohorts that filters may refer to. Default: none. */
  savedSets?: SavedSets
}

export function createQueryForm(options: QueryFormOptions): QueryForm {
  const { engine, goals } = options
  return {
    async run(key, body, { metrics, signal }) {
      const { site, parsed, now, caller } = await readBody(options, key, { ...body }, signal)
      const query = arrayQuery(parsed, siteFacts(site, goals.rules(site.id)), now)
      return { table: await engine.aggregate({ ...query, metrics }, caller) }
    },
    async answer(key, body, signal) {
      if (!isObject(body)) throw noObject()
      const { site, parsed, now, caller, identity } = await readBody(options, key, body, signal)
      const isLate = options.hasLateEvents()
      const query = { ...arrayQuery(parsed, siteFacts(site, goals.rules(site.id)), now), namesAbsent: true }
      const { compared } = parsed
      const facts = (table: Table, before?: Table) => ({
        meta: queryMeta({ site, parsed, query, now, identity, isLate }, { ...table, ...importsOf(table, before) }),
        query: resolvedQuery(site, parsed, query),
      })
      if (!compared) {
        const table = await engine.aggregate(query, caller)
        const formatter = rowFormatter(query)
        return { results: table.rows.map((row) => shownRow(row, formatter)), ...facts(table) }
      }
      const { table, before } = await engine.compare({ ...query, compared: compared.range }, caller)
      return { results: comparedRows(table.rows, before, partnerOf(query, compared.range), query), ...facts(table, before) }
    },
  }
}

/** Reads the query and its site from the body. */
async function readBody(options: QueryFormOptions, key: ApiKey, body: Record<string, unknown>, signal: AbortSignal | undefined) {
  const { imports, sites, clock, savedSets = NOTHING_SAVED } = options
  const name = readSiteId(body.site_id, new Faults())
  const found = name === undefined ? [] : await namedSites(sites, key, name)
  const [site] = found
  const caller: Caller = { organizationId: key.organization_id, ...(signal && { signal }) }
  const firstAt = site && body.date_range === "all" ? imports.firstAt(site.id) : undefined
  const now = clock.now()
  // Without a visible site, days are computed in UTC, so that faults are reported before `site_not_found`.
  const moment = { now, timezone: site?.timezone ?? "UTC", firstAt }
  const parse = (saved: SavedFilters) => {
    const faults = new Faults()
    readSiteId(body.site_id, faults)
    if (found.length > 1) faults.add([ambiguousSite(found)])
    return parseArrayQuery(body, moment, faults, saved)
  }
  if (!site) {
    parse(() => undefined)
    throw siteNotFound()
  }
  const read = await savedSets.read({
    ...{ site, userId: undefined, seesPeople: false, seesRevenue: isRevenueOpen(site), caller, parse },
    ranges: ({ range, compared }) => [range.range, ...(compared ? [compared.range] : [])],
    timezone: ({ range }) => range.timezone,
  })
  return { site, now, caller, parsed: read.parsed, identity: read.identity }
}

function readSiteId(value: unknown, faults: Faults): string | number | undefined {
  if (value === undefined) return faults.refuse("/site_id", "required", "is required")
  if (typeof value === "number") {
    return Number.isSafeInteger(value) ? value : faults.refuse("/site_id", "invalid_type", "must be a whole number or a text")
  }
  if (typeof value !== "string") return faults.refuse("/site_id", "invalid_type", "must be a whole number or a text")
  const name = normalizeText(value)
  return name === "" ? faults.refuse("/site_id", "too_short", "must not be empty") : name
}

const noObject = () =>
  new AppError("validation_failed", "1 field is not valid.", {
    errors: [{ pointer: "", code: "invalid_type", detail: "The body must be an object." }],
  })

interface Asked {
  site: Site
  parsed: ParsedArrayQuery
  query: Query
  now: number
  /** Whether events that were acknowledged a while before the query may be missing. */
  isLate: boolean
  /** How people are recognized. Defined if a filter names a cohort. */
  identity?: PeopleIdentity | undefined
}

/** Returns the metadata of an answer in the array form (api.md 7.5, 7.6). */
export function queryMeta(asked: Asked, { totalRows, otherCurrencies, imports, absentValues = [] }: Table): QueryAnswer["meta"] {
  const { site, parsed, query, identity, isLate } = asked
  const { include, metrics, range } = parsed
  const notes = notesOf(asked)
  return {
    ...visitorFacts(site, range),
    ...(identity && { identity }),
    ...shownImports(imports),
    ...lateFact(isLate),
    ...(include.imports && plausibleImports(imports)),
    ...(otherCurrencies.length > 0 && { metric_warnings: currencyWarnings(metrics, site, otherCurrencies) }),
    ...(include.time_labels && { time_labels: timeLabels(query) }),
    ...(include.total_rows && { total_rows: totalRows }),
    ...(notes.length > 0 && { notes }),
    ...(absentValues.length > 0 && { warnings: absentValues.slice(0, MAX_WARNINGS).map(absentWarning) }),
  }
}

const MAX_WARNINGS = 20

/** Returns the warning about a value of a filter that occurs in no data. */
function absentWarning({ dimension, property, named, value }: AbsentValue): NonNullable<QueryAnswer["meta"]["warnings"]>[number] {
  const [canonical = "", byName = canonical] = dimensionFacts(dimension).query
  const name = property === undefined ? (named ? byName : canonical) : `${canonical}:${property}`
  return {
    code: "value_not_found",
    dimension: name,
    value,
    warning: `No data of this site has the value ${JSON.stringify(value)} of ${name}.`,
  }
}

/** Returns the query as it was understood: defaults are filled in, and ranges are pairs of instants. */
export function resolvedQuery(site: Site, parsed: ParsedArrayQuery, query: Query): QueryAnswer["query"] {
  const { metrics, dimensions, filters, order, limit, offset, range } = parsed
  const resolved = new Map(dimensions.map(({ name }, i) => [name, resolvedName(name, query.groupings[i]!)] as const))
  return {
    site_id: site.id,
    metrics: [...metrics],
    date_range: instants(range.range, range.timezone),
    dimensions: [...resolved.values()],
    filters: [...filters],
    order_by: order.map(({ name, descending }) => [resolved.get(name) ?? name, descending ? "desc" : "asc"]),
    include: resolvedInclude(parsed),
    pagination: { limit, offset },
    timezone: range.timezone,
  }
}

/** Returns the members that clients of Plausible read. A site without imports has none in any range. */
function plausibleImports(facts: ImportFacts = { ids: [], reason: "none_in_range" }) {
  const { ids, reason } = facts
  const included = ids.length > 0
  return {
    imports_included: included,
    ...(reason && { imports_skip_reason: reason, imports_warning: exclusionText(reason, included) }),
  }
}

function notesOf({ site, parsed, query, now, isLate }: Asked): string[] {
  const notes = [...rangeNotes(site, parsed, now), ...(isLate ? [LATE_EVENTS] : [])]
  const { metrics, groupings, filter } = query
  const isByGoal =
    metrics.some((metric) => metric === "conversions" || metric.endsWith("conversion_rate")) ||
    groupings.some((grouping) => grouping.by === "dimension" && grouping.dimension === "goal") ||
    (filter !== undefined && hasLeafOf(filter, ["goal"]))
  return isByGoal && query.site.goals.length === 0 ? [...notes, NO_GOALS] : notes
}

function currencyWarnings(metrics: readonly Metric[], site: Site, others: readonly string[]) {
  const ofRevenue = metrics.filter((metric) => metric.endsWith("_revenue"))
  return Object.fromEntries(
    ofRevenue.map((metric) => [metric, { code: "other_currencies", warning: otherCurrenciesNote(metric, site, others) }]),
  )
}

function timeLabels({ groupings, range, timezone }: Query): string[] {
  const time = groupings.find((grouping) => grouping.by === "time")
  if (time?.by !== "time") return []
  const { edges } = bucketsOf(range, time.interval, timezone)
  return Array.from(edges.subarray(0, -1), (start) => queryLabel(start, time.interval, timezone))
}

const resolvedName = (name: string, grouping: Query["groupings"][number]): string =>
  grouping.by === "time" ? `time:${grouping.interval}` : name

/** Returns only the options that are enabled. */
function resolvedInclude({ include, compared }: ParsedArrayQuery): QueryAnswer["query"]["include"] {
  const { imports, time_labels, total_rows, comparisons } = include
  return {
    ...(imports && { imports }),
    ...(time_labels && { time_labels }),
    ...(total_rows && { total_rows }),
    ...(comparisons && compared && { comparisons: { ...comparisons, date_range: instants(compared.range, compared.timezone) } }),
  }
}

/** Returns the first and the last second of a range, with their local offsets. */
const instants = ({ from, to }: Range, timezone: string): [string, string] => [localText(from, timezone), localText(to - 1, timezone)]

function localText(at: number, timezone: string): string {
  const local = zoned(at, timezone)
  return `${local.toPlainDateTime().toString({ smallestUnit: "second" })}${local.offset}`
}

/**
 * Converts what a query in the array form has thrown for a client that sent parameters: each fault belongs to the parameter that `names`
 * has for its field, or to the one of the same name, and each parameter has one fault. Returns other errors as they are.
 */
export function asParameterFaults(thrown: unknown, names: Readonly<Record<string, string>>): unknown {
  if (!(thrown instanceof AppError) || thrown.code !== "validation_failed") return thrown
  const faults = new Map<string, Fault>()
  for (const { pointer, code, detail, allowed } of thrown.members.errors ?? []) {
    const field = pointer.split("/")[1] ?? ""
    const name = names[field] ?? field
    if (!faults.has(name)) faults.set(name, { pointer: `/${name}`, code, detail: `${name}: ${detail}`, ...(allowed && { allowed }) })
  }
  const count = faults.size === 1 ? "1 parameter is" : `${faults.size} parameters are`
  return new AppError("invalid_query", `${count} not valid.`, { errors: [...faults.values()] })
}
