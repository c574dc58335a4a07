import { AnyQuery, failures, type Host, instantText, NoQuery, Sent } from "#plugin"
import { BODIES } from "./bodies.ts"
import { begin } from "./jobs.ts"
import { JobResponse, PreviewResponse } from "./responses.ts"
import { operation, rawResponse } from "./routing.ts"

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
      ({ query }) => ({
        data: ingestion.rejected(query).map(({ at, hostname, browser, ...sample }) => ({
          at: instantText(at),
          ...sample,
          host: hostname,
          browser_family: browser,
        })),
      }),
      { instanceAdmin: true, query: AnyQuery, detail: { ...operation("List the latest dropped events of all sites"), ...rawResponse() } },
    )
}
