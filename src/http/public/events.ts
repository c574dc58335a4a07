import { Type as t } from "@sinclair/typebox"
import { Elysia } from "elysia"
import { COLLECT } from "../../domain/limits.ts"
import type { ServerEventCollector } from "../../ingest/collect/collect.ts"
import { readJsonOrLines } from "../../web/body.ts"
import type { ApiKeyAuth } from "../auth.ts"
import { EventLines, EventsAnswer, EventsRequest } from "../openapi/bodies.ts"
import { describeRoute } from "../openapi/route.ts"
import { NoQuery } from "./things.ts"

/** Body of a list of events. Each event is validated separately, so an invalid one does not affect the others. */
const EventList = t.Object(
  { events: t.Array(t.Unknown(), { minItems: 1, maxItems: COLLECT.serverEvents }) },
  { additionalProperties: false },
)

/** Creates the route for events sent by servers, as a JSON list or one event per line. */
export const eventRoutes = (auth: ApiKeyAuth, collector: ServerEventCollector) =>
  new Elysia({ prefix: "/api/public/v1/sites/:site_id/events" })
    .use(auth)
    .post("", async ({ site, body, status }) => status(202, await collector.collectServerEvents(site, body.events)), {
      siteScope: { scopes: ["events:write"], read: readJsonOrLines(COLLECT.serverBodyBytes, "events", COLLECT.serverEvents) },
      query: NoQuery,
      body: EventList,
      detail: describeRoute({
        operationId: "sendEvents",
        summary: "Send events from a server",
        description:
          "The response is sent after the events are stored. An invalid event does not affect the others. The IP address of the connection is ignored: set `ip` to the address of the visitor.",
        tags: ["events"],
        requestBody: {
          required: true,
          content: { "application/json": { schema: EventsRequest }, "application/x-ndjson": { schema: EventLines } },
        },
        responses: { 202: { content: { "application/json": { schema: EventsAnswer } } } },
      }),
    })
