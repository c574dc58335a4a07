import { type Static, Type as t } from "@sinclair/typebox"
import { AppError, defineWidget, type Site, type Widget } from "#plugin"
import { FILTER_DIMENSIONS } from "./packed/packed.ts"
import type { Report } from "./report/report.ts"
import { GROUPS } from "./report/request.ts"
import { ReportResponse } from "./report/responses.ts"

const Config = t.Object(
  {
    currency: t.Optional(
      t.String({ maxLength: 10, description: "`each`, `base` for the site's base currency, or an ISO 4217 code. Default: `each`." }),
    ),
    group_by: t.Optional(
      t.Union(
        GROUPS.map((name) => t.Literal(name)),
        { description: "What the groups are. Default: none are shown." },
      ),
    ),
    chart: t.Optional(t.Boolean({ description: "Whether the chart is shown. Default: true." })),
  },
  { additionalProperties: false },
)

/** Arguments of a dashboard that the report has. */
const ARGUMENTS = ["period", "from", "to", "interval", "compare", "compare_from", "compare_to", "match_weekday", "filters", "imports"]

/** Returns the card of saved dashboards. Anyone who has the link of a shared one sees it, so it can be shared only while viewers may see revenue. */
export const widgetsOf = (report: Report): Record<string, Widget> => ({
  revenue: defineWidget<typeof Config>({
    title: "Revenue",
    description: "What the traffic earned: gross, refunds, net and orders.",
    size: { min_w: 3, min_h: 2, w: 6, h: 4 },
    config: Config,
    needs: "revenue:read",
    filter_dimensions: [...FILTER_DIMENSIONS, "segment", "cohort"],
    // A locked segment or cohort could name what transactions do not keep.
    lock_dimensions: FILTER_DIMENSIONS,
    shareable: ({ settings }: Site) => settings.read_role === "viewer",
    answer: t.Omit(ReportResponse, ["meta"]),
    async resolve({ site, given, asking }, { currency, group_by }: Static<typeof Config>) {
      if (asking.hidesRevenue) throw new AppError("forbidden", "You don't have access to the revenue of this site.")
      const arguments_ = Object.fromEntries(ARGUMENTS.filter((name) => given[name] !== undefined).map((name) => [name, given[name]]))
      const { meta, ...data } = await report(
        site,
        { ...arguments_, ...(currency && { currency }), ...(group_by && { group_by }) },
        { ...asking, form: "json" },
      )
      return { data: group_by ? data : { ...data, breakdown: [] }, meta }
    },
  }),
})
