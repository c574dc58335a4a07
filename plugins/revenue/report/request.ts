import {
  AppError,
  ArgumentReader,
  type Filter,
  type Host,
  type Interval,
  type OpenReport,
  parseCurrency,
  type ReportOptions,
  refuseArguments,
  refuseNames,
  type Site,
  splitArguments,
  withAllFaults,
} from "#plugin"
import { MODEL_NAMES, MODELS, type Model } from "../packed/models.ts"
import { FILTER_DIMENSIONS } from "../packed/packed.ts"
import { REFUND_BASES, type RefundBasis, type RevenueSettings } from "../settings.ts"

/** Groups of the touch that is credited. */
export const TOUCH_GROUPS = [
  ...(["source", "channel", "utm_source", "utm_medium", "utm_campaign", "utm_term", "utm_content", "referrer", "entry_page"] as const),
] as const
/** Groups of the visit. */
export const VISIT_GROUPS = ["country", "device"] as const
export const GROUPS = [...TOUCH_GROUPS, ...VISIT_GROUPS, "goal", "product", "link", "cohort", "recurring"] as const
export type Group = (typeof GROUPS)[number]

/** Most periods of a row of cohorts. */
const PERIODS = { day: 90, week: 53, month: 36 } as const
const DEFAULT_PERIODS = 12
const MAX_ROWS = 500

export const OWN_ARGUMENTS = [
  ...["currency", "attribution", "group_by", "recurring", "trust", "refund_basis", "limit", "cohort_by", "periods"],
] as const

export interface RevenueRequest {
  open: OpenReport
  interval: Interval
  /** Undefined for each currency on its own. */
  target: string | undefined
  model: Model
  group: Group
  recurring: "first" | "renewal" | undefined
  /** Whether amounts that only a browser or an import reported are left out. */
  isVerified: boolean
  basis: RefundBasis
  limit: number
  cohorts: { by: keyof typeof PERIODS; periods: number } | undefined
  /** Ids of the cohorts of a filter, with what remains of the filters without it. */
  cohortFilter: { ids: readonly (string | number)[]; others: readonly unknown[] } | undefined
}

interface Parts {
  openReport: Host["services"]["openReport"]
  settings: RevenueSettings
}

/** Parses the query of a report. Throws `invalid_query` with all faults, or what its filters throw. */
export async function readRequest(
  { openReport, settings }: Parts,
  site: Site,
  given: Record<string, unknown>,
  options: ReportOptions,
): Promise<RevenueRequest> {
  refuseNames(given, ["timezone", "metrics"])
  const form = options.form ?? "json"
  const { own, ranged } = splitArguments(given, OWN_ARGUMENTS)
  const [open, fields] = await withAllFaults(form, openReport("timeseries", site, ranged, options), () =>
    readOwn(own, form, settings, cohortFilterOf(ranged.filters)),
  )
  refuseOtherDimensions(open.parsed.filter, form)
  return { open, interval: open.parsed.interval ?? "day", ...fields }
}

type OwnFields = Omit<RevenueRequest, "open" | "interval">

function readOwn(
  given: Record<string, unknown>,
  form: "text" | "json",
  settings: RevenueSettings,
  cohortFilter: RevenueRequest["cohortFilter"],
): OwnFields {
  const reader = new ArgumentReader(given, OWN_ARGUMENTS)
  const target = readCurrency(reader, settings)
  const by = reader.choice("cohort_by", ["day", "week", "month"])
  const periods = reader.integer("periods", { min: 1, max: PERIODS[by ?? "day"] })
  if (reader.has("periods") && !reader.has("cohort_by"))
    reader.refuse({ pointer: "/periods", code: "unsupported_combination", detail: "periods is only allowed with cohort_by." })
  const group = reader.choice("group_by", GROUPS) ?? "source"
  if (group === "cohort" && !cohortFilter)
    reader.refuse({
      pointer: "/group_by",
      code: "unsupported_combination",
      detail: "group_by=cohort needs a filter with the dimension cohort and the operator is, whose cohorts are the groups.",
    })
  const trust = reader.choice("trust", ["all", "verified"])
  const fields: OwnFields = {
    target,
    model: reader.choice("attribution", MODEL_NAMES) ?? "last_touch",
    group,
    recurring: reader.choice("recurring", ["first", "renewal"]),
    isVerified: trust === "verified" || !settings.includeClient,
    basis: reader.choice("refund_basis", REFUND_BASES) ?? settings.refundBasis,
    limit: reader.integer("limit", { min: 1, max: MAX_ROWS }) ?? 50,
    cohorts: by && { by, periods: periods ?? DEFAULT_PERIODS },
    cohortFilter,
  }
  refuseArguments(reader, form)
  return fields
}

function readCurrency(reader: ArgumentReader, { baseCurrency }: RevenueSettings): string | undefined {
  const given = reader.text("currency", { min: 1, max: 10 })
  if (given === undefined || given === "each") return undefined
  if (given === "base") return baseCurrency
  const code = parseCurrency(given)
  if (code === undefined)
    reader.refuse({ pointer: "/currency", code: "unknown_currency", detail: "currency must be each, base or an active ISO 4217 code." })
  return code
}

/** Returns the bit of the model that a report credits by. */
export const modelBit = (model: Model): number => MODELS[model]

const KNOWN: readonly string[] = FILTER_DIMENSIONS

/** Throws `unsupported_filter` for a filter on what transactions do not keep, also inside a segment. */
function refuseOtherDimensions(filter: Filter | undefined, form: "text" | "json"): void {
  const other = filter && otherDimension(filter)
  if (other === undefined) return
  const detail = `Transactions can't be filtered by ${other}, only by ${KNOWN.join(", ")} and cohort.`
  const errors = [{ pointer: "/filters", code: "unsupported_filter", detail, allowed: [...KNOWN, "cohort"] }]
  throw new AppError(form === "text" ? "invalid_query" : "validation_failed", "1 parameter is not valid.", { errors })
}

function otherDimension(filter: Filter): string | undefined {
  switch (filter.op) {
    case "and":
    case "or":
      return filter.filters.map(otherDimension).find((found) => found !== undefined)
    case "not":
      return otherDimension(filter.filter)
    case "people":
      return undefined
    case "has_done":
      return "what happened in a visit"
    default:
      return KNOWN.includes(filter.dimension) ? undefined : filter.dimension
  }
}

/** Returns the cohorts that a filter names, if there is one. Faulty filters are reported by the reader of filters. */
function cohortFilterOf(filters: unknown): RevenueRequest["cohortFilter"] {
  const list = typeof filters === "string" ? parsed(filters) : filters
  if (!Array.isArray(list)) return undefined
  const index = list.findIndex((one) => one?.dimension === "cohort" && (one.operator ?? "is") === "is" && Array.isArray(one.values))
  return index === -1 ? undefined : { ids: list[index].values, others: list.toSpliced(index, 1) }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined // reported as an invalid list of filters
  }
}
