import { Type as t } from "@sinclair/typebox"
import { Elysia } from "elysia"
import { API } from "../../domain/limits.ts"
import { QueryAnswer } from "../../domain/query-answer.ts"
import { readJson } from "../../plugin/body.ts"
import type { QueryForm } from "../../services/query-form.ts"
import type { ApiKeyAuth } from "../auth.ts"
import { QueryRequest } from "../openapi/bodies.ts"
import { told } from "../openapi/route.ts"
import { outliveReport } from "../quiet-connections.ts"
import { NoQuery, takes } from "./things.ts"

/** The parser of the question judges the fields, so that all that is wrong is said at once; the documents list them. */
const QueryBody = t.Object({}, { additionalProperties: true })
const QUESTION = {
  scope: { scopes: ["stats:read"], read: readJson(API.bodyBytes, API.queryJsonDepth) },
  query: NoQuery,
  body: QueryBody,
  response: { 200: QueryAnswer },
} as const

const says = (operationId: string, summary: string) =>
  told({ operationId, summary, tags: ["query"], ...takes(QueryRequest), "x-failures": ["query_timeout"] })

/** Questions in the array form, at our address and at the one that clients of Plausible use. */
export const queryRoutes = (auth: ApiKeyAuth, { answer }: QueryForm) =>
  new Elysia()
    .use(auth)
    .onBeforeHandle(({ request, server }) => outliveReport(request, server))
    .post("/api/public/v1/query", ({ apiKey, body, request }) => answer(apiKey, body, request.signal), {
      ...QUESTION,
      detail: says("query", "Ask any question"),
    })
    .post("/api/v2/query", ({ apiKey, body, request }) => answer(apiKey, body, request.signal), {
      ...QUESTION,
      detail: says("queryPlausible", "Ask any question, at the address of Plausible's clients"),
    })
