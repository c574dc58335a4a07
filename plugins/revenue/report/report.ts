import {
  bucketsOf,
  divideHalfAway,
  flatLabel,
  formatMoney,
  isPartial,
  LATE_EVENTS,
  type LocalRange,
  type ReportOptions,
  rangeNotes,
  type Site,
  shownImports,
  shownRange,
  visitorFacts,
} from "#plugin"
import type { RevenueHost } from "../host.ts"
import type { Rates } from "../rates/rates.ts"
import type { RevenueSettings, RevenueSettingsStore } from "../settings.ts"
import { cohortSums } from "./cohorts.ts"
import { booked, byOrders, type CurrencySums, figuresOf, netOf, noSums, ordersOf, type Sums, unconvertedOf } from "./figures.ts"
import { dimensionOf, type GroupSums, groupsOf, rowOf, sumsByGoal } from "./groups.ts"
import { lookbackOf } from "./lookback.ts"
import { productGroups } from "./products.ts"
import { type RevenueRequest, readRequest } from "./request.ts"
import type { ReportResponse, Row } from "./responses.ts"
import { CONVERTED, columnOf, type RangeSums, sumRange } from "./sums.ts"
import { conversionRate, countVisitors, type Visitors } from "./visitors.ts"

export interface ReportParts {
  host: RevenueHost
  settings: Pick<RevenueSettingsStore, "of">
  rates: Pick<Rates, "lookup">
}

/** A request for a report, with what answers it. */
export interface Asked extends ReportParts {
  site: Site
  request: RevenueRequest
  options: ReportOptions
}

interface WholeOption {
  /** Whether all groups are listed. */
  isWhole?: boolean
}

export type Report = ReturnType<typeof createReport>

/** Everything of a report about one of its ranges. */
type Part = NonNullable<ReportResponse["comparison"]>

export function createReport(parts: ReportParts) {
  const { host, settings } = parts

  /** Reports what the traffic of a site earned. Throws `invalid_query` with all faults, or what its filters throw. */
  return async (
    site: Site,
    given: Record<string, unknown>,
    { isWhole = false, ...options }: ReportOptions & WholeOption,
  ): Promise<ReportResponse> => {
    const current = await settings.of(site)
    const read = await readRequest({ openReport: host.services.openReport, settings: current }, site, given, options)
    const request = isWhole ? { ...read, limit: Number.MAX_SAFE_INTEGER } : read
    const { open, cohorts } = request
    const asked: Asked = { ...parts, site, request, options }
    const own = await partOf(asked, open.parsed.range)
    const compared = open.parsed.compared && (await partOf(asked, open.parsed.compared, own.groups))
    return {
      ...own.part,
      interval: request.interval,
      currency: request.target ?? "each",
      group_by: request.group,
      refund_basis: request.basis,
      trust: request.isVerified ? "verified" : "all",
      unverified: own.sums.hasUnverified,
      ...(request.recurring && { recurring: request.recurring }),
      attribution: {
        model: request.model,
        lookback: lookbackOf(site, current, own.sums.visitorKinds, open.parsed.range.range),
        unattributed: currencyList(own.sums.unattributed).map(([currency, sums]) => ({
          currency,
          net: formatMoney(netOf(sums), currency),
          orders: ordersOf(sums),
        })),
      },
      ...(cohorts && { cohorts: await cohortSums(asked, cohorts) }),
      ...(compared && { comparison: compared.part }),
      recomputing: current.isRecomputing,
      meta: metaOf(asked, own, current),
    }
  }
}

interface ComputedPart {
  part: Part
  sums: RangeSums
  visitors: Visitors
  /** Groups of the breakdown, before `limit`. */
  groups: readonly GroupSums[]
}

/** Computes a range. For a compared one, `like` are the groups of the report, which are shown again. */
async function partOf(asked: Asked, range: LocalRange, like?: readonly GroupSums[]): Promise<ComputedPart> {
  const { host, site, request, options } = asked
  const { open, target, group } = request
  const sums = await sumRange(asked, range, columnOf(group))
  const list = currencyList(sums.shown)
  const groups = await namedGroups(asked, range, sums)
  const all = groupsOf(group, groups.sums, target ?? list[0]?.[0])
  for (const one of all) {
    const label = groups.labels.get(one.key)
    if (label !== undefined) one.label = label
  }
  const chosen = like
    ? like.slice(0, request.limit).map((one) => all.find(({ key }) => key === one.key) ?? { ...one, currencies: new Map() })
    : all.slice(0, request.limit)
  if (group === "link" || group === "cohort") await nameGroups(asked, group, chosen)
  const dimension = dimensionOf(group)
  const values = chosen.map(({ value }) => value).filter((value) => value !== undefined)
  const visitors = await countVisitors(host, site, open, range.range, { customers: sums.visitors, dimension, values })
  const counted = { visitors: visitors.total, converted: visitors.converted }
  const rows = chosen.map((one) => rowOf(one, sums.shown, visitorsOf(one, visitors)))
  const byCohort = group === "cohort" ? groups.visitors : undefined
  return {
    sums,
    visitors,
    groups: all,
    part: {
      range: shownRange(range, open.now),
      currencies: currencyList(sums.currencies).map(([currency, each]) =>
        figuresOf(currency, each, sums.counts.get(currency) ?? NO_COUNTS),
      ),
      ...(target !== undefined && { base: baseOf(target, sums) }),
      visitors: visitors.total,
      conversion_rate: conversionRate(counted),
      revenue_per_visitor:
        visitors.total === 0
          ? []
          : list.map(([currency, each]) => formatMoney(divideHalfAway(netOf(each), BigInt(visitors.total)), currency)),
      timeseries: seriesOf(request, range, sums, list),
      breakdown: byCohort ? rows.map((row) => ({ ...row, ...byCohort.get(row.key) })) : largeEnough(rows, options.minVisitors),
    },
  }
}

const NO_COUNTS = { customers: 0, refundedOrders: 0 }

const currencyList = (all: CurrencySums): [string, Sums][] => [...all].sort(byOrders)

function baseOf(target: string, { shown, unconverted, counts }: RangeSums): NonNullable<Part["base"]> {
  const left = currencyList(unconverted)
  return {
    ...figuresOf(target, shown.get(target) ?? noSums(), counts.get(CONVERTED) ?? NO_COUNTS),
    complete: left.length === 0,
    unconverted: left.map(([currency, sums]) => unconvertedOf(currency, sums)),
  }
}

function seriesOf(
  { interval, open }: RevenueRequest,
  range: LocalRange,
  { buckets: sums }: RangeSums,
  currencies: readonly [string, Sums][],
): Part["timeseries"] {
  const buckets = bucketsOf(range.range, interval, range.timezone)
  return sums.map((bucket, i) => ({
    time: flatLabel(buckets.edges[i]!, interval, range.timezone),
    ...(isPartial(buckets, i, open.now) && { partial: true }),
    by_currency: currencies.map(([currency]) => {
      const each = bucket.get(currency) ?? noSums()
      return { ...booked(currency, each), orders: ordersOf(each) }
    }),
  }))
}

function visitorsOf({ value }: GroupSums, { byValue }: Visitors): Pick<Row, "visitors" | "conversion_rate"> {
  if (value === undefined) return { visitors: null, conversion_rate: null }
  const counted = byValue(value)
  return { visitors: counted.visitors, conversion_rate: counted.visitors === 0 ? null : conversionRate(counted) }
}

/** Leaves out small groups, on shared views. Groups without visitors of their own are measured by their orders. */
const largeEnough = (rows: Row[], least = 0): Row[] => rows.filter(({ visitors, orders }) => (visitors ?? orders) >= least)

interface NamedGroups {
  sums: ReadonlyMap<string | number, CurrencySums>
  labels: ReadonlyMap<string, string>
  visitors: ReadonlyMap<string, Pick<Row, "visitors" | "conversion_rate">>
}

/** Returns the sums by value of the group. Some groups are not a column of the transactions. */
async function namedGroups(asked: Asked, range: LocalRange, sums: RangeSums): Promise<NamedGroups> {
  const { host, site, request } = asked
  const nothing = { labels: new Map<string, string>(), visitors: new Map() }
  switch (request.group) {
    case "goal":
      return { ...nothing, sums: sumsByGoal(sums.groups, host.services.goals.rules(site.id)) }
    case "product":
      return { ...nothing, sums: await productGroups(asked, range, sums) }
    case "cohort":
      return cohortGroups(asked, range)
    default:
      return { ...nothing, sums: sums.groups }
  }
}

/** Labels groups by short link or cohort with their names. Deleted links have none. */
async function nameGroups({ host, site }: Asked, kind: "link" | "cohort", groups: readonly GroupSums[]): Promise<void> {
  const things = host.named(kind)
  for (const group of groups) {
    if (!/^\d+$/.test(group.key)) continue // no link, or unattributed
    group.label = (await things?.nameOf(site, Number(group.key))) ?? `Deleted ${kind} ${group.key}`
  }
}

/** Returns the sums of each cohort that a filter names. */
async function cohortGroups(asked: Asked, range: LocalRange): Promise<NamedGroups> {
  const { host, site, request, options } = asked
  const { ids, others } = request.cohortFilter! // required by the reader of the request
  const sums = new Map<string, CurrencySums>()
  const visitors = new Map<string, Pick<Row, "visitors" | "conversion_rate">>()
  for (const id of ids) {
    const filters = [...others, { dimension: "cohort", operator: "is", values: [id] }]
    const { from, to } = request.open.parsed.range
    const open = await host.services.openReport("timeseries", site, { from, to, filters }, { ...options, form: "json" })
    const parsed = { ...request.open.parsed, ...(open.parsed.filter && { filter: open.parsed.filter }) }
    const own = { ...request, open: { ...request.open, parsed } }
    const result = await sumRange({ ...asked, request: own }, range, undefined)
    sums.set(String(id), result.shown)
    const counted = await countVisitors(host, site, own.open, range.range, { customers: result.visitors })
    visitors.set(String(id), {
      visitors: counted.total,
      conversion_rate: counted.total === 0 ? null : conversionRate({ visitors: counted.total, converted: counted.converted }),
    })
  }
  return { sums, visitors, labels: new Map() }
}

function metaOf(
  { site, request: { open, limit } }: Asked,
  { visitors, sums, groups }: ComputedPart,
  { hasFailedRecompute }: RevenueSettings,
): ReportResponse["meta"] {
  const notes = rangeNotes(site, open.parsed, open.now)
  if (open.isLate) notes.push(LATE_EVENTS)
  if (groups.length > limit) notes.push(`Only the first ${limit} of ${groups.length} groups are listed.`)
  if (hasFailedRecompute) notes.push(RECOMPUTE_FAILED)
  if (sums.missingRates.length > 0) notes.push(RATE_MISSING)
  return {
    ...visitorFacts(site, open.parsed.range),
    ...shownImports(visitors.table.imports),
    ...(open.identity && { identity: open.identity }),
    notes,
    ...(sums.missingRates.length > 0 && { rate_missing: missingRates(sums) }),
  }
}

function missingRates({ missingRates: all }: RangeSums): NonNullable<ReportResponse["meta"]["rate_missing"]> {
  const days = all.slice(0, MAX_DAYS).map(({ day, currency, sums }) => ({ day, ...unconvertedOf(currency, sums) }))
  return { days, total: all.length }
}

const MAX_DAYS = 100
const RECOMPUTE_FAILED = "The last recomputation failed. Until it is repeated, some transactions are attributed by earlier settings."
const RATE_MISSING = "rate_missing: Some amounts have no exchange rate and are not part of the converted figures. Add rates for these days."
