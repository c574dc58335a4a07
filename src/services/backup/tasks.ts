import { statSync } from "node:fs"
import type { Clock } from "../domain/clock.ts"
import { AppError } from "../domain/error.ts"
import type { Alarms } from "./alarms.ts"
import type { Backups } from "./backup.ts"
import type { BackupSchedule } from "./backup-schedule.ts"
import { placesIn } from "./data-folder.ts"
import { ExitFault } from "./exit.ts"
import type { Health } from "./health.ts"
import type { JobSlots } from "./job-slots.ts"
import type { RemoteBackups } from "./remote-backups.ts"
import type { Task } from "./timers.ts"

export interface BackupTasksOptions {
  dataDir: string
  clock: Pick<Clock, "now">
  health: Health
  slots: JobSlots
  schedule: Pick<BackupSchedule, "current" | "lastDue">
  backups: Backups
  remoteBackups: RemoteBackups
  alarms: Pick<Alarms, "raise" | "end">
}

const MINUTE = 60
const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS

/** Backups that are made by themselves: made, copied to the bucket, and missed when they do not come. */
export const backupTasks = (options: BackupTasksOptions): Task[] => [
  { name: "back-up", every: MINUTE, run: () => backUp(options) },
  { name: "copy-backup", every: MINUTE, run: copying(options) },
  { name: "watch-backups", every: 10 * MINUTE, run: () => watchBackups(options) },
]

async function backUp(options: BackupTasksOptions): Promise<void> {
  const { schedule, clock, slots, backups } = options
  const due = schedule.lastDue(clock.now())
  if (due === undefined) return
  await alarmed(options, "making it", async () => {
    if (due < (await firstDue(backups, clock.now()))) return false
    return slots.once({ name: "back-up", due: new Date(due).toISOString() }, async () => {
      await backups.create("daily")
      await backups.rotate(schedule.current().keep)
    })
  })
}

/** What was missed is made up for, but a new instance has missed nothing: its first is due today at the earliest. */
async function firstDue(backups: Backups, now: number): Promise<number> {
  const isNew = !(await backups.list()).some(({ kind }) => kind === "daily")
  return isNew ? Math.floor(now / DAY_MS) * DAY_MS : 0
}

/** Copies the newest one that was made by itself, once; a bucket that refuses is asked again an hour later. */
function copying(options: BackupTasksOptions): () => Promise<void> {
  const { backups, remoteBackups, schedule, clock } = options
  let copied: string | undefined
  let pausedUntil = 0
  return async () => {
    if (!remoteBackups.isOn() || clock.now() < pausedUntil) return
    const newest = (await backups.list()).filter(({ kind, verified_at }) => kind === "daily" && verified_at !== null).at(-1)
    if (!newest || newest.id === copied) return
    pausedUntil = clock.now() + HOUR_MS
    await alarmed(options, "copying it to the bucket", async () => {
      if (!(await remoteBackups.find(newest.id))) await remoteBackups.copy(newest.id)
      await remoteBackups.rotate(schedule.current().keep)
      return true
    })
    copied = newest.id
    pausedUntil = 0
  }
}

/** A failure is told, and thrown on; what is done then ends the alarm. `work` says whether anything was. */
async function alarmed({ alarms, clock }: BackupTasksOptions, step: string, work: () => Promise<boolean>): Promise<void> {
  try {
    if (await work()) await alarms.end("backup_failed")
  } catch (error) {
    await alarms.raise("backup_failed", { step, cause: causeOf(error), at: new Date(clock.now()).toISOString() })
    throw error
  }
}

/** What people may read of it; the rest is in the log. */
const causeOf = (error: unknown): string =>
  error instanceof AppError || error instanceof ExitFault ? error.message : "The cause is in the server's log."

/** A warning after two days without a good backup; a young instance has two days to make its first. */
async function watchBackups({ backups, clock, health, dataDir, schedule, alarms }: BackupTasksOptions): Promise<void> {
  const good = (await backups.list()).filter(({ verified_at }) => verified_at !== null).map(({ created_at }) => Date.parse(created_at))
  const born = statSync(placesIn(dataDir).lock).birthtimeMs
  const newest = good.length === 0 ? null : new Date(Math.max(...good)).toISOString()
  const isStale = schedule.current().cron !== null && clock.now() - Math.max(born, ...good) > 2 * DAY_MS
  if (isStale) {
    health.enter("backup_stale")
    await alarms.raise("backup_stale", { last_good: newest })
  } else {
    health.leave("backup_stale")
    await alarms.end("backup_stale")
  }
}
