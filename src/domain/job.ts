/** Work in the background: a row that says how far it is, whoever looks and whatever restarts. */
export const JOB_STATES = ["queued", "running", "done", "failed", "cancelled"] as const
export type JobState = (typeof JOB_STATES)[number]

export interface JobProgress {
  /** What it does now, in a word. */
  phase: string
  done: number
  /** Where it is known. */
  total?: number
}

export interface Job {
  id: number
  /** `<id>.<verb-noun>` */
  kind: string
  /** Of a kind and key one runs at a time. */
  key: string
  /** The moment a schedule was due; each is made once. */
  slot: string | null
  organization_id: number | null
  site_id: number | null
  state: JobState
  /** What it has to do, and from where it goes on. */
  payload: unknown
  progress: JobProgress | null
  /** How often it was begun. */
  attempts: number
  /** Not before this moment. */
  run_at: number
  created_by: number | null
  created_at: number
  started_at: number | null
  finished_at: number | null
  error_code: string | null
  error_message: string | null
}

/** Progress as answers have it (areas/00 section 12): the share and the seconds left, where the end is known. */
export interface ShownProgress extends JobProgress {
  fraction?: number
  eta_s?: number
}

export function shownProgress({ progress, state, started_at }: Job, now: number): ShownProgress | null {
  if (!progress) return null
  const { done, total } = progress
  if (total === undefined || total <= 0) return progress
  const fraction = Math.min(1, done / total)
  if (state !== "running" || started_at === null || fraction === 0) return { ...progress, fraction }
  return { ...progress, fraction, eta_s: Math.max(0, Math.round(((now - started_at) * (1 - fraction)) / fraction / 1_000)) }
}

export const isOver = ({ state }: Job): boolean => state === "done" || state === "failed" || state === "cancelled"
