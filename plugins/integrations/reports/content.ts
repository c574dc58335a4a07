import { AppError, isRevenueOpen, type ReportOptions, type Site } from "#plugin"
import type { IntegrationsHost } from "../area.ts"
import { createSearchReport } from "../search/report.ts"
import { plain } from "../text.ts"
import type { ReportPeriod } from "./calendar.ts"
import { LIMITS, type Report, type Section } from "./report.ts"

export const METRICS = ["visitors", "visits", "pageviews", "bounce_rate", "visit_duration", "revenue"] as const
export type ReportMetric = (typeof METRICS)[number]

/** A figure of a report. `change` is the relative change to the period before in percent; null if that had none. */
export interface ReportFigure {
  metric: ReportMetric
  value: number
  change: number | null
}

/** The top rows of a section. Their names come from visitors, and are cleaned and cut. */
export interface ReportList {
  section: Exclude<Section, "figures" | "revenue">
  rows: { name: string; value: number }[]
}

/** What a report says. Text, HTML and chat messages are written from the same content, and the product event carries it. */
export interface ReportContent {
  kind: Report["kind"]
  from: string
  to: string
  currency: string
  figures: ReportFigure[]
  lists: ReportList[]
}

/** A name as reports show it: on one line, without invisible characters, and cut. */
export function shortened(name: string): string {
  const characters = [...plain(name)]
  return characters.length > LIMITS.nameChars ? `${characters.slice(0, LIMITS.nameChars - 1).join("")}…` : characters.join("")
}

const FIGURES = ["visitors", "visits", "pageviews", "bounce_rate", "visit_duration"] as const
/** Dimension of the rows of a section. */
const DIMENSIONS = { pages: "page", sources: "source", places: "country" } as const

/** Computes the content of a report. Revenue is left out unless every viewer of the site may see it. */
export async function contentOf(
  host: IntegrationsHost,
  site: Site,
  { kind, sections }: Pick<Report, "kind" | "sections">,
  { from, to, before }: ReportPeriod,
  options: Pick<ReportOptions, "signal" | "isBackground"> = {},
): Promise<ReportContent> {
  const { stats } = host.services
  const range = { from, to }
  const shows = (section: Section): boolean => sections.includes(section) && (section !== "revenue" || isRevenueOpen(site))

  async function figures(): Promise<ReportFigure[]> {
    const metrics: ReportMetric[] = [...(shows("figures") ? FIGURES : []), ...(shows("revenue") ? (["revenue"] as const) : [])]
    if (metrics.length === 0) return []
    const compared = { compare: "custom", compare_from: before.from, compare_to: before.to }
    const { metrics: values, comparison } = await stats.summary(site, { ...range, ...compared, metrics }, options)
    return metrics
      .map((metric) => ({ metric, value: values[metric] ?? 0, change: comparison?.change_percent[metric] ?? null }))
      .filter(({ metric, value }) => metric !== "revenue" || value !== 0 || (comparison?.metrics.revenue ?? 0) !== 0)
  }
  async function top(section: keyof typeof DIMENSIONS): Promise<ReportList> {
    const given = { ...range, dimension: DIMENSIONS[section], metrics: ["visitors"], limit: LIMITS.rows }
    const { rows } = await stats.breakdown(site, given, options)
    const nameOf = ({ value, label = value }: { value: string; label?: string }) => (label === "(none)" ? "Unknown" : label)
    return { section, rows: rows.map((row) => ({ name: shortened(nameOf(row)), value: row.visitors ?? 0 })) }
  }
  async function goals(): Promise<ReportList> {
    const report = await stats.goals(site, range, options)
    const best = report.goals.filter(({ conversions }) => conversions > 0).toSorted((a, b) => b.conversions - a.conversions)
    const rows = best.slice(0, LIMITS.rows).map(({ name, conversions }) => ({ name: shortened(name), value: conversions }))
    return { section: "goals", rows }
  }

  /** Search engines report days late, and not for every site. */
  async function searchQueries(): Promise<ReportList | undefined> {
    try {
      const given = { ...range, group_by: "query", limit: LIMITS.rows }
      const { rows } = await createSearchReport(host)(site, given, { ...options, form: "json" })
      if (rows.length === 0) return undefined
      return { section: "search_queries", rows: rows.map(({ key, clicks }) => ({ name: shortened(key), value: clicks })) }
    } catch (error) {
      if (error instanceof AppError && error.code === "not_connected") return undefined
      throw error
    }
  }

  // One query after the other, so that a report never takes more than one of the query workers from people.
  const content: ReportContent = { kind, from, to, currency: site.revenue_currency, figures: await figures(), lists: [] }
  for (const section of ["pages", "sources", "places"] as const) if (shows(section)) content.lists.push(await top(section))
  if (shows("goals") && host.services.goals.rules(site.id).length > 0) content.lists.push(await goals())
  const queries = shows("search_queries") ? await searchQueries() : undefined
  if (queries) content.lists.push(queries)
  return content
}
