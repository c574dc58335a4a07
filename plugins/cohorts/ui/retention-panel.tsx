import type { WidgetPanelProps } from "#plugin/ui"
import type { RetentionResponse } from "../responses.ts"
import { Triangle } from "./retention-grid.tsx"

/** Retention on a dashboard: the grid in percent. */
export default function RetentionPanel({ data, config }: WidgetPanelProps) {
  const report = data as Pick<RetentionResponse, "rows"> // the answer of this type of widget
  return <Triangle of={report} by={typeof config.grain === "string" ? config.grain : "week"} shows="rate" />
}
