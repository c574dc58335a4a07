/** Responses of the routes for search engines. The dashboard takes its types from here as well. */
import { type Static, Type as t } from "@sinclair/typebox"
import { field, type JobState, orNull, textOf } from "#plugin"
import type { Status } from "../integration.ts"

export const PropertiesResponse = t.Object({
  data: t.Array(
    t.Object({
      integration_id: field.id("Id of the connection whose account has the property."),
      connection_id: field.id("Id of the connection in the core, for imports."),
      property: field.text("Property, such as `sc-domain:example.com`, `https://example.com/` or `properties/123`."),
      label: field.text("Display name."),
      permission: field.text("Permission of the account on the property, as the service names it."),
      suggested: field.flag("Whether it fits the site best."),
    }),
    { description: "Properties of all connected accounts, the best for the site first." },
  ),
})
export type PropertiesResponse = Static<typeof PropertiesResponse>

const FIGURES = {
  clicks: field.integer("Clicks."),
  impressions: field.integer("Impressions."),
  ctr: t.Number({ description: "Clicks per 100 impressions, with one decimal." }),
  position: orNull(t.Number(), {
    description: "Mean position, weighted by impressions. null without impressions, or if the engine does not report it.",
  }),
}
const day = (description: string) => orNull(t.String({ description }), { description })

export const SearchReport = t.Object(
  {
    totals: t.Object(FIGURES, { description: "Figures of the range: those of the property, or sums of details with a filter." }),
    withheld: orNull(t.Object({ clicks: FIGURES.clicks, impressions: FIGURES.impressions }), {
      description: "Figures of rare queries and pages, which the engine does not report. null with a filter, and for other groups.",
    }),
    rows: t.Array(
      t.Object({
        key: field.text("Query, page, country (ISO 3166-1 alpha-2, empty if unknown), device or day."),
        ...FIGURES,
        visits: t.Optional(field.integer("Visits from search that entered on the page, by the site's days. Only for pages.")),
      }),
      { description: "Groups of a page of the report." },
    ),
    data_until: day("Last day that was fetched. null before the first."),
    fresh_from: day("First day of the range whose figures may still change. null if all are final."),
    cut_days: field.integer("Number of days of the range for which the engine returned only its top rows."),
    timezone: field.text("Time zone of the days, which is that of the engine."),
    status: textOf<Status>({ description: "State of the connection. `disconnected` if only data remains." }),
    range: t.Object({ from: field.text("First day."), to: field.text("Last day.") }, { description: "Days of the report, inclusive." }),
    has_more: field.flag("Whether more rows follow."),
    next_cursor: orNull(field.text("Cursor of the next page."), { description: "Cursor of the next page. null on the last one." }),
  },
  { title: "SearchReport" },
)
export type SearchReport = Static<typeof SearchReport>

export const SyncResponse = t.Object(
  {
    job: t.Object(
      { id: field.id("Id of the job."), state: textOf<JobState>({ description: "State: `queued` or `running`." }) },
      { description: "The job that fetches the data." },
    ),
  },
  { title: "SearchSync" },
)
