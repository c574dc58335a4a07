import { type Static, type TProperties, type TSchema, Type as t } from "@sinclair/typebox"
import {
  Breakdown,
  CHANGES,
  FunnelReport,
  GoalReport,
  METRICS,
  type REPORT_FACTS,
  Realtime,
  ReportRange,
  Summary,
  Timeseries,
} from "../../domain/report.ts"
import { SiteResponse } from "../../domain/site-response.ts"
import type { ToolName } from "../public/report-schemas.ts"

/**
 * JSON Schema of the result of a tool (api.md section 8.5). Clients validate every result against it. It is derived from the schema
 * of the response and shortened, to keep the list of tools below its limit of 24 KiB.
 */
export interface OutputSchema {
  type: "object"
  properties: Readonly<Record<string, object>>
  required: readonly string[]
}

const { name, hosts, timezone, revenue_currency, created_at, first_event_at } = SiteResponse.properties
const SiteList = t.Object({
  sites: t.Array(t.Object({ site_id: t.Integer(), name, hosts, timezone, revenue_currency, created_at, first_event_at })),
  next_cursor: t.Optional(t.String()),
})
/** Result of `list_sites`. */
export type SiteList = Static<typeof SiteList>

/** The fields of `imports` and `identity` would take a thirtieth of the limit each, once for each report. */
const facts = { identity: t.Optional(t.Object({})), imports: t.Optional(t.Object({})) }
/** The steps of a funnel have no revenue. What `late_events` says is also a note. */
const report = ({ revenue_currency, late_events: _, ...others }: TProperties & typeof REPORT_FACTS, hasRevenue = true) =>
  shortened(t.Object({ ...others, ...facts, ...(hasRevenue && { revenue_currency }) }))

// Buckets of the compared range are over.
const { partial: _, ...earlierPoint } = Timeseries.properties.points.items.properties
const earlier = t.Optional(t.Object({ range: ReportRange, points: t.Array(t.Object(earlierPoint)) }))
const { pageviews, countries } = Realtime.properties

export const OUTPUT: Readonly<Record<ToolName, OutputSchema>> = {
  list_sites: shortened(SiteList),
  get_summary: report(Summary.properties),
  get_timeseries: report({ ...Timeseries.properties, comparison: earlier }),
  get_breakdown: report(Breakdown.properties),
  get_realtime: shortened(t.Object({ ...Realtime.properties, pageviews: t.Optional(pageviews), countries: t.Optional(countries) })),
  list_goals: report(GoalReport.properties),
  run_funnel: report(FunnelReport.properties, false),
}

/** Returns the schema of an object without descriptions and bounds. */
function shortened(schema: TSchema): OutputSchema {
  return short(schema, true) as OutputSchema // the schema of an object with properties
}

function short(schema: TSchema, isWhole = false): object {
  if (schema.anyOf) return { type: "string", enum: schema.anyOf.map((choice: { const: string }) => choice.const) }
  if (schema.type === "array") return { type: "array", items: short(schema.items) }
  if (schema.type !== "object") return { type: schema.type }
  return shortObject(schema.properties, schema.required ?? [], isWhole)
}

/** Metrics become additional properties, because they are numbers by name. Only the range of the report itself is described. */
function shortObject(all: TProperties, required: readonly string[], isWhole: boolean): object {
  const hasMetrics = [METRICS, CHANGES].some((known) => Object.entries(known).some(([metric, schema]) => all[metric] === schema))
  const isFigure = (name: string) => hasMetrics && all[name]!.type === "number" && !required.includes(name)
  const listed = Object.entries(all).filter(([name]) => !isFigure(name))
  const properties = listed.map(([name, schema]) => [name, schema === ReportRange && !isWhole ? { type: "object" } : short(schema)])
  return {
    type: "object",
    ...(listed.length > 0 && {
      properties: Object.fromEntries(properties),
      required: listed.map(([name]) => name).filter((name) => required.includes(name)),
    }),
    ...(hasMetrics && { additionalProperties: { type: "number" } }),
  }
}
