import { Type as t } from "@sinclair/typebox"
import type { Actor } from "../../domain/audit.ts"
import { AppError, refuseFaults } from "../../domain/error.ts"
import type { Job } from "../../domain/job.ts"
import { fault, inspect } from "../../domain/shape.ts"
import { parsed } from "../../domain/sign-in-input.ts"
import type { Alarms } from "../alarms.ts"
import { type Manifest, storedFiles } from "../backup-folder.ts"
import { keyFor } from "../backup-sealing.ts"
import { backupDeed } from "../deeds.ts"
import { diskSpace } from "../disk.ts"
import type { RemoteBackups } from "../remote-backups.ts"
import type { Alongside } from "../site-things.ts"
import { backupAlarm } from "./backup-alarm.ts"
import { type BackupArchives, type BackupArchivesOptions, createBackupArchives } from "./backup-archives.ts"
import { type BackupJobs, type BackupJobsOptions, createBackupJobs } from "./backup-jobs.ts"
import { type BackupList, createBackupList } from "./backup-list.ts"
import { refuseNewer } from "./backup-refusals.ts"

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
export interface ConsoleBackups extends Pick<BackupList, "list" | "get">, BackupArchives, Pick<BackupJobs, "define"> {
  /** Throws `validation_failed`, `backup_running`, `not_enough_space`. */
  create(actor: Actor, body: unknown, kept?: Alongside<Job>): Promise<Job>
  /** `full`: every index and checksum too. Throws `backup_not_found`. */
  verify(actor: Actor, id: string | undefined, body: unknown, kept?: Alongside<Job>): Promise<Job>
  remove(actor: Actor, id: string | undefined): Promise<void>
  /**
   * A job that makes everything ready; then the instance stops, puts what was there into a backup, exchanges the stores and begins
   * anew. Throws `restore_running`, `wrong_passphrase`, `backup_too_new`, `not_enough_space`, `validation_failed`.
   */
  restore(actor: Actor, id: string | undefined, body: unknown, kept?: Alongside<Job>): Promise<Job>
}

export interface ConsoleBackupsOptions extends Omit<BackupJobsOptions, "alarm" | "bring">, Omit<BackupArchivesOptions, "get"> {
  remoteBackups: RemoteBackups
  alarms: Pick<Alarms, "raise" | "end">
}

export function createConsoleBackups(options: ConsoleBackupsOptions): ConsoleBackups {
  const { dataDir, audit, backups, remoteBackups } = options
  const { list, get, bring } = createBackupList(options)
  const alarm = backupAlarm(options)
  const jobs = createBackupJobs({ ...options, alarm, bring })

  return {
    list,
    get,
    ...createBackupArchives({ ...options, get }),
    define: jobs.define,
    async create(actor, body, kept) {
      const { label, include = ["db", "config"], encrypt } = parsed(BackupInput, body)
      if (!include.includes("db")) refuseFaults([fault("/include", "invalid_choice", "must name db: settings alone are no backup")])
      return jobs.make(actor, { label, withConfig: include.includes("config"), passphrase: encrypt?.passphrase }, kept)
    },
    async verify(actor, id, body, kept) {
      const { full = false } = parsed(VerifyInput, body)
      return jobs.verify(actor, await get(id), full, kept)
    },
    async remove(actor, id) {
      const manifest = await get(id)
      await audit.writeAlone(actor, backupDeed("delete", manifest))
      // First the one that can fail: what is left can be deleted again.
      if (remoteBackups.isOn()) await remoteBackups.remove(manifest.id)
      if (manifest.target === "local") await backups.remove(manifest.id)
      await alarm.endIfSound()
    },
    async restore(actor, id, body, kept) {
      const manifest = await get(id)
      const passphrase = passphraseIn(body, manifest)
      await jobs.refuseSecondRestore()
      refuseNewer(manifest, options.pluginFacts, options.version)
      if (manifest.sealed) await keyFor(passphrase, manifest.sealed)
      refuseFullDisk(dataDir, manifest)
      return jobs.restore(actor, manifest, passphrase, kept)
    },
  }
}

/** Throws `validation_failed` unless the body repeats the id. */
function passphraseIn(body: unknown, { id }: Manifest): string | undefined {
  const { fields, faults } = inspect(RestoreInput, body)
  const isOther = fields.confirm !== undefined && fields.confirm !== id
  refuseFaults([...faults, ...(isOther ? [fault("/confirm", "invalid_choice", "must be the id of the backup")] : [])])
  return fields.passphrase
}

function refuseFullDisk(dataDir: string, manifest: Manifest): void {
  const needed_bytes = 2 * storedFiles(manifest).reduce((sum, { bytes }) => sum + bytes, 0)
  const { freeBytes: free_bytes } = diskSpace(dataDir)
  if (free_bytes < needed_bytes) throw new AppError("not_enough_space", "A restore needs twice its size.", { needed_bytes, free_bytes })
}
