import { Type as t } from "@sinclair/typebox"
import type { Actor } from "../../domain/audit.ts"
import { AppError, refuseFaults } from "../../domain/error.ts"
import type { Job } from "../../domain/job.ts"
import { fault, inspect } from "../../domain/shape.ts"
import { parsed } from "../../domain/sign-in.ts"
import { backupEntry } from "../audit/audit.ts"
import type { Alongside } from "../definitions/site-things.ts"
import type { Alarms } from "../mail/alarms.ts"
import { diskSpace } from "../runtime/files.ts"
import { type BackupJobs, type BackupJobsOptions, backupAlarm, createBackupJobs } from "./admin-jobs.ts"
import { type BackupArchives, type BackupArchivesOptions, createBackupArchives, refuseNewer } from "./archives.ts"
import { type Manifest, storedFiles } from "./folder.ts"
import { type BackupList, createBackupList } from "./list.ts"
import type { RemoteBackups } from "./remote-backups.ts"
import { keyFor } from "./sealing.ts"

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
  {
    confirm: t.String({ description: "The backup's id again, as confirmation" }),
    passphrase: t.Optional(t.String({ minLength: 1, maxLength: 1_024 })),
  },
  { additionalProperties: false, title: "RestoreInput" },
)

/** Backups of both stores in the admin console: create, verify, download, upload and restore. */
export interface ConsoleBackups extends Pick<BackupList, "list" | "find" | "get">, BackupArchives, Pick<BackupJobs, "define"> {
  /** Starts a backup. Throws `validation_failed`, `backup_running`, `not_enough_space`. */
  create(actor: Actor, body: unknown, alongside?: Alongside<Job>): Promise<Job>
  /** Starts a verification. `full` checks every index and checksum, too. Throws `backup_not_found`. */
  verify(actor: Actor, id: string | undefined, body: unknown, alongside?: Alongside<Job>): Promise<Job>
  remove(actor: Actor, id: string | undefined): Promise<void>
  /**
   * Starts a restore. Its job prepares all files; then the instance stops, backs up its current stores, exchanges the files and
   * restarts. Throws `restore_running`, `wrong_passphrase`, `backup_too_new`, `not_enough_space`, `validation_failed`.
   */
  restore(actor: Actor, id: string | undefined, body: unknown, alongside?: Alongside<Job>): Promise<Job>
}

export interface ConsoleBackupsOptions extends Omit<BackupJobsOptions, "alarm" | "fetchMissing">, Omit<BackupArchivesOptions, "get"> {
  remoteBackups: RemoteBackups
  alarms: Pick<Alarms, "raise" | "end">
}

export function createConsoleBackups(options: ConsoleBackupsOptions): ConsoleBackups {
  const { dataDir, audit, backups, remoteBackups } = options
  const { list, find, get, fetchMissing } = createBackupList(options)
  const alarm = backupAlarm(options)
  const jobs = createBackupJobs({ ...options, alarm, fetchMissing })

  return {
    list,
    find,
    get,
    ...createBackupArchives({ ...options, get }),
    define: jobs.define,
    async create(actor, body, alongside) {
      const { label, include = ["db", "config"], encrypt } = parsed(BackupInput, body)
      if (!include.includes("db"))
        refuseFaults([fault("/include", "invalid_choice", "must include db: a backup of settings alone is not possible")])
      return jobs.make(actor, { label, withConfig: include.includes("config"), passphrase: encrypt?.passphrase }, alongside)
    },
    async verify(actor, id, body, alongside) {
      const { full = false } = parsed(VerifyInput, body)
      return jobs.verify(actor, await get(id), full, alongside)
    },
    async remove(actor, id) {
      const found = await find(id)
      await audit.writeAlone(actor, backupEntry("delete", found))
      // The bucket may hold an intact copy of a backup that is damaged locally. That copy remains and is listed from now on.
      const isCopied = !("damage" in found)
      // The bucket comes first because it can fail. The deletion can then be repeated.
      if (isCopied && remoteBackups.isOn()) await remoteBackups.remove(found.id)
      if (!isCopied || found.target === "local") await backups.remove(found.id)
      await alarm.endIfSound()
    },
    async restore(actor, id, body, alongside) {
      const manifest = await get(id)
      const passphrase = passphraseIn(body, manifest)
      await jobs.refuseSecondRestore()
      refuseNewer(manifest, options.pluginFacts, options.version)
      if (manifest.sealed) await keyFor(passphrase, manifest.sealed)
      refuseFullDisk(dataDir, manifest)
      return jobs.restore(actor, manifest, passphrase, alongside)
    },
  }
}

/** Reads the passphrase. Throws `validation_failed` unless the body repeats the id. */
function passphraseIn(body: unknown, { id }: Manifest): string | undefined {
  const { fields, faults } = inspect(RestoreInput, body)
  const isOther = fields.confirm !== undefined && fields.confirm !== id
  refuseFaults([...faults, ...(isOther ? [fault("/confirm", "invalid_choice", "must be the id of the backup")] : [])])
  return fields.passphrase
}

function refuseFullDisk(dataDir: string, manifest: Manifest): void {
  const needed_bytes = 2 * storedFiles(manifest).reduce((sum, { bytes }) => sum + bytes, 0)
  const { freeBytes: free_bytes } = diskSpace(dataDir)
  if (free_bytes < needed_bytes)
    throw new AppError("not_enough_space", "A restore needs free disk space of twice the backup's size.", { needed_bytes, free_bytes })
}
