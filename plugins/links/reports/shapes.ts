import { type Static, Type as t } from "@sinclair/typebox"
import { Id } from "../shown.ts"

const Count = t.Integer()
const Meta = t.Any({ description: "Range of the report, visitor window and notes." })
const Clicks = t.Object({ total: Count, human: Count, bot: Count, unique: Count, qr: Count })
const CLICK = { human: t.Optional(Count), bot: t.Optional(Count), total: t.Optional(Count), unique: t.Optional(Count) }
export const StatsShown = t.Object(
  {
    clicks: Clicks,
    bot_reasons: t.Record(t.String(), Count),
    rules: t.Array(t.Object({ rule: Count, human: Count })),
    conversions: t.Optional(t.Array(t.Object({ goal_id: Id, name: t.String(), visits: Count, visitors: Count }))),
    comparison: t.Optional(t.Object({ range: t.Any(), clicks: Clicks, change_percent: t.Record(t.String(), t.Number()) })),
    meta: Meta,
  },
  { title: "LinkStats" },
)
const Point = t.Object({ time: t.String(), partial: t.Optional(t.Boolean()), ...CLICK })
export const TimeseriesShown = t.Object(
  {
    interval: t.String(),
    points: t.Array(Point),
    comparison: t.Optional(t.Object({ range: t.Any(), points: t.Array(Point) })),
    meta: Meta,
  },
  { title: "LinkTimeseries" },
)
export const BreakdownShown = t.Object(
  {
    dimension: t.String(),
    rows: t.Array(t.Object({ value: t.String(), label: t.Optional(t.String()), truncated: t.Optional(t.Boolean()), ...CLICK })),
    total_rows: Count,
    has_more: t.Boolean(),
    meta: Meta,
  },
  { title: "LinkBreakdown" },
)
export const OrphansShown = t.Object(
  {
    domains: t.Array(t.Object({ day: t.String(), domain_id: t.Integer(), kind: t.String(), path_sample: t.String(), count: Count })),
    instance: t.Array(t.Object({ day: t.String(), kind: t.String(), count: Count })),
  },
  { title: "LinkOrphans" },
)

export type StatsShown = Static<typeof StatsShown>
export type TimeseriesShown = Static<typeof TimeseriesShown>
export type BreakdownShown = Static<typeof BreakdownShown>
