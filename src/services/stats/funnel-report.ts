import { AppError, type Fault } from "../../domain/error.ts"
import { type Funnel, type FunnelFields, funnelNotFound, parseFunnel } from "../../domain/funnel.ts"
import { parseId } from "../../domain/id.ts"
import { hasLongKeys, ROTATING_DAYS } from "../../domain/identity.ts"
import { roundedRatio } from "../../domain/metric.ts"
import type { FunnelQuery, FunnelResult, Table } from "../../domain/query.ts"
import type { FunnelReport, ReportFacts } from "../../domain/report.ts"
import type { Site } from "../../domain/site.ts"
import type { Form } from "../../query/parse/arguments.ts"
import { identityInsufficient } from "../people/identity.ts"
import { type OpenReport, reportFacts, splitArguments, withAllFaults } from "./open-report.ts"

export interface FunnelReportOptions {
  site: Site
  given: Record<string, unknown>
  form: Form
  /** Id of a saved funnel. If given, the arguments must not describe a funnel. */
  funnelId?: number
  /** The site's saved funnels. */
  saved: readonly Funnel[]
  open(ranged: Record<string, unknown>): Promise<OpenReport>
}
type AskFunnel = (query: FunnelQuery, report: OpenReport) => Promise<FunnelResult>

/** A requested funnel with the query that measures it. */
export interface OpenFunnel {
  report: OpenReport
  funnel: RequestedFunnel
  query: FunnelQuery
}

/** Reports on a saved funnel (`funnel_id`) or on inline `steps`. Both give the same result for the same steps. */
export async function funnelReport({
  ask,
  importsOf,
  ...options
}: FunnelReportOptions & { ask: AskFunnel; importsOf(report: OpenReport): Promise<Pick<Table, "imports">> }): Promise<FunnelReport> {
  const opened = await openFunnel(options)
  const [result, imports] = await Promise.all([ask(opened.query, opened.report), importsOf(opened.report)])
  return { ...funnelFacts(opened, imports), ...shownFunnel(opened.funnel, result) }
}

export async function openFunnel({ site, given, form, funnelId, saved, open }: FunnelReportOptions): Promise<OpenFunnel> {
  const { requested, ranged } = funnelId === undefined ? splitFunnel(given) : { requested: { funnel_id: funnelId }, ranged: given }
  const [report, funnel] = await withAllFaults(form, open(ranged), () => requestedFunnel(requested, site, saved))
  return { report, funnel, query: funnelQuery(report, funnel) }
}

export function funnelFacts({ report, query }: OpenFunnel, imports: Pick<Table, "imports">): ReportFacts {
  const facts = reportFacts(report, { otherCurrencies: [], ...imports }, false)
  const note = "Only identified visitors are counted, because others are not recognized for as long as the window."
  const notes = query.identifiedOnly ? [...(facts.notes ?? []), note] : facts.notes
  return { ...facts, ...(notes && { notes }) }
}

/** Splits arguments into those that describe the funnel and those that describe the range. */
export function splitFunnel(given: Record<string, unknown>) {
  const { own, ranged } = splitArguments(given, ["funnel_id", "steps", "order", "window_hours"])
  return { requested: own, ranged }
}

export type RequestedFunnel = FunnelFields & { id?: number }

export function requestedFunnel(
  requested: Record<string, unknown>,
  site: Pick<Site, "settings">,
  saved: readonly Funnel[],
): RequestedFunnel {
  const { funnel_id, window_hours, ...rest } = requested
  if (funnel_id === undefined) {
    if (requested.steps === undefined) throw refusal([{ pointer: "/steps", code: "required", detail: "Give funnel_id or steps." }])
    const hours = typeof window_hours === "string" && /^\d{1,15}$/.test(window_hours) ? Number(window_hours) : window_hours
    return parseFunnel({ name: "Steps", ...rest, ...(hours !== undefined && { window_hours: hours }) }, site.settings)
  }
  const others = Object.keys(requested).filter((name) => name !== "funnel_id")
  if (others.length > 0) {
    throw refusal(
      others.map((name) => ({
        pointer: `/${name}`,
        code: "unsupported_combination",
        detail: `${name} cannot be combined with funnel_id.`,
      })),
    )
  }
  return savedFunnel(funnel_id, saved)
}

function savedFunnel(given: unknown, saved: readonly Funnel[]): Funnel {
  const isNumber = typeof given === "number" && Number.isSafeInteger(given)
  if (!isNumber && typeof given !== "string")
    throw refusal([{ pointer: "/funnel_id", code: "invalid_type", detail: "funnel_id must be a whole number." }])
  const id = parseId(String(given))
  const funnel = saved.find((one) => one.id === id)
  if (!funnel) throw funnelNotFound()
  return funnel
}

const refusal = (errors: Fault[]) => new AppError("validation_failed", "The funnel is not valid.", { errors })

function funnelQuery({ site, facts, parsed }: OpenReport, { steps, order, window_hours }: RequestedFunnel): FunnelQuery {
  const mode = site.settings.identity_mode
  const isTooLong = window_hours !== null && window_hours > 24 * ROTATING_DAYS[mode]
  if (isTooLong && !hasLongKeys(mode)) throw windowTooLong(site, window_hours)
  return {
    site: facts,
    range: parsed.range.range,
    steps: steps.map(({ type, match, value }) => ({ type, match, value })),
    order,
    ...(window_hours !== null && { windowMs: window_hours * 3_600_000 }),
    ...(parsed.filter && { filter: parsed.filter }),
    ...(isTooLong && { identifiedOnly: true }),
  }
}

function windowTooLong(site: Site, hours: number): AppError {
  const horizon = 24 * ROTATING_DAYS[site.settings.identity_mode]
  const detail = `This site recognizes visitors for ${horizon} hours, but the window is ${hours} hours.`
  return identityInsufficient(site, Math.ceil(hours / 24), ["shorten_window", "switch_mode"], detail)
}

export type ShownFunnel = Omit<FunnelReport, keyof ReportFacts>

export function shownFunnel({ id, name, steps, order, window_hours }: RequestedFunnel, result: FunnelResult): ShownFunnel {
  const counts = result.steps.map(({ visitors }) => visitors)
  const [entered, completed] = [counts[0] ?? 0, counts.at(-1) ?? 0]
  return {
    ...(id !== undefined && { funnel_id: id, name }),
    order,
    ...(window_hours !== null && { window_hours }),
    entered,
    completed,
    conversion_rate: percent(completed, entered),
    steps: steps.map(({ type, match, value, name }, i) => {
      const { visitors, medianSeconds } = result.steps[i]!
      const before = counts[i - 1] ?? visitors
      return {
        step: i + 1,
        name,
        type,
        match,
        value,
        visitors,
        conversion_rate: percent(visitors, entered),
        step_conversion_rate: percent(visitors, before),
        dropoff: before - visitors,
        ...(medianSeconds !== undefined && { median_seconds: medianSeconds }),
      }
    }),
  }
}

export const percent = (part: number, of: number): number => roundedRatio(100 * part, of, 1)
