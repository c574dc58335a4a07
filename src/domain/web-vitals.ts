import { type Static, Type as t } from "@sinclair/typebox"
import { VALUE_FIELDS } from "./insight.ts"
import { count, REPORT_FACTS, ReportRange } from "./report.ts"

/** The measures of web vitals, as reports name them. */
export const VITALS = ["lcp", "inp", "cls", "fcp", "ttfb"] as const
const Percentiles = t.Object(
  {
    lcp: t.Optional(t.Number({ description: "Largest contentful paint in milliseconds. Absent if nothing was measured." })),
    inp: t.Optional(t.Number({ description: "Interaction to next paint in milliseconds. Absent if nothing was measured." })),
    cls: t.Optional(t.Number({ description: "Cumulative layout shift. Absent if nothing was measured." })),
    fcp: t.Optional(t.Number({ description: "First contentful paint in milliseconds. Absent if nothing was measured." })),
    ttfb: t.Optional(t.Number({ description: "Time to first byte in milliseconds. Absent if nothing was measured." })),
  },
  { description: "75th percentiles of the requested measures." },
)

const MEASURED_LOADS = count("Number of page loads that were measured.")

export const WebVitals = t.Object(
  {
    ...REPORT_FACTS,
    percentile: t.Integer({ description: "Percentile of the values: 75." }),
    measured_loads: MEASURED_LOADS,
    metrics: Percentiles,
    comparison: t.Optional(
      t.Object({ range: ReportRange, metrics: Percentiles }, { description: "Values in the compared range. Present only with `compare`." }),
    ),
  },
  { title: "WebVitals" },
)
export type WebVitals = Static<typeof WebVitals>

/** Dimensions by which web vitals are reported. */
export const VITAL_DIMENSIONS = ["page", "hostname", "device", "size", "browser", "os", "country", "region", "city"] as const

export const WebVitalsBreakdown = t.Object(
  {
    ...REPORT_FACTS,
    percentile: t.Integer({ description: "Percentile of the values: 75." }),
    dimension: t.String({ description: "Dimension of the rows." }),
    rows: t.Array(t.Object({ ...VALUE_FIELDS, measured_loads: MEASURED_LOADS, ...Percentiles.properties }), {
      description: "Values with measured page loads, in the requested order.",
    }),
    has_more: t.Boolean({ description: "Whether more rows follow." }),
  },
  { title: "WebVitalsBreakdown" },
)
export type WebVitalsBreakdown = Static<typeof WebVitalsBreakdown>
