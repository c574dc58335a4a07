/** The widgets of the core's own reports. */
import { type Static, type TObject, Type as t } from "@sinclair/typebox"
import { FLAT_DIMENSIONS, FLAT_METRICS, type HostServices, type ReportOptions, type Site, type Widget, type WidgetAnswer } from "#plugin"
import type { BoardFilter, Compare } from "../board.ts"
import { compareArguments } from "../ranges.ts"

/** Reports that core widgets ask for. Equal calls for one dashboard run once. */
export interface Reports {
  summary: HostServices["stats"]["summary"]
  timeseries: HostServices["stats"]["timeseries"]
  breakdown: HostServices["stats"]["breakdown"]
  goals: HostServices["stats"]["goals"]
  realtime: HostServices["insights"]["realtime"]
  funnel: HostServices["insights"]["funnel"]
  webVitals: HostServices["insights"]["webVitals"]
  goalName(site: Site, id: number): string | undefined
  annotations(
    site: Site,
    days: { from: string; to: string },
    userId: number | undefined,
  ): ReturnType<HostServices["annotations"]["listWithin"]>
}

/** What a core widget is asked: a site, a range and filters. */
export interface CoreQuestion {
  site: Site
  /** Arguments of the range. */
  range: Record<string, unknown>
  /** First and last day of the range. */
  days: { from: string; to: string }
  compare: Compare
  /** Interval of the range, if it has one. */
  interval: string | undefined
  filters: readonly BoardFilter[]
  asking: ReportOptions
  /** Whether the viewer came through a public link. */
  isShared: boolean
}

export interface CoreWidget<Config extends TObject = TObject> extends Omit<Widget<Config>, "resolve" | "lock_dimensions"> {
  run(reports: Reports, question: CoreQuestion, config: Static<Config>): Promise<WidgetAnswer>
}

/** Returns the widget unchanged. Only adds the type of the configuration. */
export const coreWidget = <Config extends TObject>(widget: CoreWidget<Config>): CoreWidget => widget as unknown as CoreWidget // configurations are inspected first

export const closed = { additionalProperties: false } as const
export const oneOf = <const Name extends string>(names: readonly Name[], description: string) =>
  t.Unsafe<Name>(
    t.Union(
      names.map((name) => t.Literal(name)),
      { description },
    ),
  )

export const Metric = oneOf(FLAT_METRICS, "Name of the metric.")
export const metricsOf = (maxItems: number, description: string) =>
  t.Array(Metric, { minItems: 1, maxItems, uniqueItems: true, description })
export const Dimension = oneOf(FLAT_DIMENSIONS, "Name of the dimension.")

export const ids = (description: string) =>
  t.Array(t.Integer({ minimum: 1 }), { minItems: 1, maxItems: 50, uniqueItems: true, description })

/** Filters that one report takes as arguments. Further ones always apply, like the locked filters of a view. */
const MAX_ARGUMENTS = 10

/** Returns the arguments and options of a report about a range. */
export function asked(question: CoreQuestion, { compares = true, more = [] }: { compares?: boolean; more?: readonly BoardFilter[] } = {}) {
  const { range, compare, asking } = question
  const { filters, rest } = splitFilters([...more, ...question.filters])
  const given = { ...range, ...(compares && compareArguments(compare)), ...(filters.length > 0 && { filters }) }
  return { given, options: withLocked(asking, rest) }
}

export const splitFilters = (filters: readonly BoardFilter[]) => ({
  filters: filters.slice(0, MAX_ARGUMENTS),
  rest: filters.slice(MAX_ARGUMENTS),
})

export const withLocked = (asking: ReportOptions, more: readonly BoardFilter[]): ReportOptions =>
  more.length === 0
    ? asking
    : { ...asking, lockedFilters: [...(asking.lockedFilters ?? []), ...(more as NonNullable<ReportOptions["lockedFilters"]>)] } // names were refused before

/** Members of a report that say how to read its figures. */
const FACTS = ["range", "visitor_window", "identity", "imports", "visitors_estimated", "late_events", "notes", "revenue_currency"] as const

/** Returns the answer of a widget that shows a report. */
export function shown(data: object, more: object = {}): WidgetAnswer {
  const facts = Object.entries(data).filter(([name]) => FACTS.some((fact) => fact === name))
  return { data, meta: { ...Object.fromEntries(facts), ...more } }
}
