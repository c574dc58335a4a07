import { AnyQuery, type Host, instantText, NoQuery, Sent } from "#plugin"
import { begin, JobShown } from "./jobs.ts"
import { answers, refuses, SENT } from "./sent.ts"
import { PreviewShown, says } from "./shapes.ts"

/** What the stores take, how long events are kept, how they come in. */
export const storageRoutes = (host: Host) => {
  const { storage, storeWork, retention, ingestion } = host.services.console
  const admin = { instanceAdmin: true, query: NoQuery } as const

  return host
    .instanceRouter()
    .get("/admin/storage", () => storage.report(), {
      ...admin,
      detail: { ...says("Get storage usage and its forecast"), ...answers() },
    })
    .post("/admin/storage/vacuum", ({ actor, ...call }) => begin(host, call, (kept) => storeWork.vacuum(actor, call.body.value, kept)), {
      ...admin,
      body: Sent,
      response: { 202: JobShown },
      detail: { ...says("Release the free space of a store", SENT.store), ...refuses("not_enough_space", "invalid_state") },
    })
    .post("/admin/storage/analyze", ({ actor, ...call }) => begin(host, call, (kept) => storeWork.analyze(actor, call.body.value, kept)), {
      ...admin,
      body: Sent,
      response: { 202: JobShown },
      detail: { ...says("Update the query statistics of a store", SENT.store), ...refuses("invalid_state") },
    })
    .get("/admin/retention", () => retention.list(), { ...admin, detail: { ...says("Get the retention settings"), ...answers() } })
    .put(
      "/admin/retention",
      async ({ actor, body }) => {
        await retention.change(actor, body.value)
        return retention.list()
      },
      {
        ...admin,
        body: Sent,
        detail: { ...says("Update the retention settings", SENT.retention), ...refuses("site_not_found", "set_elsewhere"), ...answers() },
      },
    )
    .post("/admin/retention/preview", ({ body }) => retention.preview(body.value), {
      instanceAdmin: { reads: true },
      query: NoQuery,
      body: Sent,
      response: { 200: PreviewShown },
      detail: { ...says("Preview a retention run", SENT.retentionRun), ...refuses("site_not_found") },
    })
    .post("/admin/retention/run", ({ actor, ...call }) => begin(host, call, (kept) => retention.run(actor, call.body.value, kept)), {
      ...admin,
      body: Sent,
      response: { 202: JobShown },
      detail: { ...says("Start a retention run", SENT.retentionRun), ...refuses("site_not_found") },
    })
    .get("/admin/ingestion", ({ query }) => ingestion.minutes(query), {
      instanceAdmin: true,
      query: AnyQuery,
      detail: { ...says("Get ingestion by minute"), ...answers() },
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
      { instanceAdmin: true, query: AnyQuery, detail: { ...says("List the latest dropped events of all sites"), ...answers() } },
    )
}
