import { isOver, type Job, type JobState, type ShownProgress, shownProgress } from "../domain/job.ts"
import type { JobKind } from "../services/job-kinds.ts"
import type { Jobs, NewJob } from "../services/jobs.ts"
import type { Recurring, Schedules } from "../services/schedules.ts"
import type { Statements } from "../store/catalog/catalog.ts"
import { pluginFault } from "./check.ts"
import type { Asked } from "./host.ts"
import { type OwnStatements, statementsBehind } from "./own-tables.ts"
import { progressStream } from "./progress.ts"

/** A kind of job that a plugin brings; with a schedule one is made whenever it is due. */
// The payload of a kind is its own business: it comes back as it was saved.
// biome-ignore lint/suspicious/noExplicitAny: a list of kinds holds payloads of all types
export type PluginJob<Payload = any> = JobKind<Payload> & { schedule?: Recurring }

/** A plugin's own jobs, by the names it gave them. */
export interface PluginJobs {
  /** With statements it is part of their transaction. Undefined when the slot has had its job. */
  enqueue(name: string, job?: Omit<NewJob, "kind">, statements?: OwnStatements | Statements): Promise<Job | undefined>
  /** Undefined for one of somebody else. */
  get(id: number): Promise<Job | undefined>
  /** The newest first, those before an id. */
  list(filter: { name?: string; state?: JobState; siteId?: number }, page: { before?: number; limit: number }): Promise<Job[]>
  cancel(id: number): Promise<Job | undefined>
  /** As answers have it. */
  progressOf(job: Job): ShownProgress | null
  isOver(job: Job): boolean
  /** How far it is, as a stream of events: the answer to a request. */
  stream(job: Job, asked: Asked, show: (job: Job) => object): Response
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
      // Of all kinds, so those of others are passed over.
      for (let last = before; found.length < limit; ) {
        const some = await jobs.list(filter, { before: last, limit: 200 })
        found.push(...some.filter(own))
        if (some.length < 200) break
        last = some.at(-1)!.id
      }
      return found.slice(0, limit)
    },
    cancel: async (jobId) => ((await get(jobId)) ? jobs.cancel(jobId) : undefined),
    progressOf: (job) => shownProgress(job, now()),
    isOver,
    stream: (job, asked, show) => progressStream(jobs, job, asked, show),
  }
}

/** Makes the jobs of a plugin known under `<id>.<verb-noun>`. They begin only while it is on. */
export function defineJobs(
  { jobs, schedules }: { jobs: Jobs; schedules: Schedules },
  id: string,
  own: Readonly<Record<string, PluginJob>>,
  isOn: () => boolean,
): void {
  for (const [name, { schedule, ...kind }] of Object.entries(own)) {
    if (!/^[a-z]+(-[a-z0-9]+)+$/.test(name)) throw pluginFault(id, `the job ${name} is not of the form <verb>-<noun>`)
    jobs.define(`${id}.${name}`, kind, isOn)
    if (!schedule) continue
    try {
      schedules.declare(`${id}.${name}`, schedule, isOn)
    } catch {
      throw pluginFault(id, `the schedule ${schedule.cron} of the job ${name} is not five fields of cron`)
    }
  }
}
