import { expect, test } from "bun:test"
import { INSTRUCTIONS, TOOLS } from "../../../src/http/mcp/tools.ts"

const words = (text: string) => text.split(" ")
const DIMENSIONS = words(
  "page title entry_page exit_page hostname source referrer channel utm_source utm_medium utm_campaign utm_term utm_content country region city device size browser browser_version os os_version language event goal property",
)
const METRICS = words(
  "visitors visits pageviews events views_per_visit bounce_rate visit_duration engaged_time time_on_page scroll_depth exit_rate conversions conversion_rate revenue",
)
const text = (more: object) => ({ type: "string", ...more })
const end = (description: string) => text({ description })

/** The shared properties, as the public document describes them. */
const SHARED: Readonly<Record<string, object>> = {
  site_id: { type: "integer", minimum: 1, description: "Numeric site id from list_sites." },
  period: text({
    pattern: "^(today|yesterday|24h|last_week|month|last_month|year|all|[1-9][0-9]{0,3}(d|mo))$",
    default: "30d",
    description: "Range up to now, or a number of days or months such as 14d or 3mo, today included. Ignored when from and to are given.",
  }),
  from: end("First day, YYYY-MM-DD, or time, YYYY-MM-DDTHH:MM:SS, inclusive. Give from and to together."),
  to: end("Last day or time, inclusive. Clipped to today."),
  timezone: text({ maxLength: 64, description: "IANA zone for day boundaries, e.g. Europe/Berlin. Default: the zone of the site." }),
  filters: {
    type: "array",
    maxItems: 10,
    default: [],
    description: "All filters must match; inside one filter any value may match. Missing values are (none).",
    items: {
      type: "object",
      properties: {
        dimension: text({ enum: [...DIMENSIONS, "segment", "cohort"] }),
        property: text({ minLength: 1, maxLength: 300, description: "Property key, only with dimension=property." }),
        operator: text({ enum: words("is is_not contains contains_not starts_with matches_wildcard matches_wildcard_not"), default: "is" }),
        values: { type: "array", minItems: 1, maxItems: 50, items: text({ maxLength: 2000 }) },
      },
      required: ["dimension", "values"],
      additionalProperties: false,
    },
  },
  compare: text({
    enum: words("none previous_period previous_year custom"),
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
  imports: { type: "boolean", default: true, description: "Include imported daily totals where they fit the query." },
}

const RANGED = words("period from to timezone filters imports")
const COMPARED = words("compare compare_from compare_to match_weekday metrics")
const COMMON = words("site_id range visitor_window identity imports visitors_estimated notes")

/** Title, description, arguments and result of each tool. Of the result, only the members that are always present. */
const DOCUMENTED: readonly [name: string, title: string, description: string, input: string[], output: string[], required: string[]][] = [
  [
    "list_sites",
    "List sites",
    "Lists the sites this API key may query, with id, name, hosts, time zone and currency. Call this first: every other tool needs a site_id from here.",
    words("search limit cursor"),
    words("sites next_cursor"),
    ["sites"],
  ],
  [
    "get_summary",
    "Get summary",
    "Headline totals of one site for a period: visitors, visits, page views, views per visit, bounce rate (percent), average visit duration (seconds), events (page views plus custom events). Set compare to see the change against an earlier period. Use get_timeseries for trends and get_breakdown for top lists.",
    ["site_id", ...RANGED, ...COMPARED],
    [...COMMON, ...words("metrics comparison revenue_currency")],
    words("site_id range metrics"),
  ],
  [
    "get_timeseries",
    "Get time series",
    "Metrics of one site in equal time buckets, for trends and spikes. Buckets without traffic are present with 0. A bucket with partial=true is still running or cut by the range: do not read it as a drop. Visitors of several buckets must not be added up.",
    ["site_id", ...RANGED, ...COMPARED, "interval"],
    [...COMMON, ...words("interval points comparison revenue_currency")],
    words("site_id range interval points"),
  ],
  [
    "get_breakdown",
    "Get breakdown",
    "Top values of one dimension with their metrics, largest first: top pages, sources, countries, browsers, campaigns, events, goals. Example: top pages for visits from Germany = dimension page, filters [{dimension country, values [DE]}].",
    ["site_id", "dimension", "property", ...RANGED, ...words("metrics sort order limit offset")],
    [...COMMON, ...words("dimension property rows total_rows has_more revenue_currency")],
    words("site_id range dimension rows total_rows has_more"),
  ],
  [
    "get_realtime",
    "Get realtime visitors",
    "Visitors active on the site in the last 5 minutes, with their current pages and sources. No history: use get_timeseries for that.",
    words("site_id limit"),
    words("site_id at window_minutes visitors pageviews pages sources countries late_events"),
    words("site_id at window_minutes visitors pages sources"),
  ],
  [
    "list_goals",
    "List goals",
    "The goals of a site with their conversions in the period, and the saved funnels of the site (id, name, steps) for run_funnel.",
    ["site_id", ...RANGED],
    [...COMMON, ...words("goals funnels revenue_currency")],
    words("site_id range goals funnels"),
  ],
  [
    "run_funnel",
    "Run funnel",
    "Step-by-step conversion: how many visitors did step 1, then step 2 later, and so on, within the period. Give funnel_id of a saved funnel (from list_goals) or steps for an ad-hoc funnel, not both.",
    ["site_id", ...words("funnel_id steps order window_hours"), ...RANGED],
    [...COMMON, ...words("funnel_id name order window_hours entered completed conversion_rate steps")],
    words("site_id range order entered completed conversion_rate steps"),
  ],
]

test("lists seven tools in order, each as documented", () => {
  const shown = TOOLS.map(({ name, title, description, inputSchema, outputSchema }) => [
    name,
    title,
    description,
    Object.keys(inputSchema.properties),
    Object.keys(outputSchema.properties),
    outputSchema.required,
  ])
  expect(shown).toEqual(DOCUMENTED.map((tool) => [...tool]))
  for (const { name, title, annotations, inputSchema } of TOOLS) {
    expect(annotations).toEqual({ title, readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false })
    const required = name === "list_sites" ? undefined : name === "get_breakdown" ? ["site_id", "dimension"] : ["site_id"]
    expect(inputSchema.required).toEqual(required as string[])
  }
})

test("properties shared by several tools are identical in each", () => {
  for (const { inputSchema } of TOOLS)
    for (const [name, schema] of Object.entries(inputSchema.properties))
      if (name in SHARED) expect({ name, schema }).toEqual({ name, schema: SHARED[name]! })
})

const list = (usual: readonly string[]) => ({
  type: "array",
  items: text({ enum: METRICS }),
  minItems: 1,
  maxItems: 10,
  uniqueItems: true,
  default: usual,
})
const limit = (maximum: number, usual: number) => ({ type: "integer", minimum: 1, maximum, default: usual })

test.each<[string, Readonly<Record<string, object>>]>([
  [
    "list_sites",
    {
      search: text({ maxLength: 200, description: "Keep sites whose name or a host contains this text." }),
      limit: limit(100, 50),
      cursor: text({ maxLength: 200, description: "next_cursor of the previous page." }),
    },
  ],
  ["get_summary", { metrics: list(words("visitors visits pageviews views_per_visit bounce_rate visit_duration events")) }],
  [
    "get_timeseries",
    { metrics: list(["visitors", "pageviews"]), interval: text({ enum: words("auto hour day week month"), default: "auto" }) },
  ],
  [
    "get_breakdown",
    {
      dimension: text({ enum: DIMENSIONS }),
      property: text({ minLength: 1, maxLength: 300 }),
      metrics: list(["visitors", "pageviews"]),
      sort: text({ enum: METRICS, description: "One of the requested metrics. Default: the first." }),
      order: text({ enum: ["desc", "asc"], default: "desc" }),
      limit: limit(1000, 10),
      offset: { type: "integer", minimum: 0, maximum: 10_000, default: 0 },
    },
  ],
  ["get_realtime", { limit: limit(50, 10) }],
  [
    "run_funnel",
    {
      funnel_id: { type: "integer", minimum: 1, description: "Saved funnel id from list_goals." },
      steps: {
        type: "array",
        minItems: 2,
        maxItems: 10,
        items: {
          type: "object",
          properties: {
            type: text({ enum: ["page", "event"] }),
            match: text({ enum: words("exact prefix contains wildcard"), default: "exact" }),
            value: text({ minLength: 1, maxLength: 2000 }),
            name: text({ maxLength: 120 }),
          },
          required: ["type", "value"],
          additionalProperties: false,
        },
        description: "Ad-hoc ordered steps.",
      },
      order: text({
        enum: ["sequential", "strict"],
        default: "sequential",
        description: "Only with steps. strict = no other activity between steps.",
      }),
      window_hours: {
        type: "integer",
        minimum: 1,
        maximum: 720,
        description: "Only with steps. Maximum time from first to last step. Default: the whole range.",
      },
    },
  ],
])("%s has the documented properties of its own", (tool, expected) => {
  const { properties } = TOOLS.find(({ name }) => name === tool)!.inputSchema
  expect(Object.fromEntries(Object.entries(properties).filter(([name]) => name in expected))).toEqual(expected)
})

/** Yields every object inside a value. */
function* objectsIn(value: unknown): Generator<Record<string, unknown>> {
  if (typeof value !== "object" || value === null) return
  if (!Array.isArray(value)) yield value as Record<string, unknown> // only objects remain
  for (const inner of Object.values(value)) yield* objectsIn(inner)
}

test("schemas use only keywords that all clients support", () => {
  for (const { inputSchema, outputSchema } of TOOLS) {
    for (const schema of [...objectsIn(inputSchema), ...objectsIn(outputSchema)]) {
      for (const unread of ["$ref", "$defs", "anyOf", "oneOf", "allOf", "const", "nullable"])
        expect(Object.keys(schema)).not.toContain(unread)
      if ("type" in schema) expect(typeof schema.type === "string" || typeof schema.type === "object").toBe(true)
      expect(Array.isArray(schema.type)).toBe(false)
    }
    for (const schema of objectsIn(inputSchema)) if (schema.type === "object") expect(schema.additionalProperties).toBe(false)
  }
})

test("the list of tools is at most 24 KiB, the instructions at most 1,500 characters", () => {
  expect(Buffer.byteLength(JSON.stringify({ jsonrpc: "2.0", id: 1, result: { tools: TOOLS } }))).toBeLessThanOrEqual(24 << 10)
  expect(INSTRUCTIONS.length).toBeLessThanOrEqual(1_500)
})
