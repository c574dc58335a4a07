/** Widgets of goals, funnels, current visitors, annotations and text. */
import { Type as t } from "@sinclair/typebox"
import {
  AppError,
  type Fault,
  FunnelInsight,
  fault,
  formatScopedAnnotation,
  GoalReport,
  isClean,
  Paged,
  RealtimePanel,
  ScopedAnnotationResponse,
} from "#plugin"
import { LIMITS } from "../board.ts"
import { asked, type CoreWidget, closed, coreWidget, ids, shown, withLocked } from "./core.ts"

const READ = { needs: "site:read", filter_dimensions: "all", shareable: () => true } as const

const GoalsConfig = t.Object(
  {
    goal_ids: t.Optional(ids("Ids of the goals to show. Default: all.")),
    limit: t.Optional(t.Integer({ minimum: 1, maximum: 50, description: "Number of goals. Default: 9." })),
  },
  closed,
)
const goals = coreWidget<typeof GoalsConfig>({
  ...READ,
  title: "Goals",
  description: "Goals with their conversions.",
  size: { min_w: 3, min_h: 2, w: 6, h: 4 },
  config: GoalsConfig,
  answer: GoalReport,
  async run(reports, question, { goal_ids, limit = 9 }) {
    const { given, options } = asked(question, { compares: false })
    const report = await reports.goals(question.site, given, options)
    const wanted = goal_ids ? report.goals.filter(({ goal_id }) => goal_ids.includes(goal_id)) : report.goals
    const order = wanted.toSorted((a, b) => b.conversions - a.conversions || a.goal_id - b.goal_id)
    return shown({ ...report, goals: order.slice(0, limit), funnels: question.isShared ? [] : report.funnels })
  },
})

const Step = t.Object(
  {
    type: t.Union([t.Literal("page"), t.Literal("event")], { description: "Whether the value is a page path or an event name." }),
    match: t.Optional(
      t.Union([t.Literal("exact"), t.Literal("prefix"), t.Literal("contains"), t.Literal("wildcard")], {
        description: "Comparison with `value`. Default: `exact`.",
      }),
    ),
    value: t.String({ minLength: 1, maxLength: 2_000, description: "Page path or event name." }),
    name: t.Optional(t.String({ minLength: 1, maxLength: 120, description: "Display name. Default: derived from `value`." })),
  },
  closed,
)
const FunnelConfig = t.Object(
  {
    funnel_id: t.Optional(t.Integer({ minimum: 1, description: "Id of a saved funnel. Excludes `steps`." })),
    steps: t.Optional(t.Array(Step, { minItems: 2, maxItems: 10, description: "Steps, if the funnel is not a saved one." })),
  },
  closed,
)
const funnel = coreWidget<typeof FunnelConfig>({
  ...READ,
  title: "Funnel",
  description: "How many visitors take each step, and where they leave.",
  size: { min_w: 4, min_h: 3, w: 6, h: 4 },
  config: FunnelConfig,
  answer: FunnelInsight,
  check({ funnel_id, steps }, pointer) {
    if (funnel_id === undefined && steps === undefined) return [fault(`${pointer}/funnel_id`, "required", "is required, or steps")]
    if (funnel_id !== undefined && steps !== undefined)
      return [fault(`${pointer}/steps`, "unsupported_combination", "cannot be combined with funnel_id")]
    return []
  },
  async run(reports, question, config) {
    const { given, options } = asked(question)
    return shown(await reports.funnel(question.site, { ...given, ...config }, options))
  },
})

const MINUTES = 30
const RealtimeConfig = t.Object(
  { minutes: t.Optional(t.Integer({ minimum: 5, maximum: MINUTES, description: "Minutes of the chart. Default: 30." })) },
  closed,
)
const realtime = coreWidget<typeof RealtimeConfig>({
  ...READ,
  title: "Current visitors",
  description: "Visitors of the last five minutes, and visitors per minute.",
  size: { min_w: 3, min_h: 2, w: 4, h: 3 },
  config: RealtimeConfig,
  answer: RealtimePanel,
  async run(reports, { site, filters, asking, isShared }, { minutes = MINUTES }) {
    const panel = await reports.realtime(site, {}, withLocked(asking, filters))
    const least = asking.minVisitors ?? 0
    const large = <Row extends { visitors: number }>(rows: readonly Row[]) => rows.filter(({ visitors }) => visitors >= least)
    const { pages, sources, countries, events, ...rest } = panel
    return shown({
      ...rest,
      minutes: rest.minutes.slice(-minutes),
      pages: large(pages),
      sources: large(sources),
      countries: large(countries),
      // A single event is a group of one visitor.
      events: isShared ? [] : events,
    })
  },
})

const AnnotationsConfig = t.Object(
  { limit: t.Optional(t.Integer({ minimum: 1, maximum: 50, description: "Number of annotations, latest first. Default: 9." })) },
  closed,
)
const annotations = coreWidget<typeof AnnotationsConfig>({
  ...READ,
  title: "Annotations",
  description: "The latest notes within the range.",
  size: { min_w: 3, min_h: 2, w: 4, h: 3 },
  config: AnnotationsConfig,
  answer: Paged(ScopedAnnotationResponse),
  async run(reports, { site, days, asking, isShared }, { limit = 9 }) {
    const found = await reports.annotations(site, days, isShared ? undefined : asking.userId)
    const rows = found.map((annotation) => ({ ...formatScopedAnnotation(annotation, site), version: annotation.version }))
    const latest = rows
      .filter(({ scope }) => !isShared || scope === "site")
      .sort((a, b) => compare(b.day, a.day) || compare(b.at, a.at) || b.id - a.id)
    // Viewers of a public link don't learn who writes.
    const data = latest.slice(0, limit).map((row) => (isShared ? { ...row, owner: null } : row))
    return { data: { data, has_more: latest.length > limit, next_cursor: null }, meta: {} }
  },
})

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)

const TextConfig = t.Object({ markdown: t.Optional(t.Any({ type: "string", description: "Text in Markdown, at most 10 KiB." })) }, closed)
/** Line feeds and tabs are the only control characters of a text. */
const LINES = /[\n\t]/g

const text = coreWidget<typeof TextConfig>({
  needs: "dashboards:read",
  filter_dimensions: "all",
  shareable: () => true,
  title: "Text",
  description: "Headings, explanations and links, in Markdown.",
  size: { min_w: 2, min_h: 1, w: 4, h: 2 },
  config: TextConfig,
  answer: t.Object({ markdown: t.String({ description: "Text in Markdown. Raw HTML and images are not rendered." }) }),
  check({ markdown }, pointer): Fault[] {
    const at = `${pointer}/markdown`
    if (markdown === undefined) return [fault(at, "required", "is required")]
    if (typeof markdown !== "string") return [fault(at, "invalid_type", "must be text")]
    if (Buffer.byteLength(markdown) > LIMITS.markdownBytes)
      return [fault(at, "too_long", `must have at most ${LIMITS.markdownBytes} bytes`)]
    return isClean(markdown.replace(LINES, " ")) ? [] : [fault(at, "invalid_characters", "contains control characters or invalid Unicode")]
  },
  async run(_, __, { markdown }) {
    if (typeof markdown !== "string") throw new AppError("broken_reference", "The widget has no text.")
    return { data: { markdown }, meta: {} }
  },
})

export const REPORTS: Readonly<Record<string, CoreWidget>> = { goals, funnel, realtime, annotations, text }
