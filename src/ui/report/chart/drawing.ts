import { lazyPart } from "../../parts/loading.ts"

/** The drawn chart for pages that don't begin with one. The chart library is loaded when it is first drawn. */
export const Drawing = lazyPart(() => import("./time-chart.tsx"), "Drawing")
