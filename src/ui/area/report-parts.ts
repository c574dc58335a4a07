/** Drawings, lists and dialogs of the core's own reports that plugins show as well. Each is loaded when it is first drawn. */
import { lazyPart } from "../parts/loading.ts"

export { Drawing } from "../report/chart/drawing.ts"

export const WorldMap = lazyPart(() => import("../report/cards/world-map.tsx"))
export const FunnelBars = lazyPart(() => import("./report-drawings.ts"), "FunnelBars")
export const MinuteChart = lazyPart(() => import("./report-drawings.ts"), "MinuteChart")
export const ChartTable = lazyPart(() => import("../report/chart/chart-parts.ts"), "ChartTable")
export const FilterEditor = lazyPart(() => import("../report/filters/filter-editor.tsx"), "FilterEditor")
export const ShareList = lazyPart(() => import("./shares/share-list.tsx"), "ShareList")
