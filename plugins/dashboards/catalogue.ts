import { Type as t } from "@sinclair/typebox"
import { failures, operationsOf } from "#plugin"
import type { Area } from "./area.ts"
import { Catalogue, type CatalogueRow } from "./responses.ts"

const operation = operationsOf("dashboards")
const CatalogueQuery = t.Object(
  { site: t.String({ "x-parameter": { type: "integer", minimum: 1, description: "Id of the site whose dashboards get the widgets." } }) },
  { additionalProperties: false },
)

/** The route of the widget catalogue. */
export const catalogueRoutes = ({ host }: Area) =>
  host.instanceRouter().get(
    "/dashboard-widgets",
    async ({ query, user, session }) => {
      const { site } = await host.services.access.onSite({ user, session }, query.site)
      const data = host.widgets().map(
        (known): CatalogueRow => ({
          type: known.type,
          title: known.title,
          description: known.description,
          size: known.size,
          config_schema: known.config,
          data_schema: known.answer,
          needs: known.needs,
          shareable: known.shareable(site),
          plugin: known.plugin,
          available: known.isAvailable(),
        }),
      )
      return { data }
    },
    {
      signedIn: true,
      query: CatalogueQuery,
      response: { 200: Catalogue },
      detail: { ...operation("List the types of widgets"), ...failures("site_not_found") },
    },
  )
