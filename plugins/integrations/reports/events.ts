import { Type as t } from "@sinclair/typebox"
import { field, orNull, type ProductEventForm, textOf } from "#plugin"
import { METRICS, type ReportList, type ReportMetric } from "./content.ts"
import type { ReportChannel, ReportKind } from "./report.ts"

export const REPORT_READY = "report.ready"

const LIST_SECTIONS: readonly ReportList["section"][] = ["pages", "sources", "places", "goals", "search_queries"]

/** The product event of a report. It has the content of the report, but no recipients. */
export const REPORT_EVENTS = {
  [REPORT_READY]: {
    title: "Report ready",
    payload: t.Object(
      {
        report_id: field.id("Id of the report."),
        channel: textOf<ReportChannel>({ description: "Channel of the report: `email` or `chat`." }),
        title: field.text("Title of the report, with the name of the site."),
        kind: textOf<ReportKind>({ description: "Kind of the report: `daily`, `weekly` or `monthly`." }),
        from: field.text("First day that the report covers."),
        to: field.text("Last day that the report covers."),
        currency: field.text("ISO 4217 code of the currency of revenue."),
        figures: t.Array(
          t.Object({
            metric: textOf<ReportMetric>({ description: `Metric: ${METRICS.map((metric) => `\`${metric}\``).join(", ")}.` }),
            value: t.Number({ description: "Value. Rates are in percent, durations in seconds." }),
            change: orNull(t.Number(), { description: "Change to the period before in percent. null if it was 0 then." }),
          }),
          { description: "Figures of the report." },
        ),
        lists: t.Array(
          t.Object({
            section: textOf<ReportList["section"]>({
              description: `Section: ${LIST_SECTIONS.map((section) => `\`${section}\``).join(", ")}.`,
            }),
            rows: t.Array(
              t.Object({
                name: field.text("Name of the row."),
                value: field.integer("Visitors, conversions of a goal, or clicks of a search query."),
              }),
              {
                description: "Top rows.",
              },
            ),
          }),
          { description: "Top rows of the sections of the report." },
        ),
      },
      { additionalProperties: false },
    ),
  },
} as const satisfies Record<string, ProductEventForm>
