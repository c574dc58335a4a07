/** Names of widget types and of what they show. */
import { type Dimension, dimensionLabel, metricLabel } from "#plugin/ui"
import type { Config } from "../board.ts"

/** Names of the types, for the title of a widget without one. The catalogue has the same names for members. */
const TYPE_TITLES: Readonly<Record<string, string>> = {
  metric: "Metric",
  timeseries: "Chart",
  breakdown: "List",
  map: "Map",
  goals: "Goals",
  funnel: "Funnel",
  realtime: "Current visitors",
  comparison: "Comparison",
  annotations: "Notes",
  web_vitals: "Web vitals",
  text: "Text",
  retention: "Retention",
  power_users: "Power users",
  revenue: "Revenue",
  links_top: "Short links",
  pixel_opens: "Email opens",
  search_queries: "Search queries",
}

export const typeTitle = (type: string): string => TYPE_TITLES[type] ?? type

/** Returns the title of a widget: its own, or one that says what it shows. */
export function titleOf({ title, type, config }: { title: string; type: string; config: Config }): string {
  if (title !== "") return title
  const { metric, metrics, dimension, property } = config
  if ((type === "metric" || type === "comparison") && typeof metric === "string") return metricLabel(metric)
  if (type === "timeseries" && Array.isArray(metrics)) return metrics.map((name) => metricLabel(String(name))).join(", ")
  if (type === "breakdown" && typeof dimension === "string")
    return dimensionLabel(dimension as Dimension, typeof property === "string" ? property : undefined) // a name of the catalogue
  return typeTitle(type)
}
