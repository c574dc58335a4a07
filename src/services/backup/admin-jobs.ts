import { rmSync } from "node:fs"
import { join } from "node:path"
import type { Actor } from "../../domain/audit.ts"
import type { Clock } from "../../domain/clock.ts"
import { AppError } from "../../domain/error.ts"
import type { Job } from "../../domain/job.ts"
import { type Audit, backupEntry } from "../audit/audit.ts"
import type { Alongside } from "../definitions/site-things.ts"
import type { BeginJob, Jobs, JobWork } from "../jobs/jobs.ts"
import type { Alarms } from "../mail/alarms.ts"
import type { Report } from "../runtime/control.ts"
import type { PluginFacts } from "../runtime/plugins.ts"
import type { Random } from "../secrets/secrets.ts"
import type { ConsoleSettings } from "../settings/admin-settings.ts"
import { toRefusal } from "./archives.ts"
import type { Backups } from "./backup.ts"
import { backupFolder, listBackups, listDamagedBackups, type Manifest } from "./folder.ts"
import type { BackupList } from "./list.ts"
import { type OnlineRestore, stageBackup } from "./restore.ts"

/** Jobs that create, verify and restore backups. Their start and their result are entries of the audit log. */
export interface BackupJobs {
  /** Starts a backup. Throws `backup_running`. */
  make(actor: Actor, wanted: WantedBackup, alongside: Alongside<Job> | undefined): Promise<Job>
  verify(actor: Actor, manifest: Manifest, full: boolean, alongside: Alongside<Job> | undefined): Promise<Job>
  restore(actor: Actor, manifest: Manifest, passphrase: string | undefined, alongside: Alongside<Job> | undefined): Promise<Job>
  /** Throws `restore_running` if a restore has started. */
  refuseSecondRestore(): Promise<void>
  define(): void
}

interface WantedBackup {
  label: string | undefined
  withConfig: boolean
  passphrase: string | undefined
}

export interface BackupJobsOptions {
  dataDir: string
  version: string
  backupWorkerUrl: string
  clock: Pick<Clock, "now">
  random: Random
  audit: Pick<Audit, "writeAlone">
  beginJob: BeginJob
  backups: Backups
  jobs: Jobs
  settings: Pick<ConsoleSettings, "list">
  pluginFacts: readonly PluginFacts[]
  onlineRestore: OnlineRestore
  alarm: BackupAlarm
  fetchMissing: BackupList["fetchMissing"]
}

interface MakePayload {
  actor: Actor
  label?: string
  withConfig: boolean
  secret?: string
}
interface VerifyPayload {
  id: string
  full: boolean
  actor: Actor
}
interface RestorePayload {
  id: string
  secret?: string
  actor: Actor
}

const MAKE_JOB = "core.make-backup"
const VERIFY_JOB = "core.verify-backup"
const RESTORE_JOB = "core.restore-backup"

export function createBackupJobs(options: BackupJobsOptions): BackupJobs {
  const { dataDir, clock, audit, backups, jobs, beginJob, onlineRestore, alarm, fetchMissing } = options
  const passphrases = waitingPassphrases(options.random)

  async function isRunning(kind: string): Promise<boolean> {
    for (const state of ["queued", "running"] as const)
      if ((await jobs.list({ kind, state }, { before: Number.MAX_SAFE_INTEGER, limit: 1 })).length > 0) return true
    return false
  }

  async function performMake({ payload, progress }: JobWork<MakePayload>): Promise<void> {
    const { actor, label, withConfig, secret } = payload
    const passphrase = passphrases.take(secret)
    if (secret !== undefined && passphrase === undefined)
      throw new AppError("wrong_passphrase", "The passphrase was lost when the instance restarted. Create the backup again.")
    const backupOptions = {
      random: options.random,
      ...(label !== undefined && { label }),
      ...(passphrase !== undefined && { passphrase }),
      ...(withConfig && { config: { version: options.version, settings: options.settings.list().data } }),
    }
    const created = await backups.create("manual", reportTo(progress), backupOptions).catch(async (error) => {
      await audit.writeAlone(actor, { ...backupEntry("create-end", withoutId(label)), outcome: "failed" })
      throw toRefusal(error, dataDir)
    })
    await audit.writeAlone(actor, {
      ...backupEntry("create-end", created),
      changes: { files: [null, created.files.map(({ name }) => name)] },
    })
  }

  async function performVerify({ payload: { id, full, actor }, progress }: JobWork<VerifyPayload>): Promise<void> {
    const report = reportTo(progress)
    const manifest = await fetchMissing(id, report)
    const outcome = await backups.verify(id, { full }, report).then(
      () => "ok" as const,
      (error) => error,
    )
    await audit.writeAlone(actor, { ...backupEntry("verify-end", manifest), outcome: outcome === "ok" ? "ok" : "failed" })
    if (outcome === "ok") return alarm.endIfSound()
    const refusal = toRefusal(outcome, dataDir)
    if (refusal instanceof AppError) await alarm.raise(id, refusal.message)
    throw refusal
  }

  async function performRestore({ payload, progress, signal }: JobWork<RestorePayload>): Promise<void> {
    const { id, secret, actor } = payload
    const passphrase = passphrases.take(secret)
    const staged = join(dataDir, `.restore-${clock.now()}`)
    const report = reportTo(progress)
    const restoreOptions = { workerUrl: options.backupWorkerUrl, version: options.version, now: clock.now, plugins: options.pluginFacts }
    let manifest: Manifest | undefined
    try {
      manifest = await fetchMissing(id, report)
      await stageBackup(restoreOptions, { folder: backupFolder(dataDir, id), staged, manifest, passphrase }, report)
      if (signal.aborted || !onlineRestore.ask({ staged, manifest, actor })) throw restoreRunning()
    } catch (error) {
      rmSync(staged, { recursive: true, force: true })
      await audit.writeAlone(actor, { ...backupEntry("restore-end", manifest ?? { id }), outcome: "failed" })
      throw toRefusal(error, dataDir)
    }
  }

  return {
    async make(actor, { label, withConfig, passphrase }, alongside) {
      if (await isRunning(MAKE_JOB)) throw new AppError("backup_running", "A backup is being created.")
      const payload: MakePayload = { ...(label !== undefined && { label }), withConfig, ...passphrases.put(passphrase), actor }
      return beginJob(actor, { kind: MAKE_JOB, payload }, backupEntry("create", withoutId(label)), alongside)
    },
    async verify(actor, manifest, full, alongside) {
      const payload: VerifyPayload = { id: manifest.id, full, actor }
      return beginJob(actor, { kind: VERIFY_JOB, payload }, backupEntry("verify", manifest), alongside)
    },
    async restore(actor, manifest, passphrase, alongside) {
      const payload: RestorePayload = { id: manifest.id, ...passphrases.put(passphrase), actor }
      return beginJob(actor, { kind: RESTORE_JOB, payload }, backupEntry("restore", manifest), alongside)
    },
    async refuseSecondRestore() {
      if (onlineRestore.isAsked || (await isRunning(RESTORE_JOB))) throw restoreRunning()
    },
    define() {
      const kind = { interrupted: "fail", atOnce: 1, onDisk: true } as const
      jobs.define(MAKE_JOB, { ...kind, run: performMake })
      jobs.define(VERIFY_JOB, { ...kind, run: performVerify })
      jobs.define(RESTORE_JOB, { ...kind, run: performRestore })
    },
  }
}

const reportTo =
  (progress: JobWork<unknown>["progress"]): Report =>
  ({ what, done, total }) =>
    progress({ phase: what, done, total })

/** Describes a backup that has no id yet. */
const withoutId = (label: string | undefined) => ({ id: "", label })

const restoreRunning = () => new AppError("restore_running", "A restore is already running.")

/** Alarm about backups that failed their checks. */
export interface BackupAlarm {
  raise(backup: string, cause: string): Promise<void>
  /** Clears the alarm if all remaining backups are sound. */
  endIfSound(): Promise<void>
}

export const backupAlarm = ({ dataDir, alarms }: { dataDir: string; alarms: Pick<Alarms, "raise" | "end"> }): BackupAlarm => ({
  async raise(backup, cause) {
    await alarms.raise("backup_damaged", { backup, cause })
  },
  async endIfSound() {
    const isSound = listBackups(dataDir).every(({ failed_at }) => failed_at === null) && listDamagedBackups(dataDir).length === 0
    if (isSound) await alarms.end("backup_damaged")
  },
})

/** Passphrases of queued jobs under random names. Job payloads are stored in the catalog; passphrases stay in memory only. */
interface WaitingPassphrases {
  /** Stores a passphrase and returns the reference for the job's payload. */
  put(passphrase: string | undefined): { secret?: string }
  /** Returns a passphrase and forgets it. Returns undefined if the job has none or the process was restarted. */
  take(secret: string | undefined): string | undefined
}

export function waitingPassphrases(random: Random): WaitingPassphrases {
  const passphrases = new Map<string, string>()
  return {
    put(passphrase) {
      if (passphrase === undefined) return {}
      const secret = Buffer.from(random(16)).toString("hex")
      passphrases.set(secret, passphrase)
      return { secret }
    },
    take(secret) {
      const passphrase = secret === undefined ? undefined : passphrases.get(secret)
      if (secret !== undefined) passphrases.delete(secret)
      return passphrase
    },
  }
}
