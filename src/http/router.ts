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

export interface RouterOptions {
  baseUrl: string
  log: Log
  /** On every answer of the routes. */
  headers: Readonly<Record<string, string>>
}

/**
 * The root of all routes, whose options undo what Elysia does by default: unknown fields of bodies are not taken out in
 * silence, and the path is not looked for behind a host name of usual length.
 */
export function router({ baseUrl, log, headers }: RouterOptions, routes: readonly AnyElysia[]): AnyElysia {
  // The type stands here, because `table` is made from the very app that uses it.
  const methodsAt = (path: string): readonly string[] => table(path)
  const app: AnyElysia = new Elysia({ normalize: false, handler: { standardHostname: false } })
    .onRequest(({ request, set }) => {
      Object.assign(set.headers, headers, { "x-request-id": requestId(request) })
    })
    .use(errors({ baseUrl, log, methodsAt }))
    .use(jsonAnswers)
  for (const group of routes) app.use(group)
  app.use(referenceRoutes(() => openApiDocument(app.routes, { baseUrl })))
  requireGuards(app)
  // Throws for a route that is missing in the documents.
  describedRoutes(app.routes)
  refuseUndescribed(app.routes)
  const table = methodTable(app)
  // Now, not while the first caller waits.
  return app.compile()
}

/** A route that nobody guards stops the start. Elysia takes macro names off a mounted route, but keeps its `detail`. */
function requireGuards(app: AnyElysia): void {
  for (const { method, path, hooks } of app.routes)
    if (
      path.startsWith("/api/") &&
      !hooks?.detail?.["x-permission"] &&
      (path.startsWith("/api/private/") || !hooks?.detail?.["x-required-scopes"])
    )
      throw new Error(`${method} ${path} names nothing that it asks of its caller`)
}
