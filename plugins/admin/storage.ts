import { type Host, instantText } from "#plugin"
import { JobShown, jobShown } from "./jobs.ts"
import { answers, refuses, SENT } from "./sent.ts"
import { AnyQuery, NoQuery, Sent, says } from "./shapes.ts"

/** What the stores take, how long events are kept, how they come in. */
export const storageRoutes = (host: Host) => {
  const { storage, storeWork, retention, ingestion } = host.services.console
  const admin = { instanceAdmin: true, query: NoQuery } as const

  return host
    .instanceRouter()
    .get("/admin/storage", () => storage.report(), {
      ...admin,
      detail: { ...says("What stores, tables and sites take, and for how long it is enough"), ...answers() },
    })
    .post("/admin/storage/vacuum", async ({ actor, body, set }) => accepted(host, set, await storeWork.vacuum(actor, body.value)), {
      ...admin,
      body: Sent,
      response: { 202: JobShown },
      detail: { ...says("Give the free space of a store back", SENT.store), ...refuses("not_enough_space", "invalid_state") },
    })
    .post("/admin/storage/analyze", async ({ actor, body, set }) => accepted(host, set, await storeWork.analyze(actor, body.value)), {
      ...admin,
      body: Sent,
      response: { 202: JobShown },
      detail: { ...says("Count how values are spread", SENT.store), ...refuses("invalid_state") },
    })
    .get("/admin/retention", () => retention.list(), { ...admin, detail: { ...says("How long events are kept"), ...answers() } })
    .put(
      "/admin/retention",
      async ({ actor, body }) => {
        await retention.change(actor, body.value)
        return retention.list()
      },
      {
        ...admin,
        body: Sent,
        detail: { ...says("Change how long events are kept", SENT.retention), ...refuses("site_not_found", "set_elsewhere"), ...answers() },
      },
    )
    .post("/admin/retention/preview", ({ body }) => retention.preview(body.value), {
      instanceAdmin: { reads: true },
      query: NoQuery,
      body: Sent,
      detail: { ...says("Count what a run would remove", SENT.retentionRun), ...refuses("site_not_found"), ...answers() },
    })
    .post("/admin/retention/run", async ({ actor, body, set }) => accepted(host, set, await retention.run(actor, body.value)), {
      ...admin,
      body: Sent,
      response: { 202: JobShown },
      detail: { ...says("Remove what is over its time, as the preview told", SENT.retentionRun), ...refuses("site_not_found") },
    })
    .get("/admin/ingestion", ({ query }) => ingestion.minutes(query), {
      instanceAdmin: true,
      query: AnyQuery,
      detail: { ...says("What became of events, by minute"), ...answers() },
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
      { instanceAdmin: true, query: AnyQuery, detail: { ...says("The last dropped events of all sites"), ...answers() } },
    )
}

function accepted(host: Host, set: { status?: number | string; headers: Record<string, unknown> }, job: Parameters<typeof jobShown>[1]) {
  set.status = 202
  set.headers.location = `/api/private/admin/jobs/${job.id}`
  return jobShown(host, job)
}
