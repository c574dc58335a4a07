import { type Static, Type as t } from "@sinclair/typebox"
import { REPORT_FACTS } from "./report.ts"

/** An amount of money in answers of the array form (api.md 7.6). */
const Money = t.Object({
  value: t.Number({ description: "Amount in major units." }),
  currency: t.String({ description: "ISO 4217 currency code." }),
  short: t.String({ description: "Abbreviated amount with currency symbol, such as €500.2M." }),
  long: t.String({ description: "Full amount with currency symbol, such as €500,200,700.25." }),
})
const AnswerValue = t.Union([t.Number(), t.Null(), Money], { description: "Value of a metric. null when nothing was measured." })
export type AnswerValue = Static<typeof AnswerValue>

const Values = t.Array(AnswerValue, { description: "Values of the requested metrics, in their order." })
const AnswerRow = t.Object({
  dimensions: t.Array(t.String(), { description: "Values of the requested dimensions, in their order." }),
  metrics: Values,
  comparison: t.Optional(
    t.Object(
      {
        dimensions: t.Array(t.Union([t.String(), t.Null()]), {
          description: "Dimension values of the compared row. null for a time bucket that the compared range does not have.",
        }),
        metrics: Values,
        change: t.Array(t.Union([t.Number(), t.Null()]), {
          description: "Relative change of each metric in percent. null when the old value is 0 or null.",
        }),
      },
      {
        description:
          "Values in the compared range, 0 or null if the row does not occur there. Rows that occur only there are not returned. Present only with a comparison.",
      },
    ),
  ),
})
export type AnswerRow = Static<typeof AnswerRow>

const Instants = t.Tuple([t.String(), t.String()], { description: "First and last second of the range, as RFC 3339 times with offsets." })

export const QueryAnswer = t.Object(
  {
    results: t.Array(AnswerRow, { description: "Rows in the requested order." }),
    meta: t.Object(
      {
        imports_included: t.Optional(
          t.Boolean({ description: "Whether any import is part of the results. Present only if imported totals were requested." }),
        ),
        imports_skip_reason: t.Optional(t.String({ description: "Code of the reason why imported totals are not included." })),
        imports_warning: t.Optional(t.String({ description: "Explanation of the reason why imported totals are not included." })),
        metric_warnings: t.Optional(
          t.Record(
            t.String(),
            t.Object({
              code: t.String({ description: "Code of the warning." }),
              warning: t.String({ description: "Explanation for people. The text may change." }),
            }),
            { description: "Warnings by metric. Absent if there are none." },
          ),
        ),
        time_labels: t.Optional(t.Array(t.String(), { description: "All time buckets. Present only if requested." })),
        total_rows: t.Optional(t.Integer({ minimum: 0, description: "Number of all rows. Present only if requested." })),
        visitor_window: t.Optional(t.String({ description: "Period within which a visitor is counted once." })),
        identity: REPORT_FACTS.identity,
        imports: REPORT_FACTS.imports,
        visitors_estimated: REPORT_FACTS.visitors_estimated,
        late_events: REPORT_FACTS.late_events,
        notes: t.Optional(t.Array(t.String(), { description: "Notes on the result, in English. Absent if there are none." })),
        warnings: t.Optional(
          t.Array(
            t.Object({
              code: t.String({ description: "Code of the warning: `value_not_found`." }),
              dimension: t.String({ description: "Dimension of the filter." }),
              value: t.String({ description: "Value of the filter." }),
              warning: t.String({ description: "Explanation for people. The text may change." }),
            }),
            { description: "Values in filters that the site has no data for, at most 20. Absent if there are none." },
          ),
        ),
      },
      { description: "Facts about the result." },
    ),
    query: t.Object(
      {
        site_id: t.Integer({ description: "Id of the site." }),
        metrics: t.Array(t.String(), { description: "Requested metrics." }),
        date_range: Instants,
        dimensions: t.Array(t.String(), { description: "Requested dimensions." }),
        filters: t.Array(t.Unknown(), { description: "Filters that must all match." }),
        order_by: t.Array(t.Tuple([t.String(), t.String()]), {
          description: "Sort order: pairs of a metric or dimension and a direction.",
        }),
        include: t.Object(
          {
            imports: t.Optional(t.Boolean({ description: "Whether imported totals were requested." })),
            time_labels: t.Optional(t.Boolean({ description: "Whether the list of all time buckets was requested." })),
            total_rows: t.Optional(t.Boolean({ description: "Whether the number of all rows was requested." })),
            comparisons: t.Optional(
              t.Object(
                {
                  mode: t.String({ description: "Mode: `previous_period`, `year_over_year` or `custom`." }),
                  date_range: Instants,
                  match_day_of_week: t.Optional(t.Boolean({ description: "Whether the compared range starts on the same weekday." })),
                  match_time_of_day: t.Optional(
                    t.Boolean({ description: "Whether today is compared with the same hours of the earlier day." }),
                  ),
                },
                { description: "Compared range. Absent without a comparison." },
              ),
            ),
          },
          { description: "Requested additions to the rows." },
        ),
        pagination: t.Object(
          {
            limit: t.Integer({ description: "Maximum number of rows." }),
            offset: t.Integer({ description: "Number of skipped rows." }),
          },
          { description: "Requested page of the rows." },
        ),
        timezone: t.String({ description: "IANA time zone of day and bucket boundaries." }),
      },
      { description: "The resolved query, with all defaults filled in." },
    ),
  },
  { title: "QueryAnswer" },
)
export type QueryAnswer = Static<typeof QueryAnswer>
