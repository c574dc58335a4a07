import { rmSync } from "node:fs"
import { join } from "node:path"
import type { Actor } from "../../domain/audit.ts"
import type { Clock } from "../../domain/clock.ts"
import { AppError } from "../../domain/error.ts"
import type { Job } from "../../domain/job.ts"
import type { Audit } from "../audit.ts"
import type { Backups } from "../backup.ts"
import { backupFolder, type Manifest } from "../backup-folder.ts"
import type { Report } from "../control.ts"
import { backupDeed } from "../deeds.ts"
import type { JobWork } from "../job-kinds.ts"
import type { Jobs } from "../jobs.ts"
import type { OnlineRestore } from "../online-restore.ts"
import type { PluginFacts } from "../plugins.ts"
import { stageBackup } from "../restore.ts"
import type { Random } from "../secrets.ts"
import type { Alongside } from "../site-things.ts"
import type { BackupAlarm } from "./backup-alarm.ts"
import type { BackupList } from "./backup-list.ts"
import { toRefusal } from "./backup-refusals.ts"
import type { BeginJob } from "./begin-job.ts"
import type { ConsoleSettings } from "./settings.ts"
import { waitingPassphrases } from "./waiting-passphrases.ts"

/** What takes a while with backups, as jobs; that one was asked for and how it ended are rows of the log. */
export interface BackupJobs {
  /** Throws `backup_running`. */
  make(actor: Actor, wanted: WantedBackup, kept: Alongside<Job> | undefined): Promise<Job>
  verify(actor: Actor, manifest: Manifest, full: boolean, kept: Alongside<Job> | undefined): Promise<Job>
  restore(actor: Actor, manifest: Manifest, passphrase: string | undefined, kept: Alongside<Job> | undefined): Promise<Job>
  /** Throws `restore_running`. */
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
  bring: BackupList["bring"]
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
  const { dataDir, clock, audit, backups, jobs, beginJob, onlineRestore, alarm, bring } = options
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
      throw new AppError("wrong_passphrase", "The passphrase was lost with a restart: make it again.")
    const terms = {
      random: options.random,
      ...(label !== undefined && { label }),
      ...(passphrase !== undefined && { passphrase }),
      ...(withConfig && { config: { version: options.version, settings: options.settings.list().data } }),
    }
    const made = await backups.create("manual", reportTo(progress), terms).catch(async (error) => {
      await audit.writeAlone(actor, { ...backupDeed("create-end", unmade(label)), outcome: "failed" })
      throw toRefusal(error, dataDir)
    })
    await audit.writeAlone(actor, { ...backupDeed("create-end", made), changes: { files: [null, made.files.map(({ name }) => name)] } })
  }

  async function performVerify({ payload: { id, full, actor }, progress }: JobWork<VerifyPayload>): Promise<void> {
    const report = reportTo(progress)
    const manifest = await bring(id, report)
    const outcome = await backups.verify(id, { full }, report).then(
      () => "ok" as const,
      (error) => error,
    )
    await audit.writeAlone(actor, { ...backupDeed("verify-end", manifest), outcome: outcome === "ok" ? "ok" : "failed" })
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
    const terms = { workerUrl: options.backupWorkerUrl, version: options.version, now: clock.now, plugins: options.pluginFacts }
    let manifest: Manifest | undefined
    try {
      manifest = await bring(id, report)
      await stageBackup(terms, { folder: backupFolder(dataDir, id), staged, manifest, passphrase }, report)
      if (signal.aborted || !onlineRestore.ask({ staged, manifest, actor })) throw restoreRunning()
    } catch (error) {
      rmSync(staged, { recursive: true, force: true })
      await audit.writeAlone(actor, { ...backupDeed("restore-end", manifest ?? { id }), outcome: "failed" })
      throw toRefusal(error, dataDir)
    }
  }

  return {
    async make(actor, { label, withConfig, passphrase }, kept) {
      if (await isRunning(MAKE_JOB)) throw new AppError("backup_running", "A backup is being made.")
      const payload: MakePayload = { ...(label !== undefined && { label }), withConfig, ...passphrases.keep(passphrase), actor }
      return beginJob(actor, { kind: MAKE_JOB, payload }, backupDeed("create", unmade(label)), kept)
    },
    async verify(actor, manifest, full, kept) {
      const payload: VerifyPayload = { id: manifest.id, full, actor }
      return beginJob(actor, { kind: VERIFY_JOB, payload }, backupDeed("verify", manifest), kept)
    },
    async restore(actor, manifest, passphrase, kept) {
      const payload: RestorePayload = { id: manifest.id, ...passphrases.keep(passphrase), actor }
      return beginJob(actor, { kind: RESTORE_JOB, payload }, backupDeed("restore", manifest), kept)
    },
    async refuseSecondRestore() {
      if (onlineRestore.isAsked || (await isRunning(RESTORE_JOB))) throw restoreRunning()
    },
    define() {
      jobs.define(MAKE_JOB, { interrupted: "fail", atOnce: 1, run: performMake })
      jobs.define(VERIFY_JOB, { interrupted: "fail", atOnce: 1, run: performVerify })
      jobs.define(RESTORE_JOB, { interrupted: "fail", atOnce: 1, run: performRestore })
    },
  }
}

const reportTo =
  (progress: JobWork<unknown>["progress"]): Report =>
  ({ what, done, total }) =>
    progress({ phase: what, done, total })

/** It has an id when it is made. */
const unmade = (label: string | undefined) => ({ id: "", label })

const restoreRunning = () => new AppError("restore_running", "A backup is being restored.")
