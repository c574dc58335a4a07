import { type Static, Type as t } from "@sinclair/typebox"
import { instantText } from "./moment.ts"
import { anyOf, CREATED_AT, field, Instant, orNull, textOf } from "./response.ts"

/** The states of a background job. A job is a stored row, so its state survives a restart. */
export const JOB_STATES = ["queued", "running", "done", "failed", "cancelled"] as const
export type JobState = (typeof JOB_STATES)[number]

export interface JobProgress {
  /** Current phase, in one word. */
  phase: string
  done: number
  /** Absent when it is unknown. */
  total?: number
}

export interface Job {
  id: number
  /** `<id>.<verb-noun>` */
  kind: string
  /** Only one job of the same kind and key runs at a time. */
  key: string
  /** Time at which the schedule was due. Only one job is created for each. */
  slot: string | null
  organization_id: number | null
  site_id: number | null
  state: JobState
  /** The task, and the position from which it continues. */
  payload: unknown
  progress: JobProgress | null
  /** Number of starts. */
  attempts: number
  /** Earliest start. */
  run_at: number
  created_by: number | null
  created_at: number
  started_at: number | null
  finished_at: number | null
  error_code: string | null
  error_message: string | null
}

/** The progress in responses (areas/00 section 12), with the completed fraction and the seconds left where the total is known. */
export interface ProgressResponse extends JobProgress {
  fraction?: number
  eta_s?: number
}

/** Formats the progress of a job for a response. Returns null for a job without progress. */
export function formatProgress({ progress, state, started_at }: Job, now: number): ProgressResponse | null {
  if (!progress) return null
  const { done, total } = progress
  if (total === undefined || total <= 0) return progress
  const fraction = Math.min(1, done / total)
  if (state !== "running" || started_at === null || fraction === 0) return { ...progress, fraction }
  return { ...progress, fraction, eta_s: Math.max(0, Math.round(((now - started_at) * (1 - fraction)) / fraction / 1_000)) }
}

/** Returns whether a job is done, failed or cancelled. */
export const isFinished = ({ state }: Job): boolean => state === "done" || state === "failed" || state === "cancelled"

/** A job on the data of a site. */
export const WorkResponse = t.Object(
  {
    id: field.id("Id of the job."),
    state: textOf<JobState>({ description: "State: queued, running, done, failed or cancelled." }),
    progress: orNull(anyOf<ProgressResponse>(), { description: "Progress of a job that reports it." }),
    created_at: CREATED_AT,
    finished_at: orNull(Instant, { description: "Time at which the job was done, failed or cancelled. null until then." }),
    error: t.Optional(t.String({ description: "Error code. Present only for state `failed`." })),
  },
  { title: "Work" },
)
export type WorkResponse = Static<typeof WorkResponse>

export const toWorkResponse = (job: Job, now: number): WorkResponse => ({
  id: job.id,
  state: job.state,
  progress: formatProgress(job, now),
  created_at: instantText(job.created_at),
  finished_at: job.finished_at === null ? null : instantText(job.finished_at),
  ...(job.error_code !== null && { error: job.error_code }),
})
