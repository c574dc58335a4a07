import { FLAT_DIMENSIONS } from "../../domain/dimension.ts"
import { OPERATORS } from "../../domain/filter.ts"
import { API, COLLECT, QUERY, THINGS } from "../../domain/limits.ts"
import { FLAT_METRICS } from "../../domain/metric.ts"
import { COMPARISONS } from "../../domain/period.ts"
import { PERIOD_PATTERN } from "../../domain/relative-period.ts"

/**
 * JSON Schema of the arguments of a tool (api.md section 8.5). Flat, without references, alternatives or null, which some clients
 * do not support. The schemas guide models; the parsers of the services validate the arguments.
 */
export interface InputSchema {
  type: "object"
  properties: Readonly<Record<string, object>>
  required?: readonly string[]
  additionalProperties: false
}

const choice = (names: readonly string[], more: object = {}) => ({ type: "string", enum: names, ...more })
const end = (description: string) => ({ type: "string", description })
const list = (maximum: number, usual: number) => ({ type: "integer", minimum: 1, maximum, default: usual })

const SITE = { site_id: { type: "integer", minimum: 1, description: "Numeric site id from list_sites." } }

const FILTER = {
  type: "object",
  properties: {
    dimension: choice([...FLAT_DIMENSIONS, "segment", "cohort"]),
    property: {
      type: "string",
      minLength: 1,
      maxLength: QUERY.propertyChars,
      description: "Property key, only with dimension=property.",
    },
    operator: choice(OPERATORS, { default: "is" }),
    values: { type: "array", minItems: 1, maxItems: QUERY.flatValues, items: { type: "string", maxLength: QUERY.valueChars } },
  },
  required: ["dimension", "values"],
  additionalProperties: false,
}

const RANGED = {
  period: {
    type: "string",
    pattern: PERIOD_PATTERN,
    default: "30d",
    description: "Range up to now, or a number of days or months such as 14d or 3mo, today included. Ignored when from and to are given.",
  },
  from: end("First day, YYYY-MM-DD, or time, YYYY-MM-DDTHH:MM:SS, inclusive. Give from and to together."),
  to: end("Last day or time, inclusive. Clipped to today."),
  timezone: {
    type: "string",
    maxLength: 64,
    description: "IANA zone for day boundaries, e.g. Europe/Berlin. Default: the zone of the site.",
  },
  filters: {
    type: "array",
    maxItems: QUERY.flatFilters,
    default: [],
    description: "All filters must match; inside one filter any value may match. Missing values are (none).",
    items: FILTER,
  },
  imports: { type: "boolean", default: true, description: "Include imported daily totals where they fit the query." },
}

const COMPARED = {
  compare: choice(COMPARISONS, {
    default: "none",
    description:
      "Also return the same metrics for the preceding range of equal length, for the same dates one year earlier, or for compare_from to compare_to.",
  }),
  compare_from: end("First day or time of the compared range, only with compare=custom."),
  compare_to: end("Last day or time of the compared range, only with compare=custom."),
  match_weekday: {
    type: "boolean",
    default: false,
    description: "Move the compared range back by 0 to 6 days so that it starts on the same weekday.",
  },
}

const metrics = (usual: readonly string[]) => ({
  metrics: {
    type: "array",
    items: choice(FLAT_METRICS),
    minItems: 1,
    maxItems: QUERY.flatMetrics,
    uniqueItems: true,
    default: usual,
  },
})

const STEP = {
  type: "object",
  properties: {
    type: choice(["page", "event"]),
    match: choice(["exact", "prefix", "contains", "wildcard"], { default: "exact" }),
    value: { type: "string", minLength: 1, maxLength: COLLECT.pageBytes },
    name: { type: "string", maxLength: THINGS.nameChars },
  },
  required: ["type", "value"],
  additionalProperties: false,
}

const input = (properties: Readonly<Record<string, object>>, ...required: readonly string[]): InputSchema => ({
  type: "object",
  properties,
  ...(required.length > 0 && { required }),
  additionalProperties: false,
})

export const INPUT = {
  list_sites: input({
    search: { type: "string", maxLength: API.searchChars, description: "Keep sites whose name or a host contains this text." },
    limit: list(API.listLimit.max, API.listLimit.default),
    cursor: { type: "string", maxLength: API.searchChars, description: "next_cursor of the previous page." },
  }),
  get_summary: input(
    {
      ...SITE,
      ...RANGED,
      ...COMPARED,
      ...metrics(["visitors", "visits", "pageviews", "views_per_visit", "bounce_rate", "visit_duration", "events"]),
    },
    "site_id",
  ),
  get_timeseries: input(
    {
      ...SITE,
      ...RANGED,
      ...COMPARED,
      ...metrics(["visitors", "pageviews"]),
      interval: choice(["auto", "hour", "day", "week", "month"], { default: "auto" }),
    },
    "site_id",
  ),
  get_breakdown: input(
    {
      ...SITE,
      dimension: choice(FLAT_DIMENSIONS),
      property: { type: "string", minLength: 1, maxLength: QUERY.propertyChars },
      ...RANGED,
      ...metrics(["visitors", "pageviews"]),
      sort: choice(FLAT_METRICS, { description: "One of the requested metrics. Default: the first." }),
      order: choice(["desc", "asc"], { default: "desc" }),
      limit: list(QUERY.breakdownLimit, 10),
      offset: { type: "integer", minimum: 0, maximum: QUERY.breakdownOffset, default: 0 },
    },
    "site_id",
    "dimension",
  ),
  get_realtime: input({ ...SITE, limit: list(QUERY.realtimeLimit, 10) }, "site_id"),
  list_goals: input({ ...SITE, ...RANGED }, "site_id"),
  run_funnel: input(
    {
      ...SITE,
      funnel_id: { type: "integer", minimum: 1, description: "Saved funnel id from list_goals." },
      steps: {
        type: "array",
        minItems: THINGS.funnelSteps.min,
        maxItems: THINGS.funnelSteps.max,
        items: STEP,
        description: "Ad-hoc ordered steps.",
      },
      order: choice(["sequential", "strict"], {
        default: "sequential",
        description: "Only with steps. strict = no other activity between steps.",
      }),
      window_hours: {
        type: "integer",
        minimum: THINGS.windowHours.min,
        maximum: THINGS.windowHours.max,
        description: "Only with steps. Maximum time from first to last step. Default: the whole range.",
      },
      ...RANGED,
    },
    "site_id",
  ),
} as const satisfies Record<string, InputSchema>

export type ToolName = keyof typeof INPUT
