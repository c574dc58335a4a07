import { Type as t } from "@sinclair/typebox"
import { AnyQuery, ArgumentReader, failures, type Host, instantText, NoQuery, readNothing, refuseArguments, Sent } from "#plugin"
import { BODIES } from "./bodies.ts"
import { begin } from "./jobs.ts"
import {
  HealthResponse,
  JobResponse,
  ModeResponse,
  NoticeResponse,
  PreviewResponse,
  SlowQueriesResponse,
  StateResponse,
  UpdateResponse,
} from "./operation-responses.ts"
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
      response: { 200: t.Object({ states: t.Array(StateResponse, { description: "Current problems." }), maintenance: ModeResponse }) },
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

/** Routes for storage, retention and ingestion. */
export const storageRoutes = (host: Host) => {
  const { storage, storeWork, retention, ingestion } = host.services.console
  const admin = { instanceAdmin: true, query: NoQuery } as const

  return host
    .instanceRouter()
    .get("/admin/storage", () => storage.report(), {
      ...admin,
      detail: { ...operation("Get storage usage and its forecast"), ...rawResponse() },
    })
    .post(
      "/admin/storage/vacuum",
      ({ actor, ...call }) => begin(host, call, (alongside) => storeWork.vacuum(actor, call.body.value, alongside)),
      {
        ...admin,
        body: Sent,
        response: { 202: JobResponse },
        detail: { ...operation("Release the free space of a store", BODIES.store), ...failures("not_enough_space", "invalid_state") },
      },
    )
    .post(
      "/admin/storage/analyze",
      ({ actor, ...call }) => begin(host, call, (alongside) => storeWork.analyze(actor, call.body.value, alongside)),
      {
        ...admin,
        body: Sent,
        response: { 202: JobResponse },
        detail: { ...operation("Update the query statistics of a store", BODIES.store), ...failures("invalid_state") },
      },
    )
    .get("/admin/retention", () => retention.list(), { ...admin, detail: { ...operation("Get the retention settings"), ...rawResponse() } })
    .put(
      "/admin/retention",
      async ({ actor, body }) => {
        await retention.change(actor, body.value)
        return retention.list()
      },
      {
        ...admin,
        body: Sent,
        detail: {
          ...operation("Update the retention settings", BODIES.retention),
          ...failures("site_not_found", "set_elsewhere"),
          ...rawResponse(),
        },
      },
    )
    .post("/admin/retention/preview", ({ body }) => retention.preview(body.value), {
      instanceAdmin: { reads: true },
      query: NoQuery,
      body: Sent,
      response: { 200: PreviewResponse },
      detail: { ...operation("Preview a retention run", BODIES.retentionRun), ...failures("site_not_found") },
    })
    .post(
      "/admin/retention/run",
      ({ actor, ...call }) => begin(host, call, (alongside) => retention.run(actor, call.body.value, alongside)),
      {
        ...admin,
        body: Sent,
        response: { 202: JobResponse },
        detail: { ...operation("Start a retention run", BODIES.retentionRun), ...failures("site_not_found") },
      },
    )
    .get("/admin/ingestion", ({ query }) => ingestion.minutes(query), {
      instanceAdmin: true,
      query: AnyQuery,
      detail: { ...operation("Get ingestion by minute"), ...rawResponse() },
    })
    .get(
      "/admin/ingestion/rejected/sample",
      async ({ query }) => ({
        data: (await ingestion.rejected(query)).map(({ at, hostname, browser, ...sample }) => ({
          at: instantText(at),
          ...sample,
          host: hostname,
          browser_family: browser,
        })),
      }),
      { instanceAdmin: true, query: AnyQuery, detail: { ...operation("List the latest dropped events of all sites"), ...rawResponse() } },
    )
}

/** Routes for updates and for notices about problems. */
export const updateRoutes = (host: Host) => {
  const { updates, alarms } = host.services.console

  return host
    .instanceRouter()
    .get("/admin/updates", () => updates.report(), {
      instanceAdmin: true,
      query: NoQuery,
      response: { 200: UpdateResponse },
      detail: operation("Get the result of the last update check"),
    })
    .post("/admin/updates/check", ({ actor }) => updates.check(actor), {
      instanceAdmin: { read: readNothing },
      query: NoQuery,
      response: { 200: UpdateResponse },
      detail: { ...operation("Check for updates, sending only the version"), ...failures("invalid_state", "outbound_disabled") },
    })
    .get("/admin/notices", async () => ({ data: (await alarms.list()).map(formatNotice) }), {
      instanceAdmin: true,
      query: NoQuery,
      response: { 200: t.Object({ data: t.Array(NoticeResponse, { description: "Notices, newest first." }) }) },
      detail: operation("List notices about open problems"),
    })
    .post(
      "/admin/notices/:id/dismiss",
      async ({ actor, params, status }) => {
        await alarms.dismiss(actor, params.id)
        return status(204, undefined)
      },
      { instanceAdmin: { read: readNothing }, query: NoQuery, detail: { ...operation("Dismiss a notice"), ...failures("not_found") } },
    )
}

type Notice = Awaited<ReturnType<Host["services"]["console"]["alarms"]["list"]>>[number]

const formatNotice = ({ first_at, last_at, ...notice }: Notice): NoticeResponse => ({
  ...notice,
  first_at: instantText(first_at),
  last_at: instantText(last_at),
})
