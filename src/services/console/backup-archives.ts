import { existsSync, rmSync, statSync } from "node:fs"
import { join } from "node:path"
import type { Actor } from "../../domain/audit.ts"
import type { Clock } from "../../domain/clock.ts"
import { AppError } from "../../domain/error.ts"
import type { Audit } from "../audit.ts"
import { checkBackup } from "../backup.ts"
import { backupFolder, beginFolder, freeId, type Manifest, publishFolder, readManifest, writeManifest } from "../backup-folder.ts"
import { backupDeed } from "../deeds.ts"
import type { PluginFacts } from "../plugins.ts"
import { type TarFile, tarBytes, tarOf } from "../tar.ts"
import type { BackupList } from "./backup-list.ts"
import { BACKUP_FILES, refuseNewer, refuseOddNames, toRefusal, unpack } from "./backup-refusals.ts"

/** Backups as files that people take along and bring again. */
export interface BackupArchives {
  /**
   * The whole of it as one tar archive; that somebody takes it along is in the log first. Throws `invalid_state` for one that only
   * the bucket has: checking it brings it here.
   */
  download(actor: Actor, id: string | undefined): Promise<{ name: string; bytes: number; stream: AsyncGenerator<Uint8Array> }>
  /** Takes such an archive, checks it, and lists it. Throws `backup_corrupt`, `backup_foreign`, `backup_too_new`. */
  upload(actor: Actor, archive: AsyncIterable<Uint8Array>): Promise<Manifest>
}

export interface BackupArchivesOptions {
  dataDir: string
  version: string
  backupWorkerUrl: string
  clock: Pick<Clock, "now">
  audit: Pick<Audit, "writeAlone">
  pluginFacts: readonly PluginFacts[]
  get: BackupList["get"]
}

export function createBackupArchives(options: BackupArchivesOptions): BackupArchives {
  const { dataDir, clock, audit, get } = options

  /** What was sent, under an id of ours. */
  async function received(archive: AsyncIterable<Uint8Array>, folder: string, id: string): Promise<Manifest> {
    await unpack(archive, folder, dataDir)
    const sent = readManifest(folder)
    refuseNewer(sent, options.pluginFacts, options.version)
    refuseOddNames(sent)
    const label = sent.label ?? `Uploaded: ${sent.id}`.slice(0, 200)
    const manifest: Manifest = { ...sent, id, kind: "manual", label, verified_at: null, failed_at: null }
    await checkBackup(folder, manifest, { full: false, workerUrl: options.backupWorkerUrl })
    return manifest
  }

  return {
    async download(actor, id) {
      const manifest = await get(id)
      if (manifest.target === "s3")
        throw new AppError("invalid_state", "Only the bucket has it: check it, and it is brought here.", { state: "s3" })
      const files = filesIn(backupFolder(dataDir, manifest.id))
      await audit.writeAlone(actor, backupDeed("download", manifest))
      return { name: `footfall-${manifest.id}.tar`, bytes: tarBytes(files), stream: tarOf(files, clock.now()) }
    },
    async upload(actor, archive) {
      const id = freeId(dataDir, clock.now(), "manual")
      const folder = beginFolder(dataDir, id)
      try {
        const manifest = await received(archive, folder, id)
        writeManifest(folder, manifest)
        publishFolder(dataDir, folder, id)
        await audit.writeAlone(actor, backupDeed("upload", manifest))
        return manifest
      } catch (error) {
        rmSync(folder, { recursive: true, force: true })
        throw toRefusal(error, dataDir)
      }
    },
  }
}

const filesIn = (folder: string): TarFile[] =>
  BACKUP_FILES.map((name) => ({ name, path: join(folder, name) }))
    .filter(({ path }) => existsSync(path))
    .map((file) => ({ ...file, bytes: statSync(file.path).size }))
