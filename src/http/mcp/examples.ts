import type { Fault } from "../../domain/error.ts"
import type { ToolName } from "../public/report-schemas.ts"

/** Valid example value of each argument. All days are in the past. */
const VALUES: Readonly<Record<string, unknown>> = {
  site_id: 1,
  search: "shop",
  period: "7d",
  timezone: "Europe/Berlin",
  filters: [{ dimension: "country", operator: "is", values: ["DE"] }],
  compare: "previous_period",
  match_weekday: true,
  imports: false,
  metrics: ["visitors", "pageviews"],
  interval: "day",
  dimension: "page",
  sort: "visitors",
  order: "desc",
  limit: 10,
  offset: 0,
  funnel_id: 3,
  steps: [
    { type: "page", value: "/pricing" },
    { type: "event", value: "signup" },
  ],
  window_hours: 24,
}

/** Arguments that are only valid together. */
const COMBINATIONS: readonly Readonly<Record<string, unknown>>[] = [
  { from: "2025-01-01", to: "2025-01-31" },
  { compare: "custom", compare_from: "2024-12-01", compare_to: "2024-12-31" },
  { dimension: "property", property: "plan" },
]

/** Returns an example such as `Example: {"period":"7d"}.` with an allowed value of an argument, or "" if there is none. */
export function argumentExample(name: string, allowed?: Fault["allowed"]): string {
  const value = Object.hasOwn(VALUES, name) ? VALUES[name] : undefined
  const example =
    value === undefined ? COMBINATIONS.find((together) => Object.hasOwn(together, name)) : { [name]: validValue(value, allowed) }
  return example ? sentence(example) : ""
}

/** Returns an example of a complete call. */
export function callExample(tool: ToolName): string {
  if (tool === "list_sites") return sentence({ search: VALUES.search })
  return sentence({
    site_id: VALUES.site_id,
    ...(tool === "get_breakdown" && { dimension: VALUES.dimension }),
    ...(tool === "run_funnel" && { steps: VALUES.steps }),
  })
}

function validValue(value: unknown, allowed: Fault["allowed"]): unknown {
  const isOther = typeof value === "string" && Array.isArray(allowed) && allowed.length > 0 && !allowed.includes(value)
  return isOther ? allowed[0] : value
}

const sentence = (example: object): string => `Example: ${JSON.stringify(example)}.`
