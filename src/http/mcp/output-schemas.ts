import type { ToolName } from "../public/report-schemas.ts"

/** JSON Schema of the result of a tool (api.md section 8.5). Clients validate every result against it. */
export interface OutputSchema {
  type: "object"
  properties: Readonly<Record<string, object>>
  required: readonly string[]
}

const [TEXT, INTEGER, NUMBER, FLAG] = [{ type: "string" }, { type: "integer" }, { type: "number" }, { type: "boolean" }]

const list = (items: object) => ({ type: "array", items })
/** Creates an object schema in which all properties are required except `optional`. */
function object(
  properties: Readonly<Record<string, object>>,
  { optional = [], more }: { optional?: readonly string[]; more?: object } = {},
) {
  const required = Object.keys(properties).filter((name) => !optional.includes(name))
  return { type: "object" as const, properties, required, ...(more && { additionalProperties: more }) }
}

/** Object without listed members, to keep the list of tools below its limit of 24 KiB. */
const PLAIN = { type: "object" }

/** Numbers by metric. */
const VALUES = { type: "object", additionalProperties: NUMBER }

const RANGE = object(
  { from: TEXT, to: TEXT, timezone: TEXT, includes_today: FLAG, from_time: TEXT, to_time: TEXT },
  { optional: ["from_time", "to_time"] },
)

const TOP = list(object({ value: TEXT, label: TEXT, visitors: INTEGER }, { optional: ["label"] }))

const COMMON = {
  site_id: INTEGER,
  range: RANGE,
  visitor_window: { type: "string", enum: ["day", "week", "month", "identified", "persistent", "mixed"] },
  imports: PLAIN,
  visitors_estimated: FLAG,
  notes: list(TEXT),
}

/** Creates the schema of a report with the common members, of which site and range are always present. */
const report = (properties: Readonly<Record<string, object>>, optional: readonly string[] = []): OutputSchema =>
  object({ ...COMMON, ...properties }, { optional: ["visitor_window", "imports", "visitors_estimated", "notes", ...optional] })

const STEP = { type: TEXT, match: TEXT, value: TEXT, name: TEXT }

export const OUTPUT: Readonly<Record<ToolName, OutputSchema>> = {
  list_sites: object(
    {
      sites: list(
        object(
          {
            site_id: INTEGER,
            name: TEXT,
            hosts: list(TEXT),
            timezone: TEXT,
            revenue_currency: TEXT,
            created_at: TEXT,
            first_event_at: TEXT,
          },
          { optional: ["first_event_at"] },
        ),
      ),
      next_cursor: TEXT,
    },
    { optional: ["next_cursor"] },
  ),
  get_summary: report(
    { metrics: VALUES, comparison: object({ range: PLAIN, metrics: VALUES, change_percent: VALUES }), revenue_currency: TEXT },
    ["comparison", "revenue_currency"],
  ),
  get_timeseries: report(
    {
      interval: TEXT,
      points: list(object({ time: TEXT, partial: FLAG }, { optional: ["partial"], more: NUMBER })),
      comparison: object({ range: PLAIN, points: list(object({ time: TEXT }, { more: NUMBER })) }),
      revenue_currency: TEXT,
    },
    ["comparison", "revenue_currency"],
  ),
  get_breakdown: report(
    {
      dimension: TEXT,
      property: TEXT,
      rows: list(object({ value: TEXT, label: TEXT, truncated: FLAG }, { optional: ["label", "truncated"], more: NUMBER })),
      total_rows: INTEGER,
      has_more: FLAG,
      revenue_currency: TEXT,
    },
    ["property", "revenue_currency"],
  ),
  get_realtime: object(
    {
      site_id: INTEGER,
      at: TEXT,
      window_minutes: INTEGER,
      visitors: INTEGER,
      pageviews: INTEGER,
      pages: TOP,
      sources: TOP,
      countries: TOP,
    },
    { optional: ["pageviews", "countries"] },
  ),
  list_goals: report(
    {
      goals: list(
        object(
          {
            goal_id: INTEGER,
            name: TEXT,
            kind: TEXT,
            match: TEXT,
            value: TEXT,
            threshold: INTEGER,
            visitors: INTEGER,
            conversions: INTEGER,
            conversion_rate: NUMBER,
            revenue: NUMBER,
          },
          { optional: ["threshold", "revenue"] },
        ),
      ),
      funnels: list(
        object(
          { funnel_id: INTEGER, name: TEXT, steps: list(object(STEP)), order: TEXT, window_hours: INTEGER },
          { optional: ["window_hours"] },
        ),
      ),
      revenue_currency: TEXT,
    },
    ["revenue_currency"],
  ),
  run_funnel: report(
    {
      funnel_id: INTEGER,
      name: TEXT,
      order: TEXT,
      window_hours: INTEGER,
      entered: INTEGER,
      completed: INTEGER,
      conversion_rate: NUMBER,
      steps: list(
        object(
          {
            step: INTEGER,
            ...STEP,
            visitors: INTEGER,
            conversion_rate: NUMBER,
            step_conversion_rate: NUMBER,
            dropoff: INTEGER,
            median_seconds: INTEGER,
          },
          { optional: ["median_seconds"] },
        ),
      ),
    },
    ["funnel_id", "name", "window_hours"],
  ),
}
