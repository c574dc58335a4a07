import { Type as t } from "@sinclair/typebox"
import type { Actor, AuditEntry } from "../../domain/audit.ts"
import type { Clock } from "../../domain/clock.ts"
import { AppError } from "../../domain/error.ts"
import { parseId } from "../../domain/id.ts"
import { formatProgress, JOB_STATES, type Job, type ProgressResponse } from "../../domain/job.ts"
import type { PrivatePage } from "../../domain/response.ts"
import { parsed } from "../../domain/sign-in.ts"
import type { Schedule } from "../../store/catalog/jobs.ts"
import { type Audit, recorded } from "../audit/audit.ts"
import type { Alongside } from "../definitions/site-things.ts"
import { privatePage, readPaging } from "../lists/paging.ts"
import type { LogLine, LogLines } from "../runtime/log.ts"
import type { BeginJob, Jobs } from "./jobs.ts"
import type { Schedules } from "./schedules.ts"

/** Jobs and schedules of the core and of all areas. */
export interface ConsoleJobs {
  /** Lists jobs, the newest first. Throws `invalid_query`, `invalid_cursor`. */
  list(query: Record<string, unknown>): Promise<PrivatePage<Job>>
  /** Returns a job with its log lines. Throws `job_not_found`. */
  get(id: string | undefined): Promise<Job & { lines: LogLine[] }>
  progressOf(job: Job): ProgressResponse | null
  /** Throws `job_not_found`. */
  cancel(actor: Actor, id: string | undefined): Promise<Job>
  /** Retries a job. Throws `job_not_found`, and `invalid_state` for a job that did not fail. */
  retry(actor: Actor, id: string | undefined, alongside?: Alongside<Job>): Promise<Job>
  schedules(): Promise<Schedule[]>
  /** Changes a schedule. The body is `{cron?, enabled?}`. Throws `not_found`, `validation_failed`. */
  change(actor: Actor, name: string, body: unknown): Promise<Schedule>
  /** Runs a scheduled job now, in addition to its schedule. Throws `not_found`. */
  runNow(actor: Actor, name: string, alongside?: Alongside<Job>): Promise<Job>
}

const SchedulePatch = t.Object(
  { cron: t.Optional(t.String({ minLength: 9, maxLength: 100 })), enabled: t.Optional(t.Boolean()) },
  { additionalProperties: false, title: "SchedulePatch" },
)

interface ConsoleJobsOptions {
  beginJob: BeginJob
  jobs: Jobs
  schedules: Schedules
  clock: Pick<Clock, "now">
  audit: Audit
  logLines: Pick<LogLines, "list">
}

const LINES = 50

export function createConsoleJobs({ beginJob, jobs, schedules, clock, audit, logLines }: ConsoleJobsOptions): ConsoleJobs {
  async function find(idText: string | undefined): Promise<Job> {
    const job = await jobs.get(parseId(idText) ?? 0)
    if (!job) throw jobNotFound()
    return job
  }
  const writing = (actor: Actor, verb: string) => (statements: Parameters<Audit["write"]>[0], job: Job) =>
    audit.write(statements, actor, jobEntry(verb)(job))

  return {
    list(query) {
      const paging = readPaging("admin/jobs", query, ["state", "kind", "site"], (reader) => ({
        state: reader.choice("state", JOB_STATES),
        kind: reader.text("kind", { min: 1, max: 100 }),
        siteId: reader.integer("site", { min: 1, max: Number.MAX_SAFE_INTEGER }),
      }))
      const { state, kind, siteId } = paging.filters
      const filter = { ...(state && { state }), ...(kind !== undefined && { kind }), ...(siteId !== undefined && { siteId }) }
      const read = (limit: number) => jobs.list(filter, { before: paging.after ?? Number.MAX_SAFE_INTEGER, limit })
      return privatePage(paging, read, async () => countAll(jobs, filter))
    },
    async get(id) {
      const job = await find(id)
      return { ...job, lines: logLines.list({ q: `"job":${job.id}` }, LINES).filter(({ fields }) => fields.job === job.id) }
    },
    progressOf: (job) => formatProgress(job, clock.now()),
    async cancel(actor, id) {
      const { id: jobId } = await find(id)
      return (await jobs.cancel(jobId, writing(actor, "cancel")))! // it was found above
    },
    async retry(actor, id, alongside) {
      const { id: jobId } = await find(id)
      const write = writing(actor, "retry")
      const writeBoth: typeof write = async (statements, job) => {
        await write(statements, job)
        await alongside?.(statements, { after: job })
      }
      return (await jobs.retry(jobId, writeBoth))! // it was found above
    },
    schedules: () => schedules.list(),
    async change(actor, name, body) {
      const { cron, enabled } = parsed(SchedulePatch, body)
      const wanted = { ...(cron !== undefined && { cron }), ...(enabled !== undefined && { enabled }) }
      const describe = (schedule: Schedule): AuditEntry => ({
        action: "admin.schedule.update",
        target: { type: "schedule", id: schedule.name, label: schedule.name },
      })
      const changed = await schedules.change(name, wanted, recorded(audit, actor, describe))
      if (!changed) throw noSchedule()
      return changed
    },
    async runNow(actor, name, alongside) {
      if (!(await schedules.list()).some((schedule) => schedule.name === name)) throw noSchedule()
      const entry = { action: "admin.schedule.run", target: { type: "schedule", id: name, label: name } }
      return beginJob(actor, { kind: name, join: true }, entry, alongside)
    },
  }
}

/** Reads all jobs in slices, so that no statement reads too many rows. */
async function countAll(jobs: Jobs, filter: Parameters<Jobs["list"]>[0]): Promise<number> {
  let total = 0
  for (let before = Number.MAX_SAFE_INTEGER; ; ) {
    const part = await jobs.list(filter, { before, limit: 1_000 })
    total += part.length
    if (part.length < 1_000) return total
    before = part.at(-1)!.id
  }
}

const jobEntry =
  (verb: string) =>
  ({ id, kind, organization_id, site_id }: Job): AuditEntry => ({
    action: `admin.job.${verb}`,
    target: { type: "job", id, label: kind },
    ...(organization_id !== null && { organizationId: organization_id }),
    ...(site_id !== null && { siteId: site_id }),
  })

const jobNotFound = () => new AppError("job_not_found", "This job does not exist.")
const noSchedule = () => new AppError("not_found", "This schedule does not exist.")
