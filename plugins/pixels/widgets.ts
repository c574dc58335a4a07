import { Type as t } from "@sinclair/typebox"
import { defineWidget, type Filter, type Widget } from "#plugin"
import type { PixelsHost } from "./pixel.ts"
import { countsByRoute, URL_DIMENSIONS } from "./reports.ts"
import { listPixels } from "./rows.ts"
import { OPENS, VIAS } from "./via.ts"

const Config = t.Object(
  {
    limit: t.Optional(t.Integer({ minimum: 1, maximum: 50, description: "Number of pixels. Default: 9." })),
    pixel_ids: t.Optional(
      t.Array(t.Integer({ minimum: 1 }), {
        minItems: 1,
        maxItems: 50,
        uniqueItems: true,
        description: "Ids of the pixels to show. Default: all.",
      }),
    ),
  },
  { additionalProperties: false },
)
const count = (description: string) => t.Integer({ minimum: 0, description })
const Answer = t.Object({
  rows: t.Array(
    t.Object({
      pixel_id: t.Optional(t.Integer({ description: "Id of the pixel. Absent for viewers of a public link." })),
      name: t.String({ description: "Name of the pixel. Empty if it was removed." }),
      opens_total: count("Opens without those by bots."),
      opens_direct: count("Opens by the programs of readers."),
      opens_proxied: count("Opens through proxies of mail services."),
      opens_prefetched: count("Opens by mail services before anyone reads."),
      bots: count("Opens by bots."),
    }),
    { description: "Pixels with the most opens first." },
  ),
  total_rows: count("Number of pixels with opens."),
  has_more: t.Boolean({ description: "Whether more pixels follow." }),
})

const isOneOf = (property: string, values: readonly string[]): Filter => ({
  ...{ op: "is", dimension: "property", property, values, missing: false, caseSensitive: true },
})

/** Returns the cards of saved dashboards. */
export const widgetsOf = (host: PixelsHost): Record<string, Widget> => ({
  pixel_opens: defineWidget<typeof Config>({
    title: "Pixel opens",
    description: "The tracking pixels with the most opens.",
    size: { min_w: 3, min_h: 2, w: 4, h: 4 },
    config: Config,
    needs: "pixels:read",
    // The location and device of most opens are those of a proxy.
    filter_dimensions: URL_DIMENSIONS,
    // Opens are no visits, so a filter that is meant for visits does not hold in them.
    lock_dimensions: [],
    shareable: () => true,
    answer: Answer,
    async resolve({ site, given, asking }, { limit = 9, pixel_ids }) {
      const query = { ...given, dimension: "property", property: "pixel_id", metrics: ["events", "visitors"], sort: "events", limit }
      const { rows, total_rows, has_more, ...facts } = await host.services.recordReports.breakdown(site, query, {
        ...asking,
        form: "json",
        records: "opens",
        by: { property: "via", values: VIAS },
        ranked: isOneOf("via", OPENS),
        ...(pixel_ids && { locked: isOneOf("pixel_id", pixel_ids.map(String)) }),
      })
      const pixels = await listPixels(host.db, site.id)
      const data = rows.map(({ value, counts }) => ({
        ...(asking.userId !== undefined && { pixel_id: Number(value) }),
        name: pixels.find(({ id }) => id === Number(value))?.name ?? "",
        ...countsByRoute(counts),
      }))
      const { range, notes } = facts
      return { data: { rows: data, total_rows, has_more }, meta: { range, ...(notes && { notes }) } }
    },
  }),
})
