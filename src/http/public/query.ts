import { Type as t } from "@sinclair/typebox"
import { Elysia } from "elysia"
import { API } from "../../domain/limits.ts"
import { QueryAnswer } from "../../domain/query-answer.ts"
import type { QueryForm } from "../../services/stats/query-form.ts"
import { readJson } from "../../web/body.ts"
import type { ApiKeyAuth } from "../auth.ts"
import { QueryRequest } from "../openapi/bodies.ts"
import { describeRoute } from "../openapi/route.ts"
import { outliveReport } from "../quiet-connections.ts"
import { NoQuery, takes } from "./things.ts"

/** Body of a query. The query parser validates its fields, so that all problems are reported at once. */
const QueryBody = t.Object({}, { additionalProperties: true })
const QUERY_ROUTE = {
  scope: { scopes: ["stats:read"], read: readJson(API.bodyBytes, API.queryJsonDepth) },
  query: NoQuery,
  body: QueryBody,
  response: { 200: QueryAnswer },
} as const

const operation = (operationId: string, summary: string) =>
  describeRoute({ operationId, summary, tags: ["query"], ...takes(QueryRequest), "x-failures": ["query_timeout"] })

/** Creates the routes for queries in array form, at our path and at the path of Plausible clients. */
export const queryRoutes = (auth: ApiKeyAuth, { answer }: QueryForm) =>
  new Elysia()
    .use(auth)
    .onBeforeHandle(({ request, server }) => outliveReport(request, server))
    .post("/api/public/v1/query", ({ apiKey, body, request }) => answer(apiKey, body, request.signal), {
      ...QUERY_ROUTE,
      detail: operation("query", "Run a query"),
    })
    .post("/api/v2/query", ({ apiKey, body, request }) => answer(apiKey, body, request.signal), {
      ...QUERY_ROUTE,
      detail: operation("queryPlausible", "Run a query at the path used by Plausible clients"),
    })
