import { type Static, Type as t } from "@sinclair/typebox"
import {
  AnyQuery,
  type Host,
  Instant,
  instantOrNull,
  instantText,
  type Job,
  NoQuery,
  type OwnStatements,
  orNull,
  Paged,
  readNothing,
  Sent,
  type SentJson,
} from "#plugin"
import { answers, refuses, SENT } from "./sent.ts"
import { Id, says } from "./shapes.ts"

export const JobShown = t.Object(
  {
    id: Id,
    kind: t.String(),
    key: t.String(),
    state: t.String(),
    organization_id: orNull(t.Integer()),
    site_id: orNull(t.Integer()),
    progress: orNull(t.Any()),
    attempts: t.Integer(),
    run_at: Instant,
    created_by: orNull(t.Integer()),
    created_at: Instant,
    started_at: orNull(Instant),
    finished_at: orNull(Instant),
    error_code: orNull(t.String()),
    error_message: orNull(t.String()),
  },
  { title: "InstanceJob" },
)

const ScheduleShown = t.Object(
  {
    name: t.String(),
    cron: t.String(),
    timezone: t.String(),
    enabled: t.Boolean(),
    last_run_at: orNull(Instant),
    last_state: orNull(t.String()),
    next_run_at: orNull(Instant),
  },
  { title: "Schedule" },
)

/** Without what it has in its hands: that is its own business. */
function jobShown(host: Host, job: Job): Static<typeof JobShown> {
  const { id, kind, key, state, organization_id, site_id, attempts, created_by, error_code, error_message } = job
  return {
    ...{ id, kind, key, state, organization_id, site_id, attempts, created_by, error_code, error_message },
    progress: host.services.console.jobs.progressOf(job),
    run_at: instantText(job.run_at),
    created_at: instantText(job.created_at),
    started_at: instantOrNull(job.started_at),
    finished_at: instantOrNull(job.finished_at),
  }
}

/** What a service stores in the transaction of a job that it makes. */
type Kept = (statements: OwnStatements, change: { after?: Job }) => Promise<void>
type ReportOptions = Omit<Parameters<Host["create"]>[0], "body"> & { body?: unknown }

/** Begins work: 202 with the job, once for each `Idempotency-Key`. */
export const begin = (host: Host, call: ReportOptions, make: (kept: Kept) => Promise<Job>): Promise<Static<typeof JobShown>> =>
  host.create(
    keyed(call),
    (_, kept) => make(kept),
    (job: Job) => ({ status: 202, location: `/api/private/admin/jobs/${job.id}`, body: jobShown(host, job) }),
  )

/** Also of a route that takes no body: its requests are all the same. */
export const keyed = ({ body, ...call }: ReportOptions): Parameters<Host["create"]>[0] => ({
  ...call,
  body: body === null || body === undefined ? { value: undefined, bytes: new Uint8Array() } : (body as SentJson), // as the gate has read it
})

/** Work in the background, of the core and of all areas. */
export const jobRoutes = (host: Host) => {
  const { jobs } = host.services.console
  const find = async ({ id }: Record<string, string | undefined>) => void (await jobs.get(id))
  const quiet = { find, read: readNothing }
  const scheduleShown = (schedule: Awaited<ReturnType<typeof jobs.schedules>>[number]): Static<typeof ScheduleShown> => {
    const { name, cron, timezone, enabled, last_state } = schedule
    const [last_run_at, next_run_at] = [instantOrNull(schedule.last_run_at), instantOrNull(schedule.next_run_at)]
    return { name, cron, timezone, enabled, last_run_at, last_state, next_run_at }
  }

  return host
    .instanceRouter()
    .get(
      "/admin/jobs",
      async ({ query }) => {
        const page = await jobs.list(query)
        return { ...page, data: page.data.map((job) => jobShown(host, job)) }
      },
      { instanceAdmin: true, query: AnyQuery, response: { 200: Paged(JobShown) }, detail: says("List jobs") },
    )
    .get(
      "/admin/jobs/:id",
      async ({ params }) => {
        const job = await jobs.get(params.id)
        return { ...jobShown(host, job), lines: job.lines.map(({ at, ...line }) => ({ at: instantText(at), ...line })) }
      },
      { instanceAdmin: { find }, query: NoQuery, detail: { ...says("Get a job with its log lines"), ...answers() } },
    )
    .post("/admin/jobs/:id/cancel", async ({ actor, params }) => jobShown(host, await jobs.cancel(actor, params.id)), {
      instanceAdmin: quiet,
      query: NoQuery,
      response: { 200: JobShown },
      detail: says("Cancel a job"),
    })
    .post(
      "/admin/jobs/:id/retry",
      ({ actor, params, user, request, set }) =>
        host.create(
          keyed({ user, request, set }),
          (_, kept) => jobs.retry(actor, params.id, kept),
          (job: Job) => ({ status: 200, body: jobShown(host, job) }),
        ),
      {
        instanceAdmin: quiet,
        query: NoQuery,
        response: { 200: JobShown },
        detail: { ...says("Retry a failed job"), ...refuses("invalid_state") },
      },
    )
    .get("/admin/schedules", async () => ({ data: (await jobs.schedules()).map(scheduleShown) }), {
      instanceAdmin: true,
      query: NoQuery,
      response: { 200: t.Object({ data: t.Array(ScheduleShown) }) },
      detail: says("List job schedules"),
    })
    .patch("/admin/schedules/:name", async ({ actor, params, body }) => scheduleShown(await jobs.change(actor, params.name, body.value)), {
      instanceAdmin: true,
      query: NoQuery,
      body: Sent,
      response: { 200: ScheduleShown },
      detail: { ...says("Update or disable a job schedule", SENT.schedule), ...refuses("not_found") },
    })
    .post(
      "/admin/schedules/:name/run",
      ({ actor, params, ...call }) => begin(host, call, (kept) => jobs.runNow(actor, params.name, kept)),
      {
        instanceAdmin: { read: readNothing },
        query: NoQuery,
        response: { 202: JobShown },
        detail: { ...says("Run a scheduled job now"), ...refuses("not_found") },
      },
    )
}
