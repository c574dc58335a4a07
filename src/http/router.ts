import { type AnyElysia, Elysia } from "elysia"
import type { Log } from "../domain/log.ts"
import { errors } from "./errors.ts"
import { requestId } from "./headers.ts"
import { jsonAnswers } from "./json-answers.ts"
import { methodTable } from "./methods.ts"
import { openApiDocument } from "./openapi/document.ts"
import { refuseUndescribed } from "./openapi/private-document.ts"
import { describedRoutes } from "./openapi/route.ts"
import { referenceRoutes } from "./public/reference.ts"
import { typedQueries } from "./typed-query.ts"

export interface RouterOptions {
  baseUrl: string
  log: Log
  /** Headers of every response of the routes. */
  headers: Readonly<Record<string, string>>
}

/**
 * Creates the root of all routes. Its options change two defaults of Elysia: unknown fields of bodies are not removed silently, and
 * the start of the path does not depend on the length of the host name.
 */
export function router({ baseUrl, log, headers }: RouterOptions, routes: readonly AnyElysia[]): AnyElysia {
  // Declared with a type, because `convert` and `table` are created from the app that uses them.
  const convertQuery: ReturnType<typeof typedQueries> = (method, route, query) => convert(method, route, query)
  const methodsAt = (path: string): readonly string[] => table(path)
  const app: AnyElysia = new Elysia({ normalize: false, handler: { standardHostname: false } })
    .onRequest(({ request, set }) => {
      Object.assign(set.headers, headers, { "x-request-id": requestId(request) })
    })
    .use(errors({ baseUrl, log, methodsAt }))
    .use(jsonAnswers)
    .onTransform({ as: "global" }, ({ request, route, query }) => convertQuery(request.method, route, query))
  for (const group of routes) app.use(group)
  app.use(referenceRoutes(() => openApiDocument(app.routes, { baseUrl })))
  requireGuards(app)
  // Throws if a route is missing in the documentation.
  describedRoutes(app.routes)
  refuseUndescribed(app.routes)
  const table = methodTable(app)
  const convert = typedQueries(app)
  // Compiles now instead of during the first request.
  return app.compile()
}

/** Throws if an API route has no access rule. Elysia removes macro names from a mounted route but keeps its `detail`. */
function requireGuards(app: AnyElysia): void {
  for (const { method, path, hooks } of app.routes)
    if (
      path.startsWith("/api/") &&
      !hooks?.detail?.["x-permission"] &&
      (path.startsWith("/api/private/") || !hooks?.detail?.["x-required-scopes"])
    )
      throw new Error(`${method} ${path} has no access rule`)
}
