import { type AnyElysia, Elysia } from "elysia"
import { AppError } from "../domain/error.ts"
import type { PluginRoutes } from "../plugin/load.ts"
import type { Idempotency } from "../services/api-keys/idempotency.ts"
import type { Annotations } from "../services/definitions/annotations.ts"
import type { Funnels, Goals } from "../services/definitions/goals.ts"
import type { Exports } from "../services/export/export.ts"
import type { Organizations } from "../services/organizations/organizations.ts"
import type { Health } from "../services/runtime/health.ts"
import type { LiveNodes } from "../services/runtime/nodes.ts"
import type { Configurations } from "../services/sites/configuration.ts"
import type { Sites } from "../services/sites/sites.ts"
import { createPlausibleV1 } from "../services/stats/plausible-v1.ts"
import type { QueryForm } from "../services/stats/query-form.ts"
import type { Stats } from "../services/stats/stats.ts"
import { createUmamiReports } from "../services/stats/umami-reports.ts"
import type { Peers } from "../web/guard.ts"
import { publicRouter } from "../web/public-router.ts"
import { type AuthOptions, keyGate, keyRequests } from "./auth.ts"
import { collectHandlers } from "./collect/collect.ts"
import type { CollectOptions } from "./collect/response.ts"
import { crossOrigin } from "./cors.ts"
import { dashboardHandlers, type PagesOptions } from "./dashboard/pages.ts"
import { baseUrlFor, notFound, problem, toFailure } from "./errors.ts"
import { headerSets, requestId } from "./headers.ts"
import { outliveReport } from "./idle-timeouts.ts"
import { apiLimits } from "./limits.ts"
import { type McpOptions, mcpRoutes } from "./mcp/endpoint.ts"
import { errorRoutes } from "./openapi/errors.ts"
import { privateDocument } from "./openapi/private-document.ts"
import { type PrivateOptions, privateRoutes } from "./private/routes.ts"
import { siteKeyRoutes } from "./public/api-keys.ts"
import { annotationRoutes, funnelRoutes, goalRoutes } from "./public/definitions.ts"
import { eventRoutes } from "./public/events.ts"
import { exportRoutes } from "./public/export.ts"
import { goatcounterRoutes } from "./public/goatcounter.ts"
import { siteInvitationRoutes } from "./public/invitations.ts"
import { keyRoutes } from "./public/key.ts"
import { plausibleSiteRoutes } from "./public/plausible/sites.ts"
import { plausibleStatsRoutes } from "./public/plausible/stats.ts"
import { configurationRoutes, segmentRoutes, settingsRoutes } from "./public/provisioning.ts"
import { queryRoutes } from "./public/query.ts"
import { reportRoutes } from "./public/reports.ts"
import { creation } from "./public/requests.ts"
import type { SiteFacts } from "./public/responses.ts"
import { shareRoutes } from "./public/shares.ts"
import { publicSiteMemberRoutes } from "./public/site-members.ts"
import { siteRoutes } from "./public/sites.ts"
import { statsRoutes } from "./public/stats.ts"
import { umamiRoutes } from "./public/umami.ts"
import { router } from "./router.ts"
import { type TrackerOptions, trackerHandlers } from "./tracker.ts"

export interface ServerOptions
  extends Omit<PrivateOptions, "create" | "describe">,
    Omit<CollectOptions, "headers">,
    Omit<TrackerOptions, "headers" | "addressOf">,
    Pick<PagesOptions, "isSetUp" | "pluginPages" | "pluginSharePages" | "isSecure" | "origins" | "sessions">,
    Pick<PluginRoutes, "answerAtEndpoint" | "publicPluginRoutes">,
    Omit<AuthOptions, "limits" | "addressOf" | "sites" | "keys" | "onKey">,
    SiteFacts,
    Pick<McpOptions, "mcpAllowedOrigins" | "version"> {
  /** Whether an https base URL makes browsers insist on https. */
  hsts: boolean
  /** Requests per minute and key; 0 = no limit. */
  apiRateLimit: number
  /** The nodes that share the catalog. */
  nodes: LiveNodes | undefined
  /** Hosts of the dashboard in addition to that of the base URL. */
  allowedHosts: readonly string[]
  /** Origins whose pages may call the public API. */
  corsOrigins: readonly string[]
  siteAreas: PrivateOptions["siteAreas"] & { configurations: Configurations }
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

/** HTTP server in the form that `Bun.serve` expects. Never throws and never rejects. */
export interface HttpServer {
  fetch(request: Request, server: Peers): Response | Promise<Response>
}

/**
 * Options of `Bun.serve`. Slow clients are disconnected. The maximum body size is far above the limits of all routes, because Bun's
 * 413 response is empty. By default Bun shares a port between processes, and a second instance would lose half of its events to the
 * first one.
 */
export const LISTENING = { idleTimeout: 10, maxRequestBodySize: 200 << 20, development: false, reusePort: false } as const

export function createServer(options: ServerOptions): HttpServer {
  const { baseUrl, log, health, origins } = options
  const headers = headerSets(options)
  const collectors = collectHandlers({ ...options, headers: headers.open })
  const cors = crossOrigin(options.corsOrigins)
  const counted = keyRequests(options.keyUsage)
  const pages = dashboardHandlers({ ...options.siteAreas, ...options, headers })
  const scripts = trackerHandlers({ ...options, headers: headers.open })
  const create = creation(options.idempotency)
  const kit = { baseUrl, log, headers: headers.api }
  const forPrograms = router(kit, programRoutes(options, { create, onKey: counted.onKey }))
  // Four in five routes are for people. They are created on the first request, because they would delay every start.
  let made: AnyElysia | undefined
  const forPeople = (): AnyElysia => {
    const describe = () => privateDocument(forPeople().routes, { baseUrl, cookie: options.cookie.name })
    made ??= router(kit, privateRoutes({ ...options, create, describe }))
    return made
  }

  function answer(request: Request, server: Peers): Response | Promise<Response> {
    const path = pathOf(request)
    if (health.has("stopping") && !path.startsWith("/health")) throw new AppError("unavailable", "The service is stopping.")
    const first = collectors.get(path) ?? scripts(path)
    if (first) return first(request, server)
    const answered = options.answerAtEndpoint({ request, server }, path)
    if (answered) return answered instanceof Promise ? answered.catch((thrown) => refuse(request, thrown)) : answered
    const page = pages.handlerFor(path)
    if (page) return page(request, server)
    if (isMisleading(path)) throw notFound()
    if (path.startsWith("/api/private/") || path.startsWith("/api/share/")) origins.refuseHost(request)
    // Routes parse their URL, but Bun accepts hosts that are invalid in a URL: 256.1.1.1, xn--a.
    if (!URL.canParse(request.url)) throw new AppError("invalid_header", "The Host header is not valid.")
    const preflight = cors.preflight(request, path, headers.api)
    if (preflight) return preflight
    if (request.method === "GET") outliveReport(request, server)
    const app = isForPrograms(path) ? forPrograms : forPeople()
    // Routes only use `requestIP` of the server.
    app.server = server as NonNullable<typeof app.server>
    return Promise.resolve(app.fetch(request))
      .catch((thrown) => refuse(request, thrown))
      .then((response) => {
        counted.onAnswer(request, response)
        if (response.status === 404 && isTyped(request, path)) return pages.notFound(path)(request, server)
        return cors.allow(request, path, response)
      })
  }

  /** Converts a thrown value to a response. Otherwise Bun would send its own 500. */
  function refuse(request: Request, thrown: unknown): Response {
    const id = requestId(request)
    return problem(toFailure(thrown, id, log), baseUrlFor(request, baseUrl), { ...headers.api, "x-request-id": id })
  }

  return {
    // Not async: the promise of a request handler needs no wrapper, and most requests are answered by one.
    fetch(request, server) {
      try {
        return answer(request, server)
      } catch (thrown) {
        return refuse(request, thrown)
      }
    },
  }
}

interface RoutesKit {
  create: ReturnType<typeof creation>
  onKey: AuthOptions["onKey"]
}

/** Creates the routes for programs: public API, MCP, health and documentation. */
function programRoutes(options: ServerOptions, { create, onKey }: RoutesKit): AnyElysia[] {
  const { apiRateLimit, now, health, stats, collector } = options
  const gate = keyGate({ ...options, limits: apiLimits(apiRateLimit, now, options.nodes), onKey })
  const auth = publicRouter(gate)
  const kit = { auth, create, audit: options.audit }
  return [
    healthRoutes(health),
    errorRoutes(),
    keyRoutes(auth, options),
    siteKeyRoutes(auth, create, options),
    publicSiteMemberRoutes(auth, options),
    siteInvitationRoutes(auth, create, options),
    siteRoutes(auth, create, options),
    goalRoutes(kit, options.goals),
    funnelRoutes(kit, options),
    annotationRoutes(kit, options.annotations),
    segmentRoutes(kit, options.siteAreas.segments),
    settingsRoutes(auth, options),
    configurationRoutes(auth, options.siteAreas.configurations),
    shareRoutes(kit, { ...options.siteAreas, ...options }),
    eventRoutes(auth, collector),
    statsRoutes(auth, stats),
    reportRoutes(auth, options.siteAreas),
    exportRoutes(auth, options),
    queryRoutes(auth, options.queryForm, options),
    plausibleStatsRoutes(auth, createPlausibleV1(options.queryForm)),
    plausibleSiteRoutes(auth, { ...options.siteAreas, ...options }),
    umamiRoutes(auth, createUmamiReports(options.queryForm)),
    goatcounterRoutes(auth, options),
    mcpRoutes(gate, options),
    ...options.publicPluginRoutes(gate),
  ]
}

/** Returns whether a browser navigates to a page, as opposed to a request of a script. */
const isTyped = ({ headers }: Request, path: string): boolean => headers.get("sec-fetch-mode") === "navigate" && !path.startsWith("/api/")

/** Returns whether a path is for programs. All others belong to the private API, shared views and plugins. */
const isForPrograms = (path: string): boolean => /^\/(api\/(public|v0|v1|v2|websites)|errors|health|\.well-known|register)(\/|$)/.test(path)

/**
 * Returns the path as delivered by Bun: dot segments and backslashes are resolved, and the host of an absolute request target is
 * replaced by the header `Host`. A missing or malformed host leaves a bare path; two hosts are joined by a comma.
 */
function pathOf({ url, headers }: Request): string {
  if (url.startsWith("/") || headers.get("host")?.includes(",")) throw new AppError("invalid_header", "The Host header is not valid.")
  const start = url.indexOf("/", "https://".length)
  const query = url.indexOf("?", start)
  return query === -1 ? url.slice(start) : url.slice(start, query)
}

/** Returns whether proxies could interpret a path differently: encoded slash or backslash, NUL, empty segment or fragment. */
const isMisleading = (path: string): boolean => /\/\/|#/.test(path) || /%2f|%5c|%00/i.test(path.replace(WITH_IDS, ""))

/** Path prefixes whose segments are ids. An invalid id means an unknown resource, however it is encoded. */
const WITH_IDS = /^\/api\/(?:public\/v1\/.*|private\/sites\/[^/]+)/

/** Creates the health routes for restart probes and load balancers. They need no key and reveal neither sites nor the version. */
export const healthRoutes = (health: Health) =>
  new Elysia()
    .get("/health/live", () => ({ status: "ok" }), { detail: { hide: true } })
    .get(
      "/health",
      ({ set }) => {
        const { status, reasons } = health.report()
        if (status === "ok") return { status }
        set.status = 503
        return { status, reasons }
      },
      { detail: { hide: true } },
    )
