import { statSync } from "node:fs"
import type { Clock } from "../../domain/clock.ts"
import { AppError } from "../../domain/error.ts"
import type { JobSlots } from "../jobs/schedules.ts"
import type { Alarms } from "../mail/alarms.ts"
import { placesIn } from "../runtime/data-folder.ts"
import { ExitFault } from "../runtime/exit.ts"
import type { Health } from "../runtime/health.ts"
import type { Task } from "../runtime/tasks.ts"
import type { Backups } from "./backup.ts"
import type { ClickhouseBackups } from "./clickhouse-backups.ts"
import type { RemoteBackups } from "./remote-backups.ts"
import type { BackupSchedule } from "./schedule.ts"

export interface BackupTasksOptions {
  dataDir: string
  clock: Pick<Clock, "now">
  health: Health
  slots: JobSlots
  schedule: Pick<BackupSchedule, "current" | "lastDue">
  backups: Backups
  /** Undefined when the events are in the data folder. */
  clickhouseBackups: ClickhouseBackups | undefined
  remoteBackups: RemoteBackups
  alarms: Pick<Alarms, "raise" | "end">
}

const MINUTE = 60
const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS

/** Returns the tasks for automatic backups: making them, copying them to the bucket, and an alarm if they do not happen. */
export const backupTasks = (options: BackupTasksOptions): Task[] => [
  { name: "back-up", every: MINUTE, run: () => backUp(options) },
  { name: "copy-backup", every: MINUTE, run: createCopyTask(options) },
  { name: "watch-backups", every: 10 * MINUTE, run: () => watchBackups(options) },
]

async function backUp(options: BackupTasksOptions): Promise<void> {
  const { schedule, clock, slots, backups, clickhouseBackups } = options
  const due = schedule.lastDue(clock.now())
  if (due === undefined || clickhouseBackups?.isOn === false) return
  const slot = { name: "back-up", due: new Date(due).toISOString() }
  await withAlarm(options, "making it", async () => {
    if (due < (await firstDue(options))) return false
    if (clickhouseBackups) return slots.once(slot, clickhouseBackups.create)
    return slots.once({ ...slot, onDisk: true }, async () => {
      await backups.create("daily")
      await backups.rotate(schedule.current().keep)
    })
  })
}

/**
 * Returns the earliest time from which missed backups are made up for. A new instance has missed none, so its first is due today
 * at the earliest.
 */
async function firstDue({ backups, clickhouseBackups, clock }: BackupTasksOptions): Promise<number> {
  const isNew = clickhouseBackups ? !(await clickhouseBackups.last()) : !(await backups.list()).some(({ kind }) => kind === "daily")
  return isNew ? Math.floor(clock.now() / DAY_MS) * DAY_MS : 0
}

/** Returns the times of all good backups. */
async function goodBackups({ backups, clickhouseBackups }: BackupTasksOptions): Promise<number[]> {
  const last = await clickhouseBackups?.last()
  if (clickhouseBackups) return last ? [Date.parse(last.created_at)] : []
  return (await backups.list()).filter(({ verified_at }) => verified_at !== null).map(({ created_at }) => Date.parse(created_at))
}

/** Copies the newest automatic backup once. A failing bucket is tried again after an hour. */
function createCopyTask(options: BackupTasksOptions): () => Promise<void> {
  const { backups, remoteBackups, schedule, clock } = options
  let copied: string | undefined
  let pausedUntil = 0
  return async () => {
    if (!remoteBackups.isOn() || clock.now() < pausedUntil) return
    const newest = (await backups.list()).filter(({ kind, verified_at }) => kind === "daily" && verified_at !== null).at(-1)
    if (!newest || newest.id === copied) return
    pausedUntil = clock.now() + HOUR_MS
    await withAlarm(options, "copying it to the bucket", async () => {
      if (!(await remoteBackups.find(newest.id))) await remoteBackups.copy(newest.id)
      await remoteBackups.rotate(schedule.current().keep)
      return true
    })
    copied = newest.id
    pausedUntil = 0
  }
}

/** Runs work. A failure raises an alarm and is rethrown; success clears the alarm. `work` returns whether anything was done. */
async function withAlarm({ alarms, clock }: BackupTasksOptions, step: string, work: () => Promise<boolean>): Promise<void> {
  try {
    if (await work()) await alarms.end("backup_failed")
  } catch (error) {
    await alarms.raise("backup_failed", { step, cause: causeOf(error), at: new Date(clock.now()).toISOString() })
    throw error
  }
}

/** Returns the cause shown to admins. Other details are only in the log. */
const causeOf = (error: unknown): string =>
  error instanceof AppError || error instanceof ExitFault ? error.message : "An internal error occurred. See the log of the instance."

/** Warns if there is no good backup for two days. A new instance has two days to make its first. */
async function watchBackups(options: BackupTasksOptions): Promise<void> {
  const { clickhouseBackups, clock, health, dataDir, schedule, alarms } = options
  const good = await goodBackups(options)
  const installedAt = statSync(placesIn(dataDir).lock).birthtimeMs
  const newest = good.length === 0 ? null : new Date(Math.max(...good)).toISOString()
  const isOn = schedule.current().cron !== null && clickhouseBackups?.isOn !== false
  const isStale = isOn && clock.now() - Math.max(installedAt, ...good) > 2 * DAY_MS
  if (isStale) {
    health.enter("backup_stale")
    await alarms.raise("backup_stale", { last_good: newest })
  } else {
    health.leave("backup_stale")
    await alarms.end("backup_stale")
  }
}
