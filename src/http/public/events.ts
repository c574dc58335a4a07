import { Type as t } from "@sinclair/typebox"
import { Elysia } from "elysia"
import { DROP_REASONS } from "../../domain/event.ts"
import { COLLECT } from "../../domain/limits.ts"
import type { ServerEventCollector } from "../../ingest/collect/collect.ts"
import { readJsonOrLines } from "../../web/body.ts"
import type { ApiKeyAuth } from "../auth.ts"
import { describeRoute } from "../openapi/route.ts"
import { NoQuery } from "./requests.ts"

const closed = { additionalProperties: false }
const text = (maxLength: number, description?: string) => t.Optional(t.String({ maxLength, ...(description && { description }) }))

/** Valid event of a server, for the documentation. Events are validated one by one, without this schema. */
const ServerEvent = t.Object(
  {
    name: t.String({ minLength: 1, maxLength: COLLECT.nameChars, description: "`pageview`, or the name of a custom event." }),
    url: t.String({
      minLength: 1,
      maxLength: COLLECT.urlBytes,
      description: "Absolute URL or path of the page. UTM parameters and click ids are read from it.",
    }),
    id: t.Optional(
      t.String({
        pattern: "^[A-Za-z0-9_-]{8,64}$",
        description: "Id for deduplication. Events with the same id within 24 hours are counted once.",
      }),
    ),
    timestamp: t.Optional(
      t.Union([t.String({ format: "date-time" }), t.Integer()], {
        description: "Time of the event in RFC 3339 format or epoch milliseconds. Default: now.",
      }),
    ),
    referrer: t.Optional(t.String({ description: `URL of the referring page. Truncated to ${COLLECT.referrerBytes} bytes.` })),
    title: t.Optional(t.String({ description: `Title of the page. Truncated to ${COLLECT.titleChars} characters.` })),
    ip: t.Optional(
      t.String({ description: "IP address of the visitor. Used for the rotating visitor id and the location; never stored." }),
    ),
    user_agent: t.Optional(
      t.String({ description: "User agent of the visitor. Used for the rotating visitor id, device and bot detection; never stored." }),
    ),
    language: text(COLLECT.languageChars, "Language of the visitor as a BCP 47 tag."),
    user_id: text(COLLECT.userIdChars, "Your id of the person, for sites whose identity mode allows it."),
    interactive: t.Optional(t.Boolean({ description: "Whether the event ends a bounce. Default: true." })),
    props: t.Optional(
      t.Record(t.String(), t.Union([t.String({ maxLength: COLLECT.propValueBytes }), t.Number(), t.Boolean(), t.Null()]), {
        maxProperties: COLLECT.props,
        description: "Properties of the event. Numbers and booleans are stored as text; null values are ignored.",
      }),
    ),
    revenue: t.Optional(
      t.Object(
        {
          amount: t.Union([t.Number(), t.String()], { description: "Amount in major currency units. Negative amounts are refunds." }),
          currency: t.Optional(t.String({ description: "ISO 4217 currency code. Default: currency of the site." })),
        },
        { ...closed, description: "Revenue of the event." },
      ),
    ),
  },
  { ...closed, title: "ServerEvent" },
)

const EventsRequest = t.Object(
  { events: t.Array(ServerEvent, { minItems: 1, maxItems: COLLECT.serverEvents, description: "Events to store." }) },
  { ...closed, title: "EventsRequest" },
)

const EventLines = t.Unsafe<string>({ type: "string", description: "One ServerEvent object per line." })

const Index = t.Integer({ minimum: 0, description: "Index of the event in the request, starting at 0." })
const EventsAnswer = t.Object(
  {
    accepted: t.Integer({ minimum: 0, description: "Number of stored events." }),
    rejected: t.Array(
      t.Object({
        index: Index,
        code: t.String({ description: "Code of the problem, such as `required`." }),
        detail: t.String({ description: "Explanation for people. The text may change." }),
      }),
      {
        description: "Invalid events, with the reason.",
      },
    ),
    dropped: t.Array(
      t.Object({
        index: Index,
        reason: t.Unsafe<string>({ type: "string", enum: DROP_REASONS, description: "Code of the reason." }),
      }),
      {
        description: "Valid events blocked by the rules of the site.",
      },
    ),
  },
  { title: "EventsAnswer", description: "Result for each event: accepted, rejected or dropped." },
)

/** Body of a list of events. Each event is validated separately, so an invalid one does not affect the others. */
const EventList = t.Object({ events: t.Array(t.Unknown(), { minItems: 1, maxItems: COLLECT.serverEvents }) }, closed)

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
