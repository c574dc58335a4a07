import type { Job, JobProgress, JobState } from "../../domain/job.ts"
import { raw, Sql, sql } from "../sql.ts"
import type { Statements } from "./catalog.ts"
import { SERVER_NOW } from "./lease.ts"

const JOB = sql`
  id, kind, key, slot, organization_id, site_id, state, payload_json, progress_json, attempts, run_at, created_by, created_at,
  started_at, finished_at, error_code, error_message`
type JobRow = Omit<Job, "payload" | "progress"> & { payload_json: string; progress_json: string | null }

export interface NewJobRow {
  kind: string
  key: string
  slot: string | null
  organization_id: number | null
  site_id: number | null
  payload: unknown
  run_at: number
  created_by: number | null
  created_at: number
  /** Number of the node whose disk the job works on; null for a job that any node can run. */
  node: number | null
}

/** Inserts a job. Returns undefined when the slot already has one. */
export async function insertJob(catalog: Statements, job: NewJobRow): Promise<Job | undefined> {
  const row = await catalog.get<JobRow>(sql`
    insert into jobs (kind, key, slot, organization_id, site_id, state, payload_json, run_at, created_by, created_at, node)
    values (
      ${job.kind}, ${job.key}, ${job.slot}, ${job.organization_id}, ${job.site_id}, 'queued', ${JSON.stringify(job.payload)},
      ${job.run_at}, ${job.created_by}, ${job.created_at}, ${job.node}
    )
    on conflict do nothing
    returning ${JOB}`)
  return row && toJob(row)
}

export async function jobById(catalog: Statements, id: number): Promise<Job | undefined> {
  const row = await catalog.get<JobRow>(sql`select ${JOB} from jobs where id = ${id}`)
  return row && toJob(row)
}

/** Returns a queued job of this kind, key and node. */
export async function queuedJob(
  catalog: Statements,
  { kind, key, node }: Pick<NewJobRow, "kind" | "key" | "node">,
): Promise<Job | undefined> {
  const row = await catalog.get<JobRow>(sql`
    select ${JOB} from jobs where state = 'queued' and kind = ${kind} and key = ${key} and node is ${node} order by id limit 1`)
  return row && toJob(row)
}

/** Lets a queued job start earlier. */
export async function advanceJob(catalog: Statements, id: number, runAt: number): Promise<Job> {
  const row = await catalog.get<JobRow>(sql`update jobs set run_at = ${runAt} where id = ${id} returning ${JOB}`)
  return toJob(row!) // the caller has read it in this transaction
}

export interface JobFilter {
  state?: JobState
  kind?: string
  siteId?: number
}

/** Lists the jobs before an id, newest first. */
export async function listJobs(
  catalog: Statements,
  { state, kind, siteId }: JobFilter,
  { before, limit }: { before: number; limit: number },
): Promise<Job[]> {
  const rows = await catalog.all<JobRow>(sql`
    select ${JOB} from jobs where id < ${before}
      ${state === undefined ? raw("") : sql`and state = ${state}`}
      ${kind === undefined ? raw("") : sql`and kind = ${kind}`}
      ${siteId === undefined ? raw("") : sql`and site_id = ${siteId}`}
    order by id desc limit ${limit}`)
  return rows.map(toJob)
}

/** The jobs that a node looks for. */
interface DueJobs {
  kinds: readonly string[]
  /** Epoch milliseconds. */
  now: number
  /** Number of the node; null for the only process of a catalog. */
  node: number | null
  limit: number
}

/** Restricts jobs to those whose kind and key no running job has. */
const IS_ALONE = raw(
  "not exists (select 1 from jobs as other where other.state = 'running' and other.kind = jobs.kind and other.key = jobs.key)",
)

/**
 * Lists due jobs that a node can run, longest waiting first. Jobs are left out while one of the same kind and key runs, and while they
 * wait for another node.
 */
export async function listDueJobs(catalog: Statements, { kinds, now, node, limit }: DueJobs): Promise<Job[]> {
  const rows = await catalog.all<JobRow>(sql`
    select ${JOB} from jobs where state = 'queued' and run_at <= ${now} and kind in (${list(kinds)}) and (node is null or node = ${node})
      and ${IS_ALONE}
    order by run_at, id limit ${limit}`)
  return rows.map(toJob)
}

const list = (values: readonly string[]): Sql => new Sql(values.map(() => "?").join(", "), values)

/** Lists the running jobs after an id, by id ascending; with `expired` those whose lease is over by the server's clock. */
export async function listRunningJobs(
  catalog: Statements,
  { after, limit, expired }: { after: number; limit: number; expired: boolean },
): Promise<Job[]> {
  const rows = await catalog.all<JobRow>(sql`
    select ${JOB} from jobs where state = 'running' and id > ${after} ${expired ? OF_EXPIRED : raw("")} order by id limit ${limit}`)
  return rows.map(toJob)
}

const OF_EXPIRED = sql`and leased_until <= ${SERVER_NOW}`

/** The process that runs a job, and for how long others wait for its next sign of life, in milliseconds. */
interface JobLease {
  by: string
  ms: number
}

/** Starts a queued job. Returns undefined when it is no longer queued, or when another node runs one of the same kind and key. */
export async function claimJob(catalog: Statements, id: number, { by, ms, now }: JobLease & { now: number }): Promise<Job | undefined> {
  const row = await catalog.get<JobRow>(sql`
    update jobs set state = 'running', attempts = attempts + 1, leased_by = ${by}, leased_until = ${SERVER_NOW} + ${ms},
      started_at = ${now}, finished_at = null, error_code = null, error_message = null
    where id = ${id} and state = 'queued' and ${IS_ALONE}
    returning ${JOB}`)
  return row && toJob(row)
}

/** Starts the job of a slot, or restarts it after a failure. Returns undefined when it is running or done. */
export async function claimSlot(
  catalog: Statements,
  job: NewJobRow & { slot: string },
  { by, ms, now }: JobLease & { now: number },
): Promise<Job | undefined> {
  const row = await catalog.get<JobRow>(sql`
    insert into jobs (
      kind, key, slot, site_id, state, payload_json, attempts, run_at, leased_by, leased_until, created_at, started_at, node
    ) values (
      ${job.kind}, ${job.key}, ${job.slot}, ${job.site_id}, 'running', ${JSON.stringify(job.payload)}, 1, ${job.run_at}, ${by},
      ${SERVER_NOW} + ${ms}, ${job.created_at}, ${now}, ${job.node}
    )
    on conflict (kind, slot) where slot is not null do update set
      state = 'running', attempts = attempts + 1, leased_by = excluded.leased_by, leased_until = excluded.leased_until,
      started_at = excluded.started_at, finished_at = null, error_code = null, error_message = null
      where state = 'failed'
    returning ${JOB}`)
  return row && toJob(row)
}

/** Returns whether the job of a slot is done. */
export async function isSlotDone(catalog: Statements, { kind, slot }: { kind: string; slot: string }): Promise<boolean> {
  return (await catalog.get(sql`select 1 from jobs where kind = ${kind} and slot = ${slot} and state = 'done'`)) !== undefined
}

/** Renews the leases of a process. Returns the ids of its running jobs. */
export async function renewJobLeases(catalog: Statements, { by, ms }: JobLease): Promise<number[]> {
  const rows = await catalog.all<{ id: number }>(sql`
    update jobs set leased_until = ${SERVER_NOW} + ${ms} where state = 'running' and leased_by = ${by} returning id`)
  return rows.map(({ id }) => id)
}

/** Returns the ids of the jobs that a process runs. */
export async function heldJobs(catalog: Statements, by: string): Promise<number[]> {
  const rows = await catalog.all<{ id: number }>(sql`select id from jobs where state = 'running' and leased_by = ${by} limit 1000`)
  return rows.map(({ id }) => id)
}

/** Stores the progress of a job that the process still runs. */
export const saveJobProgress = (catalog: Statements, { id, by }: HeldJob, progress: JobProgress): Promise<void> =>
  catalog.run(sql`update jobs set progress_json = ${JSON.stringify(progress)} where id = ${id} and leased_by = ${by}`)

/** Stores the payload of a job. Returns false when the process no longer runs it. */
export async function saveJobPayload(catalog: Statements, { id, by }: HeldJob, payload: unknown): Promise<boolean> {
  const row = await catalog.get(sql`
    update jobs set payload_json = ${JSON.stringify(payload)} where id = ${id} and leased_by = ${by} returning id`)
  return row !== undefined
}

interface HeldJob {
  id: number
  by: string
}

/** Whose running job is ended: that of a process, or one whose lease is over. Default: of any process. */
type Holder = { by: string } | "expired"

function heldBy(holder: Holder | undefined): Sql {
  if (holder === undefined) return raw("")
  return holder === "expired" ? OF_EXPIRED : sql`and leased_by = ${holder.by}`
}

export interface JobEnd {
  state: "done" | "failed" | "cancelled"
  at: number
  error?: { code: string; message: string }
  holder?: Holder
}

/** Finishes a job. Returns undefined when it has already finished, or when another process holds it. */
export async function finishJob(catalog: Statements, id: number, { state, at, error, holder }: JobEnd): Promise<Job | undefined> {
  const row = await catalog.get<JobRow>(sql`
    update jobs set state = ${state}, finished_at = ${at}, leased_by = null, leased_until = null, error_code = ${error?.code ?? null},
      error_message = ${error?.message ?? null}
    where id = ${id} and state in ('queued', 'running') ${heldBy(holder)}
    returning ${JOB}`)
  return row && toJob(row)
}

interface Requeue {
  at: number
  /** Number of starts that count. A start that was interrupted by an orderly stop does not. */
  attempts: number
  error?: { code: string; message: string }
  holder?: Holder
}

/** Puts a job back into the queue. Returns undefined when another process holds it. */
export async function requeueJob(catalog: Statements, id: number, { at, attempts, error, holder }: Requeue): Promise<Job | undefined> {
  const row = await catalog.get<JobRow>(sql`
    update jobs set state = 'queued', run_at = ${at}, attempts = ${attempts}, leased_by = null, leased_until = null, finished_at = null,
      error_code = ${error?.code ?? null}, error_message = ${error?.message ?? null}
    where id = ${id} and state in ('running', 'failed', 'cancelled') ${heldBy(holder)}
    returning ${JOB}`)
  return row && toJob(row)
}

/** Deletes at most 1,000 finished jobs, because statements of the catalog must be short. Returns their number. */
export async function deleteJobsFinishedBefore(catalog: Statements, at: number): Promise<number> {
  const rows = await catalog.all(sql`
    delete from jobs where id in (select id from jobs where finished_at < ${at} limit 1000) returning id`)
  return rows.length
}

function toJob({ payload_json, progress_json, ...row }: JobRow): Job {
  // Both were written here.
  const progress = progress_json === null ? null : (JSON.parse(progress_json) as JobProgress)
  return { ...row, payload: JSON.parse(payload_json), progress }
}

/** Returns the time since when the oldest due job has been waiting, in epoch milliseconds, or undefined. */
export async function oldestDueJobAt(catalog: Statements, now: number): Promise<number | undefined> {
  const row = await catalog.get<{ at: number | null }>(sql`select min(run_at) as at from jobs where state = 'queued' and run_at <= ${now}`)
  return row?.at ?? undefined
}

/** The schedule of a recurring job. */
export interface Schedule {
  /** The kind of the job. */
  name: string
  /** Cron expression with five fields. */
  cron: string
  timezone: string
  enabled: boolean
  last_run_at: number | null
  /** State of the latest job. */
  last_state: JobState | null
  next_run_at: number | null
}

type ScheduleRow = Omit<Schedule, "enabled"> & { enabled: number }
const SCHEDULE = sql`
  name, cron, timezone, enabled, last_run_at, next_run_at,
  (select state from jobs where kind = name and slot is not null order by id desc limit 1) as last_state`

export async function listSchedules(catalog: Statements): Promise<Schedule[]> {
  return (await catalog.all<ScheduleRow>(sql`select ${SCHEDULE} from schedules order by name limit 1000`)).map(toSchedule)
}

export async function scheduleByName(catalog: Statements, name: string): Promise<Schedule | undefined> {
  const row = await catalog.get<ScheduleRow>(sql`select ${SCHEDULE} from schedules where name = ${name}`)
  return row && toSchedule(row)
}

/** Inserts a schedule with the program's default time, or updates it unless an admin has chosen another time. */
export const declareSchedule = (
  catalog: Statements,
  { name, cron, timezone }: Pick<Schedule, "name" | "cron" | "timezone">,
): Promise<void> =>
  catalog.run(sql`
    insert into schedules (name, cron, timezone) values (${name}, ${cron}, ${timezone})
    on conflict do update set
      next_run_at = case when cron = excluded.cron and timezone = excluded.timezone then next_run_at end,
      cron = excluded.cron, timezone = excluded.timezone
      where is_custom = 0`)

export const chooseSchedule = (
  catalog: Statements,
  name: string,
  { cron, enabled, next_run_at }: { cron: string | null; enabled: boolean; next_run_at: number | null },
): Promise<void> =>
  catalog.run(sql`
    update schedules set cron = coalesce(${cron}, cron), is_custom = max(is_custom, ${cron !== null}), enabled = ${enabled},
      next_run_at = ${next_run_at}
    where name = ${name}`)

export const planSchedule = (catalog: Statements, name: string, next_run_at: number | null): Promise<void> =>
  catalog.run(sql`update schedules set next_run_at = ${next_run_at} where name = ${name}`)

export const noteScheduleRun = (catalog: Statements, name: string, at: number): Promise<void> =>
  catalog.run(sql`update schedules set last_run_at = ${at} where name = ${name}`)

const toSchedule = ({ enabled, ...row }: ScheduleRow): Schedule => ({ ...row, enabled: enabled === 1 })

/** Returns the kind of a job that was interrupted, or that waits to change what is stored of a site. Undefined without any. */
export async function unfinishedJob(catalog: Statements, now: number): Promise<string | undefined> {
  const row = await catalog.get<{ kind: string }>(sql`
    select kind from jobs where state = 'running' or (state = 'queued' and slot is null and site_id is not null and run_at <= ${now})
    order by id limit 1`)
  return row?.kind
}
