import { Type as t } from "@sinclair/typebox"
import {
  AnyQuery,
  failures,
  type Host,
  instantOrNull,
  instantText,
  type Job,
  NoQuery,
  type OwnStatements,
  Paged,
  readNothing,
  Sent,
  type SentJson,
} from "#plugin"
import { BODIES } from "./bodies.ts"
import { JobResponse, ScheduleResponse } from "./operation-responses.ts"
import { operation, rawResponse } from "./routing.ts"

/** Returns a job without its payload. */
function formatJob(host: Host, job: Job): JobResponse {
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

/** Stores something else in the transaction that creates a job. */
type Alongside = (statements: OwnStatements, change: { after?: Job }) => Promise<void>
type Call = Omit<Parameters<Host["create"]>[0], "body"> & { body?: unknown }

/** Starts a job, once for each `Idempotency-Key`. The response is 202 with the job. */
export const begin = (host: Host, call: Call, create: (alongside: Alongside) => Promise<Job>): Promise<JobResponse> =>
  host.create(
    keyed(call),
    (_, alongside) => create(alongside),
    (job: Job) => ({ status: 202, location: `/api/private/admin/jobs/${job.id}`, body: formatJob(host, job) }),
  )

/** Returns a call for `host.create`. All calls of a route without a body count as equal. */
export const keyed = ({ body, ...call }: Call): Parameters<Host["create"]>[0] => ({
  ...call,
  body: body === null || body === undefined ? { value: undefined, bytes: new Uint8Array() } : (body as SentJson), // as parsed before the handler
})

/** Routes for jobs and schedules of the core and of all plugins. */
export const jobRoutes = (host: Host) => {
  const { jobs } = host.services.console
  const find = async ({ id }: Record<string, string | undefined>) => void (await jobs.get(id))
  const quiet = { find, read: readNothing }
  const formatSchedule = (schedule: Awaited<ReturnType<typeof jobs.schedules>>[number]): ScheduleResponse => {
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
        return { ...page, data: page.data.map((job) => formatJob(host, job)) }
      },
      { instanceAdmin: true, query: AnyQuery, response: { 200: Paged(JobResponse) }, detail: operation("List jobs") },
    )
    .get(
      "/admin/jobs/:id",
      async ({ params }) => {
        const job = await jobs.get(params.id)
        return { ...formatJob(host, job), lines: job.lines.map(({ at, ...line }) => ({ at: instantText(at), ...line })) }
      },
      { instanceAdmin: { find }, query: NoQuery, detail: { ...operation("Get a job with its log lines"), ...rawResponse() } },
    )
    .post("/admin/jobs/:id/cancel", async ({ actor, params }) => formatJob(host, await jobs.cancel(actor, params.id)), {
      instanceAdmin: quiet,
      query: NoQuery,
      response: { 200: JobResponse },
      detail: operation("Cancel a job"),
    })
    .post(
      "/admin/jobs/:id/retry",
      ({ actor, params, user, request, set }) =>
        host.create(
          keyed({ user, request, set }),
          (_, alongside) => jobs.retry(actor, params.id, alongside),
          (job: Job) => ({ status: 200, body: formatJob(host, job) }),
        ),
      {
        instanceAdmin: quiet,
        query: NoQuery,
        response: { 200: JobResponse },
        detail: { ...operation("Retry a failed job"), ...failures("invalid_state") },
      },
    )
    .get("/admin/schedules", async () => ({ data: (await jobs.schedules()).map(formatSchedule) }), {
      instanceAdmin: true,
      query: NoQuery,
      response: { 200: t.Object({ data: t.Array(ScheduleResponse, { description: "Schedules of all jobs." }) }) },
      detail: operation("List job schedules"),
    })
    .patch("/admin/schedules/:name", async ({ actor, params, body }) => formatSchedule(await jobs.change(actor, params.name, body.value)), {
      instanceAdmin: true,
      query: NoQuery,
      body: Sent,
      response: { 200: ScheduleResponse },
      detail: { ...operation("Update or disable a job schedule", BODIES.schedule), ...failures("not_found") },
    })
    .post(
      "/admin/schedules/:name/run",
      ({ actor, params, ...call }) => begin(host, call, (alongside) => jobs.runNow(actor, params.name, alongside)),
      {
        instanceAdmin: { read: readNothing },
        query: NoQuery,
        response: { 202: JobResponse },
        detail: { ...operation("Run a scheduled job now"), ...failures("not_found") },
      },
    )
}
