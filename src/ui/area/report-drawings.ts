/** Drawings of single reports as one part, because every part costs the first view a line in its list. */
export { FunnelBars } from "../screens/funnels/funnel-bars.tsx"
export { Bars as MinuteChart } from "../screens/realtime/minute-bars.tsx"
