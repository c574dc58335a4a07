/** What viewers of a shared dashboard receive. */
import { type Static, Type as t } from "@sinclair/typebox"
import { isObject } from "#plugin"
import { RangeInput } from "../ranges.ts"
import { DataInput } from "../responses.ts"
import { Theme } from "./share.ts"

const text = (description: string) => t.String({ description })
const count = (description: string) => t.Integer({ minimum: 0, description })
const shown = (description: string) => t.Optional(t.String({ description }))

/** The parts of a configuration that say how the figures of a widget are drawn. The figures show them anyway. */
export const DrawnConfig = t.Object(
  {
    metric: shown("Metric."),
    metrics: t.Optional(t.Array(t.String(), { description: "Metrics, in the order of the columns." })),
    dimension: shown("Dimension that is listed."),
    property: shown("Key of the property that is listed."),
    level: shown("Areas of a map."),
    chart: t.Optional(t.Union([t.String(), t.Boolean()], { description: "Form of a chart, or whether there is one." })),
    bars: t.Optional(t.Boolean({ description: "Whether a bar is drawn behind each row." })),
    sparkline: t.Optional(t.Boolean({ description: "Whether a metric is drawn over time." })),
    group_by: shown("What revenue is grouped by."),
    window: shown("Period in which power users were active."),
    grain: shown("Length of a column of a retention report."),
  },
  { additionalProperties: false, description: "How the figures are drawn. Empty for a widget that viewers can't see." },
)
export type DrawnConfig = Static<typeof DrawnConfig>

/** Returns the parts of a configuration that viewers may know: never filters, ids, ranges or labels. */
export const drawnConfig = (config: Readonly<Record<string, unknown>>): DrawnConfig =>
  Object.fromEntries(Object.entries(config).filter(([name]) => Object.hasOwn(DrawnConfig.properties, name)))

export const OpenBoard = t.Object({
  password_required: t.Literal(false),
  name: text("Name of the share."),
  title: text("Name of the dashboard."),
  timezone: text("IANA time zone of the site."),
  range: RangeInput,
  refresh_s: count("Seconds between two updates in full screen. 0 turns them off."),
  theme: Theme,
  allow_range: t.Boolean({ description: "Whether viewers can change the period." }),
  allow_filters: t.Boolean({ description: "Whether viewers can add filters." }),
  allow_export: t.Boolean({ description: "Whether viewers can export data." }),
  filtered: t.Boolean({ description: "Whether filters are locked, which the response doesn't name." }),
  sites: t.Optional(
    t.Array(t.Object({ site: count("Number of the site for requests."), name: text("Name of the site.") }), {
      description: "Sites of which viewers can choose one. Absent if there is only one.",
    }),
  ),
  widgets: t.Array(
    t.Object({
      id: t.Integer({ description: "Id of the widget." }),
      type: text("Type of the widget."),
      title: text("Title. Empty for the title of the type."),
      x: count("First column, from 0."),
      y: count("First row, from 0."),
      w: count("Number of columns."),
      h: count("Number of rows."),
      config: DrawnConfig,
    }),
    { description: "Widgets by id." },
  ),
})
export type OpenBoard = Static<typeof OpenBoard>

/** The response for a shared dashboard. A locked one reveals nothing else. */
export const SharedBoardResponse = t.Union([OpenBoard, t.Object({ password_required: t.Literal(true) })])
export type SharedBoardResponse = Static<typeof SharedBoardResponse>

export const SharedDataInput = t.Object(
  {
    ...DataInput.properties,
    site: t.Optional(count("Number of the site, from `sites`. Default: 0, the site of the dashboard.")),
  },
  { additionalProperties: false, title: "SharedDashboardDataInput" },
)

/** Names of members that hold ids of other resources, or the people who wrote them. */
const ID = /(^|_)(id|ids|owner|author)$/

/** Returns a copy without ids: they tell strangers what else exists. */
export function withoutIds<Value extends object>(value: Value): Value {
  const walk = (inner: unknown): unknown => {
    if (Array.isArray(inner)) return inner.map(walk)
    if (!isObject(inner)) return inner
    return Object.fromEntries(
      Object.entries(inner)
        .filter(([name]) => !ID.test(name))
        .map(([name, field]) => [name, walk(field)]),
    )
  }
  return walk(value) as Value // the same object with fewer members
}
