import { Type as t } from "@sinclair/typebox"
import { Elysia } from "elysia"
import { COLLECT } from "../../domain/limits.ts"
import type { Collector } from "../../ingest/collect.ts"
import { readJsonOrLines } from "../../plugin/body.ts"
import type { ApiKeyAuth } from "../auth.ts"

/** Events are judged one by one, so a bad one does not stop the others. */
const EventList = t.Object(
  { events: t.Array(t.Unknown(), { minItems: 1, maxItems: COLLECT.serverEvents }) },
  { additionalProperties: false },
)
const NoQuery = t.Object({}, { additionalProperties: false })

/** Events that a site's own servers send: as a list in JSON, or one per line. */
export const eventRoutes = (auth: ApiKeyAuth, collector: Collector) =>
  new Elysia({ prefix: "/api/public/v1/sites/:site_id/events" })
    .use(auth)
    .post("", async ({ site, body, status }) => status(202, await collector.collectServerEvents(site, body.events)), {
      siteScope: { scopes: ["events:write"], read: readJsonOrLines(COLLECT.serverBodyBytes, "events") },
      query: NoQuery,
      body: EventList,
    })
