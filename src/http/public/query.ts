import { Type as t } from "@sinclair/typebox"
import { Elysia } from "elysia"
import { QueryAnswer } from "../../domain/query-answer.ts"
import type { QueryForm } from "../../services/query-form.ts"
import type { ApiKeyAuth } from "../auth.ts"

const field = (description: string) => t.Optional(t.Unknown({ description }))

/** The documents list the fields; the parser of the question judges them, so that all that is wrong is said at once. */
const QueryBody = t.Object(
  {
    site_id: field("Numeric id, tracking id, or a host of exactly one visible site"),
    metrics: field("List of 1 to 20 metrics"),
    date_range: field("day, yesterday, 24h, 7d, 28d, 30d, 90d, 91d, month, last_month, 6mo, 12mo, year, all, realtime, or a pair"),
    timezone: field("IANA zone of day boundaries; default that of the site"),
    dimensions: field("List of 0 to 3 dimensions, at most one of them time"),
    filters: field("List of filter trees; all must match"),
    order_by: field("List of up to 5 pairs of a metric or dimension and asc or desc"),
    include: field("Object of imports, time_labels, total_rows and comparisons"),
    pagination: field("Object of limit, 1 to 10000, and offset"),
  },
  { additionalProperties: true },
)
const QUESTION = {
  scope: "stats:read",
  query: t.Object({}, { additionalProperties: false }),
  body: QueryBody,
  response: { 200: QueryAnswer },
} as const

/** Longer than any report. Without it the connection of a long one is closed: its body is there, and nothing moves. */
const ANSWER_SECONDS = 30

/** Questions in the array form, at our address and at the one that clients of Plausible use. */
export const queryRoutes = (auth: ApiKeyAuth, { answer }: QueryForm) =>
  new Elysia()
    .use(auth)
    .onBeforeHandle(({ request, server }) => server?.timeout?.(request, ANSWER_SECONDS))
    .post("/api/public/v1/query", ({ apiKey, body, request }) => answer(apiKey, body, request.signal), QUESTION)
    .post("/api/v2/query", ({ apiKey, body, request }) => answer(apiKey, body, request.signal), QUESTION)
