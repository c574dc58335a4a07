import { Type as t } from "@sinclair/typebox"
import { Elysia } from "elysia"
import { COLLECT } from "../../domain/limits.ts"
import type { Collector } from "../../ingest/collect.ts"
import { readJsonOrLines } from "../../plugin/body.ts"
import type { ApiKeyAuth } from "../auth.ts"
import { EventLines, EventsAnswer, EventsRequest } from "../openapi/bodies.ts"
import { told } from "../openapi/route.ts"
import { NoQuery } from "./things.ts"

/** Events are judged one by one, so a bad one does not stop the others. */
const EventList = t.Object(
  { events: t.Array(t.Unknown(), { minItems: 1, maxItems: COLLECT.serverEvents }) },
  { additionalProperties: false },
)

/** Events that a site's own servers send: as a list in JSON, or one per line. */
export const eventRoutes = (auth: ApiKeyAuth, collector: Collector) =>
  new Elysia({ prefix: "/api/public/v1/sites/:site_id/events" })
    .use(auth)
    .post("", async ({ site, body, status }) => status(202, await collector.collectServerEvents(site, body.events)), {
      siteScope: { scopes: ["events:write"], read: readJsonOrLines(COLLECT.serverBodyBytes, "events", COLLECT.serverEvents) },
      query: NoQuery,
      body: EventList,
      detail: told({
        operationId: "sendEvents",
        summary: "Send events of a server",
        description:
          "Answered after they are stored. One event that is not valid does not stop the others. The connection's own address is not used: give that of the visitor.",
        tags: ["events"],
        requestBody: {
          required: true,
          content: { "application/json": { schema: EventsRequest }, "application/x-ndjson": { schema: EventLines } },
        },
        responses: { 202: { content: { "application/json": { schema: EventsAnswer } } } },
      }),
    })
