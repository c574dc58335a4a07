import { Type as t } from "@sinclair/typebox"
import { AnyQuery, ArgumentReader, type Host, instantText, NoQuery, refuseArguments, Sent } from "#plugin"
import { BODIES } from "./bodies.ts"
import { HealthResponse, ModeResponse, SlowQueriesResponse, StateResponse } from "./responses.ts"
import { fileHeaders, operation, rawResponse } from "./routing.ts"

/** Routes for system information, health checks, logs and maintenance mode. */
export const systemRoutes = (host: Host) => {
  const { system, health, states, maintenance, logLines, diagnostics } = host.services.console

  return host
    .instanceRouter()
    .get("/admin/system", () => system(), {
      instanceAdmin: true,
      query: NoQuery,
      detail: { ...operation("Get system information"), ...rawResponse() },
    })
    .get(
      "/admin/system/health",
      async ({ request }) => {
        const checks = await health(request.headers.get("host") ?? undefined)
        const worst = (["fail", "warn"] as const).find((status) => checks.some((check) => check.status === status)) ?? "ok"
        return { status: worst, checks }
      },
      {
        instanceAdmin: true,
        query: NoQuery,
        response: { 200: HealthResponse },
        detail: operation("List health checks"),
      },
    )
    .get("/admin/system/state", () => ({ states: states(), maintenance: maintenance.shown() }), {
      instanceAdmin: true,
      query: NoQuery,
      response: { 200: t.Object({ states: t.Array(StateResponse), maintenance: ModeResponse }) },
      detail: operation("List current problems"),
    })
    .get("/admin/logs", ({ query }) => ({ data: logLines(query).map(({ at, ...line }) => ({ at: instantText(at), ...line })) }), {
      instanceAdmin: true,
      query: AnyQuery,
      detail: { ...operation("List the latest log lines without secrets"), ...rawResponse() },
    })
    .get(
      "/admin/diagnostics.zip",
      async ({ actor }) => {
        const bytes = await diagnostics(actor)
        return new Response(bytes as Uint8Array<ArrayBuffer>, { headers: fileHeaders("application/zip", "diagnostics.zip") })
      },
      {
        instanceAdmin: true,
        query: NoQuery,
        detail: { ...operation("Download diagnostics without secrets or personal data"), ...rawResponse("application/zip") },
      },
    )
    .get("/admin/maintenance", () => maintenance.shown(), {
      instanceAdmin: true,
      query: NoQuery,
      response: { 200: ModeResponse },
      detail: operation("Get the maintenance mode"),
    })
    .post("/admin/maintenance", ({ actor, body }) => maintenance.change(actor, body.value), {
      instanceAdmin: true,
      query: NoQuery,
      body: Sent,
      response: { 200: ModeResponse },
      detail: operation("Turn maintenance mode on or off", BODIES.maintenance),
    })
}

const SORTS = ["at", "took_ms"] as const
const HOUR_MS = 3_600_000

/** Routes of slow queries. They show site and number of days, but never the filters. */
export const slowQueryRoutes = (host: Host) => {
  const { slowQueries } = host.services.console
  return host.instanceRouter().get(
    "/admin/system/slow-questions",
    ({ query }) => {
      const reader = new ArgumentReader(query, ["sort"])
      const sort = reader.choice("sort", SORTS) ?? "at"
      refuseArguments(reader, "text")
      const queries = slowQueries.list()
      const since = host.now() - HOUR_MS
      const sorted = sort === "at" ? queries : queries.toSorted((a, b) => b.tookMs - a.tookMs)
      return { last_hour: queries.filter(({ at }) => at > since).length, data: sorted.map(formatSlowQuery) }
    },
    {
      instanceAdmin: true,
      query: AnyQuery,
      response: { 200: SlowQueriesResponse },
      detail: operation("List the latest queries that took a second or more"),
    },
  )
}

type SlowQuery = ReturnType<Host["services"]["console"]["slowQueries"]["list"]>[number]

const formatSlowQuery = ({ at, kind, siteId, rangeDays, waitedMs, tookMs, ending }: SlowQuery) => ({
  at: instantText(at),
  kind,
  site_id: siteId ?? null,
  range_days: rangeDays ?? null,
  waited_ms: Math.round(waitedMs),
  took_ms: Math.round(tookMs),
  ending,
})
