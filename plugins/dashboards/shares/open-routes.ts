/** Routes of viewers who have the URL of a shared dashboard. */
import { AnyQuery, failures, NoQuery, operationsOf, Sent } from "#plugin"
import type { Area } from "../area.ts"
import { DataResponse } from "../responses.ts"
import { SharedBoardResponse, SharedDataInput } from "./responses.ts"

const operation = operationsOf("shared dashboards")
const NDJSON = "application/x-ndjson"

export const openShareRoutes = ({ shares, viewing }: Area) =>
  shares
    .router()
    .get("/:slug", ({ found }) => viewing.view(found), {
      shared: { locked: true },
      query: NoQuery,
      response: { 200: SharedBoardResponse },
      detail: operation("Get a shared dashboard"),
    })
    .post(
      "/:slug/data",
      async ({ found, body, request }) => {
        if (!request.headers.get("accept")?.includes(NDJSON)) return viewing.collect(found, body.value)
        // The lines of the stream add up to the documented object.
        const stream = await viewing.stream(found, body.value)
        return new Response(stream, { headers: { "content-type": NDJSON } }) as unknown as DataResponse
      },
      {
        shared: true,
        query: NoQuery,
        body: Sent,
        response: { 200: DataResponse },
        detail: {
          ...operation("Get the data of a shared dashboard in one call", SharedDataInput),
          ...failures("share_locked", "not_allowed"),
        },
      },
    )
    .get(
      "/:slug/widgets/:file",
      async ({ found, params, query }) => {
        const id = /^(\d+)\.csv$/.exec(params.file)?.[1]
        const text = await viewing.csv(found, id, query)
        const headers = { "content-type": "text/csv; charset=utf-8", "content-disposition": `attachment; filename="widget-${id}.csv"` }
        return new Response(text, { headers })
      },
      {
        shared: true,
        query: AnyQuery,
        detail: {
          ...operation("Get the figures of one widget of a shared dashboard as CSV, at `<id>.csv`"),
          ...failures("share_locked", "not_allowed", "widget_not_found", "query_timeout"),
        },
      },
    )
