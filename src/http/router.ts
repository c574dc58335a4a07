import { type AnyElysia, Elysia, ElysiaCustomStatusResponse } from "elysia"
import type { Log } from "../domain/log.ts"
import { encodingOf } from "./accept.ts"
import { errors } from "./errors.ts"
import { matchesETag, requestId } from "./headers.ts"
import { openApiDocument } from "./openapi/document.ts"
import { refuseUndescribed } from "./openapi/private-document.ts"
import { describedRoutes } from "./openapi/route.ts"
import { referenceRoutes } from "./public/reference.ts"

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

/** Minimum length of compressed responses, in characters. Smaller ones fit into one packet. */
const MIN_COMPRESSED_LENGTH = 1_024

/** Adds ETag and compression to JSON responses of GET and HEAD, which Bun does not do for handlers. */
export const jsonAnswers = new Elysia({ name: "jsonAnswers" }).mapResponse({ as: "global" }, ({ request, responseValue, set }) => {
  if (request.method !== "GET" && request.method !== "HEAD") return
  const isObject = typeof responseValue === "object" && responseValue !== null
  // A bare number is JSON, too.
  if ((!isObject && typeof responseValue !== "number") || responseValue instanceof Response) return
  // `status(404, …)` is wrapped. Treated as a value, it would become a 200 response.
  if (responseValue instanceof ElysiaCustomStatusResponse) return

  const json = JSON.stringify(responseValue)
  const status = Number(set.status ?? 200)
  // Our header values are text. The type also allows numbers.
  const headers = new Headers(set.headers as Record<string, string>)
  headers.append("vary", "accept-encoding")
  if (status === 200) {
    // A versioned resource already has a strong tag.
    if (!headers.has("etag")) headers.set("etag", `W/"${Bun.hash(json).toString(36)}"`)
    if (matchesETag(request, headers.get("etag")!)) return new Response(null, { status: 304, headers })
  }
  headers.set("content-type", "application/json; charset=utf-8")
  return new Response(encoded(json, request, headers), { status, headers })
})

function encoded(json: string, request: Request, headers: Headers): string | Uint8Array<ArrayBuffer> {
  const encoding = json.length < MIN_COMPRESSED_LENGTH ? undefined : encodingOf(request)
  if (encoding === undefined) return json
  headers.set("content-encoding", encoding)
  return encoding === "zstd" ? new Uint8Array(Bun.zstdCompressSync(json)) : Bun.gzipSync(json)
}

/** Returns a function that lists the methods of a path, because Elysia answers 404 instead of 405. */
export function methodTable(app: AnyElysia): (path: string) => readonly string[] {
  const methods = new Map<string, string[]>()
  for (const { path, method } of app.routes)
    methods.set(path, [...(methods.get(path) ?? []), ...(method === "GET" ? ["GET", "HEAD"] : [method])])
  const table = [...methods].map(([path, names]) => ({ pattern: toPattern(path), names }))
  return (path) => [...new Set(table.filter(({ pattern }) => pattern.test(path)).flatMap(({ names }) => names))]
}

const toPattern = (path: string): RegExp =>
  new RegExp(
    `^${path
      .split("/")
      .map((part) => (part.startsWith(":") ? "[^/]+" : part === "*" ? ".*" : RegExp.escape(part)))
      .join("/")}/?$`,
  )

type Query = Record<string, unknown>

/**
 * Returns a function that converts texts of a query to the numbers and booleans that the schema of its route declares. Other texts
 * are unchanged, and the schema rejects them. Elysia only converts for schemas created with its own library.
 */
export function typedQueries(app: AnyElysia): (method: string, route: string, query: Query) => void {
  const types = new Map(app.routes.map(({ method, path, hooks }) => [`${method} ${path}`, convertersOf(hooks?.query)] as const))
  return (method, route, query) => {
    for (const [name, convert] of types.get(`${method === "HEAD" ? "GET" : method} ${route}`) ?? [])
      if (typeof query[name] === "string") query[name] = convert(query[name])
  }
}

type Convert = (text: string) => unknown

const CONVERTERS: Readonly<Record<string, Convert>> = {
  integer: (text) => (/^-?(0|[1-9]\d*)$/.test(text) ? Number(text) : text),
  number: (text) => (/^-?(0|[1-9]\d*)(\.\d+)?$/.test(text) ? Number(text) : text),
  boolean: (text) => (text === "true" ? true : text === "false" ? false : text),
}

function convertersOf(schema: unknown): [name: string, convert: Convert][] {
  const { properties = {} } = (schema ?? {}) as { properties?: Record<string, { type?: string }> } // routes have schemas of objects
  return Object.entries(properties).flatMap(([name, { type = "" }]) => {
    const convert = CONVERTERS[type]
    return convert ? [[name, convert] as [string, Convert]] : []
  })
}
