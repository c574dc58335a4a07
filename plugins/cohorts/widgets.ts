import { Type as t } from "@sinclair/typebox"
import { defineWidget, hidesRevenue, type Widget, type WidgetQuestion } from "#plugin"
import { WINDOWS } from "./activity.ts"
import type { Area } from "./area.ts"
import type { ReportCaller } from "./caller.ts"
import { HistogramResponse, RetentionResponse } from "./responses.ts"
import { RetentionInput } from "./retention.ts"
import { oneOf } from "./schemas.ts"

const { start, return: returning, mode, counting } = RetentionInput.properties
const RetentionConfig = t.Object(
  {
    start,
    return: returning,
    mode,
    counting,
    grain: t.Optional(oneOf(["day", "week", "month"], "Length of a period. Default: `week`.")),
    periods: t.Optional(t.Integer({ minimum: 1, maximum: 53, description: "Cells of a row. Default: 12." })),
  },
  { additionalProperties: false },
)
const ActiveDaysConfig = t.Object(
  { window: t.Optional(oneOf(WINDOWS, "Days of the window. Default: 28.")) },
  { additionalProperties: false },
)

/** Both look beyond the filtered visits: at other visits of the same people. A locked filter would not limit what they show. */
const FILTERED = { filter_dimensions: "all", lock_dimensions: [] } as const

/** Returns the cards of saved dashboards. On a shared one, small groups are hidden as the share says. */
export function widgetsOf({ retention, activity }: Area): Record<string, Widget> {
  return {
    retention: defineWidget<typeof RetentionConfig>({
      title: "Retention",
      description: "How many people came back, by the period in which they started.",
      size: { min_w: 4, min_h: 3, w: 12, h: 5 },
      config: RetentionConfig,
      needs: "cohorts:read",
      ...FILTERED,
      shareable: () => true,
      answer: t.Omit(RetentionResponse, ["meta"]),
      async resolve({ given, ...question }, { grain, ...config }) {
        const { from, to, filters } = given
        const body = { ...config, ...(grain && { cohort_by: grain }), ...defined({ from, to, filters }) }
        const { meta, ...data } = await retention(callerOf({ given, ...question }), body)
        return { data, meta }
      },
    }),
    power_users: defineWidget<typeof ActiveDaysConfig>({
      title: "Power users",
      description: "On how many days of the last 7 or 28 people are active.",
      size: { min_w: 3, min_h: 2, w: 6, h: 3 },
      config: ActiveDaysConfig,
      needs: "cohorts:read",
      ...FILTERED,
      shareable: () => true,
      answer: t.Omit(HistogramResponse, ["meta"]),
      async resolve({ given, ...question }, { window }) {
        const { meta, ...data } = await activity.histogram(callerOf({ given, ...question }), defined({ window, filters: given.filters }))
        return { data, meta }
      },
    }),
  }
}

/** On a shared dashboard and for people without the permission to see people, groups below the minimum are hidden. */
const callerOf = ({ site, asking: caller }: WidgetQuestion): ReportCaller => ({
  site,
  least: caller.seesPeople ? 0 : Math.max(site.settings.min_group, caller.minVisitors ?? 0),
  seesRevenue: !hidesRevenue(site, caller),
  ...(caller.userId !== undefined && { userId: caller.userId }),
  ...(caller.signal && { signal: caller.signal }),
  ...(caller.locked && { lockedFilter: caller.locked }),
  ...(caller.lockedFilters && { locked: caller.lockedFilters }),
})

const defined = (fields: Record<string, unknown>): Record<string, unknown> =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined))
