import { type Static, Type as t } from "@sinclair/typebox"
import { defineWidget, type Widget } from "#plugin"
import type { ReportCall } from "./report.ts"
import { SearchReport } from "./responses.ts"

const GROUPS = ["query", "page", "country", "device"] as const
const Config = t.Object(
  {
    group_by: t.Optional(
      t.Union(
        GROUPS.map((name) => t.Literal(name)),
        { description: "Dimension by which results are grouped. Default: `query`." },
      ),
    ),
    limit: t.Optional(t.Integer({ minimum: 1, maximum: 50, description: "Number of rows. Default: 9." })),
  },
  { additionalProperties: false },
)

/** Returns the card of saved dashboards. */
export const widgetsOf = (report: ReportCall): Record<string, Widget> => ({
  search_queries: defineWidget<typeof Config>({
    title: "Search queries",
    description: "What people searched for on Google before they saw or opened the site.",
    size: { min_w: 3, min_h: 2, w: 4, h: 4 },
    config: Config,
    needs: "site:read",
    // The data is that of the search engine, which knows nothing about visits.
    filter_dimensions: [],
    shareable: () => true,
    answer: t.Omit(SearchReport, ["next_cursor", "range"]),
    async resolve({ site, given, asking }, { group_by = "query", limit = 9 }: Static<typeof Config>) {
      const range = Object.fromEntries(
        ["period", "from", "to"].filter((name) => given[name] !== undefined).map((name) => [name, given[name]]),
      )
      const { next_cursor: _, range: days, ...data } = await report(site, { ...range, group_by, limit }, { ...asking, form: "json" })
      return { data, meta: { range: { ...days, timezone: data.timezone, includes_today: false } } }
    },
  }),
})
