import { FunnelPanel, RealtimePanel, TimeseriesPanel } from "./charts.tsx"
import { ComparisonPanel, MetricPanel, VitalsPanel } from "./figures.tsx"
import { AnnotationsPanel, BreakdownPanel, GoalsPanel, MapPanel } from "./lists.tsx"
import type { PanelProps } from "./panel.ts"
import { TextPanel } from "./text.tsx"
import { Unavailable } from "./tile-fault.tsx"

/** Panels of the core's own widgets, by type. */
const PANELS = {
  metric: MetricPanel,
  comparison: ComparisonPanel,
  web_vitals: VitalsPanel,
  breakdown: BreakdownPanel,
  map: MapPanel,
  goals: GoalsPanel,
  annotations: AnnotationsPanel,
  timeseries: TimeseriesPanel,
  realtime: RealtimePanel,
  funnel: FunnelPanel,
  text: TextPanel,
} as const

/** Draws a widget of the core. A type that no plugin has any more is unavailable. */
export default function CorePanel({ type, props }: { type: string; props: PanelProps }) {
  if (!Object.hasOwn(PANELS, type)) return <Unavailable />
  const Panel = PANELS[type as keyof typeof PANELS] // just looked up
  return <Panel {...props} />
}
