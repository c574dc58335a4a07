import type { AnyElysia } from "elysia"
import { AppError } from "../domain/error.ts"
import type { Call, Peers } from "../plugin/guard.ts"
import type { Annotations } from "../services/annotations.ts"
import type { Exports } from "../services/exports.ts"
import type { Funnels } from "../services/funnels.ts"
import type { Goals } from "../services/goals.ts"
import type { Health } from "../services/health.ts"
import type { Idempotency } from "../services/idempotency.ts"
import type { Organizations } from "../services/organizations.ts"
import type { QueryForm } from "../services/query-form.ts"
import type { Sites } from "../services/sites.ts"
import type { Stats } from "../services/stats.ts"
import { type AuthOptions, apiKeyAuth, keyGate } from "./auth.ts"
import { type CollectOptions, collectDoors } from "./collect.ts"
import { crossOrigin } from "./cors.ts"
import { dashboardDoors, type PagesOptions } from "./dashboard/pages.ts"
import { notFound, problem, toFailure } from "./errors.ts"
import { headerSets, requestId } from "./headers.ts"
import { healthRoutes } from "./health.ts"
import { keyRequests } from "./key-requests.ts"
import { apiLimits } from "./limits.ts"
import { type McpOptions, mcpRoutes } from "./mcp/endpoint.ts"
import { privateDocument } from "./openapi/private-document.ts"
import { privateOrigins } from "./private/origins.ts"
import { type PrivateOptions, privateRoutes } from "./private/routes.ts"
import { annotationRoutes } from "./public/annotations.ts"
import { creation } from "./public/creation.ts"
import { errorRoutes } from "./public/errors.ts"
import { eventRoutes } from "./public/events.ts"
import { exportRoutes } from "./public/export.ts"
import { funnelRoutes } from "./public/funnels.ts"
import { goalRoutes } from "./public/goals.ts"
import { keyRoutes } from "./public/key.ts"
import { queryRoutes } from "./public/query.ts"
import type { SiteFacts } from "./public/shown.ts"
import { siteRoutes } from "./public/sites.ts"
import { statsRoutes } from "./public/stats.ts"
import { outliveReport } from "./quiet-connections.ts"
import { router } from "./router.ts"
import { type TrackerOptions, trackerDoors } from "./tracker.ts"

export interface ServerOptions
  extends Omit<PrivateOptions, "origins" | "addressOf" | "placeOf" | "create" | "describe">,
    Omit<CollectOptions, "headers">,
    Omit<TrackerOptions, "headers">,
    Pick<PagesOptions, "isSetUp" | "pluginPages">,
    Omit<AuthOptions, "limits" | "addressOf" | "sites" | "keys" | "onKey">,
    SiteFacts,
    Pick<McpOptions, "mcpAllowedOrigins" | "version"> {
  /** Whether an https base URL makes browsers insist on https. */
  hsts: boolean
  /** Requests per minute and key; 0 = no limit. */
  apiRateLimit: number
  /** Hosts of the dashboard besides that of the base address. */
  allowedHosts: readonly string[]
  /** Origins whose pages may call the public API. */
  corsOrigins: readonly string[]
  sites: Sites
  goals: Goals
  funnels: Funnels
  annotations: Annotations
  organizations: Organizations
  idempotency: Idempotency
  health: Health
  stats: Stats
  exports: Exports
  queryForm: QueryForm
}

/** Everything that answers over HTTP, in the form `Bun.serve` wants. Never throws and never rejects. */
export interface HttpServer {
  fetch(request: Request, server: Peers): Promise<Response>
}

/**
 * How `Bun.serve` listens for it. Slow clients are cut off; the largest body lies far above every limit of a route, because
 * Bun's own 413 is empty. Outside development Bun shares a port between processes unless told not to: half of the events of
 * a second instance would end in the first one.
 */
export const LISTENING = { idleTimeout: 10, maxRequestBodySize: 200 << 20, development: false, reusePort: false } as const

export function createServer(options: ServerOptions): HttpServer {
  const { baseUrl, log, health } = options
  const headers = headerSets(options)
  const doors = collectDoors({ ...options, headers: headers.open })
  const scripts = trackerDoors({ ...options, headers: headers.open })
  const cors = crossOrigin(options.corsOrigins)
  const origins = privateOrigins(options)
  const counted = keyRequests(options.keyUsage)
  const pages = dashboardDoors({ ...options.siteAreas, ...options, headers, origins })
  const addressOf = ({ request, server }: Call) => options.collector.clientAddress(server?.requestIP(request)?.address, request.headers)
  const placeOf = ({ request, server }: Pick<Call, "request" | "server">) =>
    options.collector.clientPlace(server?.requestIP(request)?.address, request.headers)
  const create = creation(options.idempotency)
  const kit = { baseUrl, log, headers: headers.api }
  const forPrograms = router(kit, programRoutes(options, { addressOf, create, onKey: counted.onKey }))
  // Four in five routes are for people. They are made when the first one comes: every start would wait for them.
  let made: AnyElysia | undefined
  const forPeople = (): AnyElysia => {
    const describe = () => privateDocument(forPeople().routes, { baseUrl, cookie: options.cookie.name })
    made ??= router(kit, privateRoutes({ ...options, create, origins, addressOf, placeOf, describe }))
    return made
  }

  function answer(request: Request, server: Peers): Promise<Response> {
    const path = pathOf(request)
    if (health.has("stopping") && !path.startsWith("/health")) throw new AppError("unavailable", "The service is stopping.")
    const first = doors.get(path) ?? scripts(path)
    if (first) return first(request, server)
    const answered = options.askDoors({ request, server }, path)
    // No promise is made around one: nobody waits for the answer but the client.
    if (answered) return answered instanceof Promise ? answered.catch((thrown) => refuse(request, thrown)) : Promise.resolve(answered)
    const page = pages.door(path)
    if (page) return page(request, server)
    if (isMisleading(path)) throw notFound()
    if (path.startsWith("/api/private/") || path.startsWith("/api/share/")) origins.refuseHost(request)
    // Routes read their URL. Bun passes on hosts that no URL can have: 256.1.1.1, xn--a.
    if (!URL.canParse(request.url)) throw new AppError("invalid_header", "The Host header is not valid.")
    const preflight = cors.preflight(request, path, headers.api)
    if (preflight) return Promise.resolve(preflight)
    if (request.method === "GET") outliveReport(request, server)
    const app = isForPrograms(path) ? forPrograms : forPeople()
    // For `requestIP` in the routes; nothing else of a server is used there.
    app.server = server as NonNullable<typeof app.server>
    return Promise.resolve(app.fetch(request))
      .catch((thrown) => refuse(request, thrown))
      .then((response) => {
        counted.onAnswer(request, response)
        if (response.status === 404 && isTyped(request, path)) return pages.missing(path)(request, server)
        return cors.allow(request, path, response)
      })
  }

  /** Else Bun would answer with a 500 of its own. */
  function refuse(request: Request, thrown: unknown): Response {
    const id = requestId(request)
    return problem(toFailure(thrown, id, log), baseUrl, { ...headers.api, "x-request-id": id })
  }

  return {
    // Not async: a door's promise needs no other one around it, and most requests go through a door.
    fetch(request, server) {
      try {
        return answer(request, server)
      } catch (thrown) {
        return Promise.resolve(refuse(request, thrown))
      }
    },
  }
}

interface RoutesKit {
  addressOf(call: Call): string | undefined
  create: ReturnType<typeof creation>
  onKey: AuthOptions["onKey"]
}

/** What programs ask: the public API, MCP, health, and what explains them. */
function programRoutes(options: ServerOptions, { addressOf, create, onKey }: RoutesKit): AnyElysia[] {
  const { apiRateLimit, now, health, stats, collector } = options
  const gate = keyGate({ ...options, limits: apiLimits(apiRateLimit, now), addressOf, onKey })
  const auth = apiKeyAuth(gate)
  return [
    healthRoutes(health),
    errorRoutes(),
    keyRoutes(auth, options),
    siteRoutes(auth, create, options),
    goalRoutes(auth, create, options.goals),
    funnelRoutes(auth, create, options),
    annotationRoutes(auth, create, options.annotations),
    eventRoutes(auth, collector),
    statsRoutes(auth, stats),
    exportRoutes(auth, options),
    queryRoutes(auth, options.queryForm),
    mcpRoutes(gate, options),
  ]
}

/** Whether a browser was sent there for a page, and not by a script of one. */
const isTyped = ({ headers }: Request, path: string): boolean => headers.get("sec-fetch-mode") === "navigate" && !path.startsWith("/api/")

/** All else is the private API, shared views, and the open paths of plugins. */
const isForPrograms = (path: string): boolean => /^\/(api\/(public|v2)|errors|health|\.well-known|register)(\/|$)/.test(path)

/**
 * The path as Bun delivers it: dot segments and backslashes are resolved, and the target of an absolute form is replaced by
 * the host. A missing or malformed host leaves a bare path, two hosts arrive joined by a comma.
 */
function pathOf({ url, headers }: Request): string {
  if (url.startsWith("/") || headers.get("host")?.includes(",")) throw new AppError("invalid_header", "The Host header is not valid.")
  const start = url.indexOf("/", "https://".length)
  const query = url.indexOf("?", start)
  return query === -1 ? url.slice(start) : url.slice(start, query)
}

/** Paths that proxies and programs read differently: an encoded slash or backslash, NUL, an empty segment, a fragment. */
const isMisleading = (path: string): boolean => /%2f|%5c|%00|\/\/|#/i.test(path)
