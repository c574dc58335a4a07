import { formatProgress, isFinished, type Job, type JobState, type ProgressResponse } from "../../domain/job.ts"
import type { JobKind, Jobs, NewJob } from "../../services/jobs/jobs.ts"
import type { Recurring, Schedules } from "../../services/jobs/schedules.ts"
import type { Statements } from "../../store/catalog/catalog.ts"
import { pluginFault } from "../check.ts"
import type { Asked } from "./host.ts"
import { type OwnStatements, statementsBehind } from "./own-tables.ts"
import { progressStream } from "./progress.ts"

/** Kind of job of a plugin. With a schedule, a job is created whenever it is due. */
// The payload can have any type. It is passed to the job as it was saved.
// biome-ignore lint/suspicious/noExplicitAny: a list of kinds holds payloads of all types
export type PluginJob<Payload = any> = JobKind<Payload> & { schedule?: Recurring }

/** Jobs of a plugin, by the names it gave them. */
export interface PluginJobs {
  /** Creates a job, in the transaction of the given statements if any. Returns undefined if the slot already has a job. */
  enqueue(name: string, job?: Omit<NewJob, "kind">, statements?: OwnStatements | Statements): Promise<Job | undefined>
  /** Returns a job of the plugin, or undefined. */
  get(id: number): Promise<Job | undefined>
  /** Returns jobs with an id below the given one, newest first. */
  list(filter: { name?: string; state?: JobState; siteId?: number }, page: { before?: number; limit: number }): Promise<Job[]>
  cancel(id: number): Promise<Job | undefined>
  /** Returns a job in the form of responses. */
  progressOf(job: Job): ProgressResponse | null
  isFinished(job: Job): boolean
  /** Creates the response that streams the progress of a job. */
  stream(job: Job, asked: Asked, show: (job: Job) => object | Promise<object>): Response
}

export function pluginJobs(jobs: Jobs, id: string, now: () => number): PluginJobs {
  const own = (job: Job | undefined): Job | undefined => (job?.kind.startsWith(`${id}.`) ? job : undefined)
  const get = async (jobId: number) => own(await jobs.get(jobId))
  return {
    get,
    enqueue: (name, job = {}, statements) => jobs.enqueue({ ...job, kind: `${id}.${name}` }, statements && statementsBehind(statements)),
    async list({ name, ...filter }, { before = Number.MAX_SAFE_INTEGER, limit }) {
      if (name !== undefined) return jobs.list({ ...filter, kind: `${id}.${name}` }, { before, limit })
      const found: Job[] = []
      // The list contains jobs of all plugins. Others are skipped.
      for (let last = before; found.length < limit; ) {
        const some = await jobs.list(filter, { before: last, limit: 200 })
        found.push(...some.filter(own))
        if (some.length < 200) break
        last = some.at(-1)!.id
      }
      return found.slice(0, limit)
    },
    cancel: async (jobId) => ((await get(jobId)) ? jobs.cancel(jobId) : undefined),
    progressOf: (job) => formatProgress(job, now()),
    isFinished,
    stream: (job, asked, show) => progressStream(jobs, job, asked, show),
  }
}

/** Registers the jobs of a plugin as `<id>.<verb-noun>`. They start only while the plugin is enabled. */
export function defineJobs(
  { jobs, schedules }: { jobs: Jobs; schedules: Schedules },
  id: string,
  own: Readonly<Record<string, PluginJob>>,
  isOn: () => boolean,
): void {
  for (const [name, { schedule, ...kind }] of Object.entries(own)) {
    if (!/^[a-z]+(-[a-z0-9]+)+$/.test(name)) throw pluginFault(id, `the job ${name} does not have the form <verb>-<noun>`)
    jobs.define(`${id}.${name}`, kind, isOn)
    if (!schedule) continue
    try {
      schedules.declare(`${id}.${name}`, schedule, isOn)
    } catch {
      throw pluginFault(id, `the schedule ${schedule.cron} of the job ${name} is not a cron expression of five fields`)
    }
  }
}
