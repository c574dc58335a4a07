import { Type as t } from "@sinclair/typebox"
import { defineWidget, type Filter, sql, type Widget } from "#plugin"
import type { LinksHost } from "./link.ts"

const Config = t.Object(
  {
    limit: t.Optional(t.Integer({ minimum: 1, maximum: 50, description: "Number of links. Default: 9." })),
    link_ids: t.Optional(
      t.Array(t.Integer({ minimum: 1 }), {
        minItems: 1,
        maxItems: 50,
        uniqueItems: true,
        description: "Ids of the links to show. Default: all.",
      }),
    ),
  },
  { additionalProperties: false },
)
const count = (description: string) => t.Integer({ minimum: 0, description })
const Answer = t.Object({
  rows: t.Array(
    t.Object({
      link_id: t.Optional(t.Integer({ description: "Id of the link. Absent for viewers of a public link." })),
      slug: t.String({ description: "Slug of the link. Empty if it was removed." }),
      title: t.String({ description: "Title of the link." }),
      human: count("Clicks by people."),
      bot: count("Clicks by programs."),
      total: count("All clicks."),
      unique: count("People who clicked."),
    }),
    { description: "Links with the most clicks by people first." },
  ),
  total_rows: count("Number of links with clicks."),
  has_more: t.Boolean({ description: "Whether more links follow." }),
})

/** Columns that a click has in common with a visit. */
const FILTERED = [
  ...["source", "referrer", "channel", "utm_source", "utm_medium", "utm_campaign", "utm_term", "utm_content", "country", "region", "city"],
  ...["device", "browser", "browser_version", "os", "os_version", "language"],
]
const isOneOf = (property: string, values: readonly string[]): Filter => ({
  ...{ op: "is", dimension: "property", property, values, missing: false, caseSensitive: true },
})

/** Returns the cards of saved dashboards. */
export const widgetsOf = ({ host }: { host: LinksHost }): Record<string, Widget> => ({
  links_top: defineWidget<typeof Config>({
    title: "Short links",
    description: "The links with the most clicks.",
    size: { min_w: 3, min_h: 2, w: 4, h: 4 },
    config: Config,
    needs: "links:read",
    filter_dimensions: FILTERED,
    // Clicks are no visits, so a filter that is meant for visits does not hold in them.
    lock_dimensions: [],
    shareable: () => true,
    answer: Answer,
    async resolve({ site, given, asking }, { limit = 9, link_ids }) {
      const query = { ...given, dimension: "property", property: "link_id", metrics: ["events", "visitors"], sort: "events", limit }
      const { rows, total_rows, has_more, ...facts } = await host.services.recordReports.breakdown(site, query, {
        ...asking,
        form: "json",
        records: "clicks",
        by: { property: "human", values: ["0", "1"] },
        ranked: isOneOf("human", ["1"]),
        ...(link_ids && { locked: isOneOf("link_id", link_ids.map(String)) }),
      })
      const ids = JSON.stringify(rows.map(({ value }) => Number(value)))
      const links = await host.db.all<{ id: number; slug: string; title: string }>(sql`select id, slug, title from links_links
        where site_id = ${site.id} and id in (select value from json_each(${ids})) limit 100`)
      const data = rows.map(({ value, counts }) => {
        const link = links.find(({ id }) => id === Number(value))
        const [human, bot] = [counts["1"]!, counts["0"]!] // the values of `by`
        return {
          ...(asking.userId !== undefined && { link_id: Number(value) }),
          ...{ slug: link?.slug ?? "", title: link?.title ?? "" },
          ...{ human: human.records, bot: bot.records, total: human.records + bot.records, unique: human.visitors },
        }
      })
      const { range, visitor_window, notes } = facts
      return {
        data: { rows: data, total_rows, has_more },
        meta: { range, ...(visitor_window && { visitor_window }), ...(notes && { notes }) },
      }
    },
  }),
})
