import { existsSync, rmSync, statSync } from "node:fs"
import { join } from "node:path"
import { Type as t } from "@sinclair/typebox"
import type { Actor } from "../../domain/audit.ts"
import type { Clock } from "../../domain/clock.ts"
import { AppError, refuseFaults } from "../../domain/error.ts"
import type { Job } from "../../domain/job.ts"
import { fault, inspect } from "../../domain/shape.ts"
import { parsed } from "../../domain/sign-in-input.ts"
import type { Audit } from "../audit.ts"
import { type Backups, checkBackup } from "../backup.ts"
import {
  backupFolder,
  beginFolder,
  freeId,
  listBackups,
  type Manifest,
  publishFolder,
  readManifest,
  storedFiles,
  writeManifest,
} from "../backup-folder.ts"
import { keyFor } from "../backup-sealing.ts"
import { diskSpace } from "../disk.ts"
import type { JobWork } from "../job-kinds.ts"
import type { Jobs } from "../jobs.ts"
import type { OnlineRestore } from "../online-restore.ts"
import type { PluginFacts } from "../plugins.ts"
import { stageBackup } from "../restore.ts"
import type { Random } from "../secrets.ts"
import { type TarFile, tarBytes, tarOf } from "../tar.ts"
import { BACKUP_FILES, refuseNewer, refuseOddNames, toRefusal, unpack } from "./backup-refusals.ts"
import type { ConsoleSettings } from "./settings.ts"

const Passphrase = t.String({ minLength: 12, maxLength: 1_024 })

const BackupInput = t.Object(
  {
    label: t.Optional(t.String({ minLength: 1, maxLength: 200 })),
    include: t.Optional(t.Array(t.Union([t.Literal("db"), t.Literal("config")]), { minItems: 1, maxItems: 2, uniqueItems: true })),
    encrypt: t.Optional(t.Object({ passphrase: Passphrase }, { additionalProperties: false })),
  },
  { additionalProperties: false, title: "BackupInput" },
)

const VerifyInput = t.Object({ full: t.Optional(t.Boolean()) }, { additionalProperties: false, title: "VerifyInput" })

const RestoreInput = t.Object(
  { confirm: t.String({ description: "The id once more" }), passphrase: t.Optional(t.String({ minLength: 1, maxLength: 1_024 })) },
  { additionalProperties: false, title: "RestoreInput" },
)

/** Backups of both stores: made, checked, taken along, brought back. */
export interface ConsoleBackups {
  /** The youngest first. */
  list(): Promise<Manifest[]>
  /** Throws `backup_not_found`. */
  get(id: string | undefined): Manifest
  /** What of it lies in its folder: stores, and settings for people to read. */
  includes(manifest: Manifest): string[]
  /** Throws `validation_failed`, `backup_running`, `not_enough_space`. */
  create(actor: Actor, body: unknown): Promise<Job>
  /** `full`: every index and checksum too. Throws `backup_not_found`. */
  verify(actor: Actor, id: string | undefined, body: unknown): Promise<Job>
  /** The whole of it as one tar archive; that somebody takes it along is in the log first. */
  download(actor: Actor, id: string | undefined): Promise<{ name: string; bytes: number; stream: AsyncGenerator<Uint8Array> }>
  /** Takes such an archive, checks it, and lists it. Throws `backup_corrupt`, `backup_foreign`, `backup_too_new`. */
  upload(actor: Actor, archive: AsyncIterable<Uint8Array>): Promise<Manifest>
  remove(actor: Actor, id: string | undefined): Promise<void>
  /**
   * A job that makes everything ready; then the instance stops, puts what was there into a backup, exchanges the stores and begins
   * anew. Throws `restore_running`, `wrong_passphrase`, `backup_too_new`, `not_enough_space`, `validation_failed`.
   */
  restore(actor: Actor, id: string | undefined, body: unknown): Promise<Job>
  define(): void
}

export interface ConsoleBackupsOptions {
  dataDir: string
  version: string
  backupWorkerUrl: string
  clock: Pick<Clock, "now">
  random: Random
  audit: Pick<Audit, "writeAlone">
  backups: Backups
  jobs: Jobs
  settings: Pick<ConsoleSettings, "list">
  pluginFacts: readonly PluginFacts[]
  onlineRestore: OnlineRestore
}

const MAKE_JOB = "core.make-backup"
const VERIFY_JOB = "core.verify-backup"
const RESTORE_JOB = "core.restore-backup"
const ID = /^[0-9A-Za-z][0-9A-Za-z._-]{0,79}$/

export function createConsoleBackups(options: ConsoleBackupsOptions): ConsoleBackups {
  const { dataDir, clock, audit, backups, jobs, onlineRestore } = options
  /** Of jobs that wait: a passphrase is written down nowhere. */
  const passphrases = new Map<string, string>()
  const folderOf = (id: string) => backupFolder(dataDir, id)

  function get(id: string | undefined): Manifest {
    const found = ID.test(id ?? "") ? listBackups(dataDir).find((manifest) => manifest.id === id) : undefined
    if (!found) throw new AppError("backup_not_found", "No backup has this id")
    return found
  }
  const about = (manifest: Pick<Manifest, "id" | "label">) => ({
    target: { type: "backup", id: manifest.id, label: manifest.label ?? manifest.id },
  })
  async function isRunning(kind: string): Promise<boolean> {
    for (const state of ["queued", "running"] as const)
      if ((await jobs.list({ kind, state }, { before: Number.MAX_SAFE_INTEGER, limit: 1 })).length > 0) return true
    return false
  }
  function keepPassphrase(passphrase: string | undefined): { secret?: string } {
    if (passphrase === undefined) return {}
    const secret = Buffer.from(options.random(16)).toString("hex")
    passphrases.set(secret, passphrase)
    return { secret }
  }
  function takePassphrase(secret: string | undefined): string | undefined {
    const passphrase = secret === undefined ? undefined : passphrases.get(secret)
    if (secret !== undefined) passphrases.delete(secret)
    return passphrase
  }
  async function enqueue(kind: string, actor: Actor, payload: object): Promise<Job> {
    const created = actor.kind === "user" && actor.id !== undefined ? { createdBy: actor.id } : {}
    return (await jobs.enqueue({ kind, payload: { ...payload, actor }, ...created }))! // it has no slot that could be taken
  }

  const includes = (manifest: Manifest): string[] => [
    ...(manifest.catalog === "remote" ? [] : ["catalog"]),
    "events",
    ...(existsSync(join(folderOf(manifest.id), "config.json")) ? ["config"] : []),
  ]

  async function performMake({ payload, progress }: JobWork<MakePayload>): Promise<void> {
    const { actor, label, withConfig, secret } = payload
    const passphrase = takePassphrase(secret)
    if (secret !== undefined && passphrase === undefined)
      throw new AppError("wrong_passphrase", "The passphrase was lost with a restart: make it again.")
    const report = ({ what, done, total }: { what: string; done: number; total: number }) => progress({ phase: what, done, total })
    const terms = {
      random: options.random,
      ...(label !== undefined && { label }),
      ...(passphrase !== undefined && { passphrase }),
      ...(withConfig && { config: { version: options.version, settings: options.settings.list() } }),
    }
    const made = await backups.create("manual", report, terms).catch((error) => {
      throw toRefusal(error, dataDir)
    })
    await audit.writeAlone(actor, {
      action: "admin.backup.create",
      ...about(made),
      changes: { files: [null, made.files.map(({ name }) => name)] },
    })
  }

  async function performVerify({
    payload: { id, full, actor },
    progress,
  }: JobWork<{ id: string; full: boolean; actor: Actor }>): Promise<void> {
    const manifest = get(id)
    const report = ({ what, done, total }: { what: string; done: number; total: number }) => progress({ phase: what, done, total })
    const outcome = await backups.verify(id, { full }, report).then(
      () => "ok" as const,
      (error) => error,
    )
    await audit.writeAlone(actor, { action: "admin.backup.verify", ...about(manifest), outcome: outcome === "ok" ? "ok" : "failed" })
    if (outcome !== "ok") throw toRefusal(outcome, dataDir)
  }

  async function performRestore({ payload, progress, signal }: JobWork<{ id: string; secret?: string; actor: Actor }>): Promise<void> {
    const { id, secret, actor } = payload
    const passphrase = takePassphrase(secret)
    const manifest = get(id)
    const staged = join(dataDir, `.restore-${clock.now()}`)
    const report = ({ what, done, total }: { what: string; done: number; total: number }) => progress({ phase: what, done, total })
    const terms = { workerUrl: options.backupWorkerUrl, version: options.version, now: clock.now, plugins: options.pluginFacts }
    try {
      await stageBackup(terms, { folder: folderOf(id), staged, manifest, passphrase }, report)
      await audit.writeAlone(actor, { action: "admin.backup.restore-begin", ...about(manifest) })
      if (signal.aborted || !onlineRestore.ask({ staged, manifest, actor })) throw restoreRunning()
    } catch (error) {
      rmSync(staged, { recursive: true, force: true })
      throw toRefusal(error, dataDir)
    }
  }

  return {
    list: async () => listBackups(dataDir).reverse(),
    get,
    includes,
    async create(actor, body) {
      const { label, include = ["db", "config"], encrypt } = parsed(BackupInput, body)
      if (!include.includes("db")) refuseFaults([fault("/include", "invalid_choice", "must name db: settings alone are no backup")])
      if (await isRunning(MAKE_JOB)) throw new AppError("backup_running", "A backup is being made.")
      const payload = {
        ...(label !== undefined && { label }),
        withConfig: include.includes("config"),
        ...keepPassphrase(encrypt?.passphrase),
      }
      return enqueue(MAKE_JOB, actor, payload)
    },
    async verify(actor, id, body) {
      const { full = false } = parsed(VerifyInput, body)
      return enqueue(VERIFY_JOB, actor, { id: get(id).id, full })
    },
    async download(actor, id) {
      const manifest = get(id)
      const folder = folderOf(manifest.id)
      const files: TarFile[] = BACKUP_FILES.map((name) => ({ name, path: join(folder, name) }))
        .filter(({ path }) => existsSync(path))
        .map((file) => ({ ...file, bytes: statSync(file.path).size }))
      await audit.writeAlone(actor, { action: "admin.backup.download", ...about(manifest) })
      return { name: `footfall-${manifest.id}.tar`, bytes: tarBytes(files), stream: tarOf(files, clock.now()) }
    },
    async upload(actor, archive) {
      const id = freeId(dataDir, clock.now(), "manual")
      const folder = beginFolder(dataDir, id)
      try {
        await unpack(archive, folder, dataDir)
        const sent = readManifest(folder)
        refuseNewer(sent, options.pluginFacts, options.version)
        refuseOddNames(sent)
        const manifest: Manifest = {
          ...sent,
          id,
          kind: "manual",
          label: sent.label ?? `Uploaded: ${sent.id}`.slice(0, 200),
          verified_at: null,
          failed_at: null,
        }
        await checkBackup(folder, manifest, { full: false, workerUrl: options.backupWorkerUrl })
        writeManifest(folder, manifest)
        publishFolder(dataDir, folder, id)
        await audit.writeAlone(actor, { action: "admin.backup.upload", ...about(manifest) })
        return manifest
      } catch (error) {
        rmSync(folder, { recursive: true, force: true })
        throw toRefusal(error, dataDir)
      }
    },
    async remove(actor, id) {
      const manifest = get(id)
      await audit.writeAlone(actor, { action: "admin.backup.delete", ...about(manifest) })
      await backups.remove(manifest.id)
    },
    async restore(actor, id, body) {
      const manifest = get(id)
      const { fields, faults } = inspect(RestoreInput, body)
      const isOther = fields.confirm !== undefined && fields.confirm !== manifest.id
      refuseFaults([...faults, ...(isOther ? [fault("/confirm", "invalid_choice", "must be the id of the backup")] : [])])
      if (onlineRestore.isAsked || (await isRunning(RESTORE_JOB))) throw restoreRunning()
      refuseNewer(manifest, options.pluginFacts, options.version)
      if (manifest.sealed) await keyFor(fields.passphrase, manifest.sealed)
      const needed_bytes = 2 * storedFiles(manifest).reduce((sum, { bytes }) => sum + bytes, 0)
      const { freeBytes: free_bytes } = diskSpace(dataDir)
      if (free_bytes < needed_bytes) throw new AppError("not_enough_space", "A restore needs twice its size.", { needed_bytes, free_bytes })
      return enqueue(RESTORE_JOB, actor, { id: manifest.id, ...keepPassphrase(fields.passphrase) })
    },
    define() {
      jobs.define(MAKE_JOB, { interrupted: "fail", atOnce: 1, run: performMake })
      jobs.define(VERIFY_JOB, { interrupted: "fail", atOnce: 1, run: performVerify })
      jobs.define(RESTORE_JOB, { interrupted: "fail", atOnce: 1, run: performRestore })
    },
  }
}

interface MakePayload {
  actor: Actor
  label?: string
  withConfig: boolean
  secret?: string
}

const restoreRunning = () => new AppError("restore_running", "A backup is being restored.")
