import { createHash } from "node:crypto"
import { existsSync, rmSync } from "node:fs"
import { open } from "node:fs/promises"
import { join } from "node:path"
import type { Clock } from "../../domain/clock.ts"
import { AppError } from "../../domain/error.ts"
import type { Log } from "../../domain/log.ts"
import type { Outbound } from "../outbound/outbound.ts"
import type { Report } from "../runtime/control.ts"
import { diskSpace, hashFile, readWithin } from "../runtime/files.ts"
import type { Backups } from "./backup.ts"
import { type Bucket, createBucket } from "./bucket.ts"
import {
  backupFolder,
  beginFolder,
  expiredBackups,
  type KeepRules,
  type Manifest,
  manifestOf,
  publishFolder,
  readManifest,
  storedFiles,
  writeManifest,
} from "./folder.ts"
import type { BackupSchedule } from "./schedule.ts"

/**
 * Copies of backups in a bucket: one object per file, below the backup's id. The manifest is uploaded last and deleted first, so
 * a backup with a manifest is complete. All methods throw the bucket's errors, and `invalid_state` if no bucket is configured.
 */
export interface RemoteBackups {
  /** Whether backups are copied to a bucket. */
  isOn(): boolean
  /** Lists the copies, oldest first. Unrelated objects are ignored. */
  list(): Promise<Manifest[]>
  /** Returns the manifest of a copy, or undefined if the bucket does not have it. */
  find(id: string): Promise<Manifest | undefined>
  /** Uploads all files of a local backup and verifies each by downloading it again. */
  copy(id: string, report?: Report): Promise<void>
  /**
   * Downloads a backup into the data folder. Only its hashes are checked. Throws `backup_corrupt`, `backup_not_found`,
   * `not_enough_space`.
   */
  fetch(id: string, report?: Report): Promise<Manifest>
  remove(id: string): Promise<void>
  /** Deletes the copies that the rules no longer keep. Returns their ids. */
  rotate(keep: KeepRules): Promise<string[]>
}

interface RemoteBackupsOptions {
  dataDir: string
  clock: Pick<Clock, "now">
  log: Log
  schedule: Pick<BackupSchedule, "bucket" | "current">
  outbound: Pick<Outbound, "transfer">
}

const MANIFEST = "manifest.json"
const ID = /^[0-9A-Za-z][0-9A-Za-z._-]{0,79}$/
/** Names of the objects in addition to the manifest. */
const FILES: ReadonlySet<string> = new Set(["config.json", "catalog.db", "events.db", "catalog.db.sealed", "events.db.sealed"])
const MANIFEST_BYTES = 1 << 20
/** Maximum number of listed copies, more than any rule keeps. */
const MAX_LISTED = 1_000

export function createRemoteBackups(options: RemoteBackupsOptions): RemoteBackups {
  const { dataDir, clock, log, schedule } = options

  async function openBucket(): Promise<Bucket> {
    const place = await schedule.bucket()
    if (!place) throw new AppError("invalid_state", "No bucket is configured for backups.", { state: "local" })
    return createBucket(place, options)
  }
  async function read(bucket: Bucket, id: string): Promise<Manifest | undefined> {
    const found = await bucket.get(`${id}/${MANIFEST}`)
    const bytes = found && (await readWithin(found, MANIFEST_BYTES))
    const manifest = bytes && manifestOf(bytes.toString())
    const isOurs = manifest?.id === id && [...manifest.files, ...storedFiles(manifest)].every(({ name }) => FILES.has(name))
    return isOurs ? manifest : undefined
  }
  async function listIn(bucket: Bucket): Promise<Manifest[]> {
    const names = (await bucket.list()).filter((name) => name.endsWith(`/${MANIFEST}`))
    const ids = names.map((name) => name.slice(0, -MANIFEST.length - 1)).filter((id) => ID.test(id))
    const manifests: Manifest[] = []
    for (const id of ids.sort().slice(-MAX_LISTED)) {
      const manifest = await read(bucket, id)
      if (manifest) manifests.push(manifest)
    }
    return manifests.sort((left, right) => left.created_at.localeCompare(right.created_at))
  }
  async function removeFrom(bucket: Bucket, id: string): Promise<void> {
    await bucket.remove(`${id}/${MANIFEST}`)
    for (const name of FILES) await bucket.remove(`${id}/${name}`)
  }

  return {
    isOn: () => schedule.current().target === "s3",
    list: async () => listIn(await openBucket()),
    find: async (id) => (ID.test(id) ? read(await openBucket(), id) : undefined),
    async copy(id, report = () => {}) {
      const bucket = await openBucket()
      const folder = backupFolder(dataDir, id)
      const known = new Map(storedFiles(readManifest(folder)).map(({ name, sha256 }) => [name, sha256]))
      const names = [...FILES].filter((name) => existsSync(join(folder, name)))
      for (const [done, name] of [...names, MANIFEST].entries()) {
        report({ what: `copying ${name} to the bucket`, done, total: names.length + 1 })
        // Files that the manifest does not list are small.
        const sha256 = known.get(name) ?? hashFile(join(folder, name)).sha256
        await bucket.put(`${id}/${name}`, Bun.file(join(folder, name)), sha256)
        const stored = await bucket.get(`${id}/${name}`)
        if (!stored || (await hashOf(stored)) !== sha256)
          throw new AppError("backup_corrupt", `The content that the bucket returned for ${name} differs from what was uploaded.`)
      }
      log.info("backup copied to the bucket", { id })
    },
    async fetch(id, report = () => {}) {
      const bucket = await openBucket()
      const manifest = await read(bucket, id)
      if (!manifest) throw new AppError("backup_not_found", "This backup does not exist.")
      refuseSmallDisk(dataDir, manifest)
      const folder = beginFolder(dataDir, id)
      try {
        const files = [...storedFiles(manifest), { name: "config.json", sha256: undefined }]
        for (const [done, { name, sha256 }] of files.entries()) {
          report({ what: `downloading ${name} from the bucket`, done, total: files.length })
          const stored = await bucket.get(`${id}/${name}`)
          const hash = stored && (await writeTo(join(folder, name), stored))
          if (sha256 !== undefined && hash !== sha256)
            throw new AppError("backup_corrupt", `${name} in the bucket differs from the file that was uploaded.`)
        }
        writeManifest(folder, manifest)
        publishFolder(dataDir, folder, id)
        return manifest
      } catch (error) {
        rmSync(folder, { recursive: true, force: true })
        throw error
      }
    },
    remove: async (id) => removeFrom(await openBucket(), id),
    async rotate(keep) {
      const bucket = await openBucket()
      const gone = expiredBackups(await listIn(bucket), keep, clock.now())
      for (const id of gone) await removeFrom(bucket, id)
      if (gone.length > 0) log.info("backups removed from the bucket", { ids: gone })
      return gone
    },
  }
}

/** Wraps backups so that those made by hand are copied to the bucket. Upkeep copies the scheduled ones. */
export function withCopies(backups: Backups, remote: RemoteBackups): Backups {
  return {
    ...backups,
    async create(kind, report, terms) {
      const made = await backups.create(kind, report, terms)
      if (remote.isOn() && kind === "manual") await remote.copy(made.id, report)
      return made
    },
  }
}

function refuseSmallDisk(dataDir: string, manifest: Manifest): void {
  const needed_bytes = storedFiles(manifest).reduce((sum, { bytes }) => sum + bytes, 0)
  const { freeBytes: free_bytes } = diskSpace(dataDir)
  if (free_bytes < needed_bytes)
    throw new AppError("not_enough_space", "The disk doesn't have enough free space for this backup.", { needed_bytes, free_bytes })
}

async function hashOf(stream: ReadableStream<Uint8Array>): Promise<string> {
  const hash = createHash("sha256")
  for await (const chunk of stream) hash.update(chunk)
  return hash.digest("hex")
}

/** Writes a stream to a file and syncs it. Returns its SHA-256. */
async function writeTo(path: string, stream: ReadableStream<Uint8Array>): Promise<string> {
  const hash = createHash("sha256")
  const file = await open(path, "wx", 0o600)
  try {
    for await (const chunk of stream) {
      hash.update(chunk)
      await file.writeFile(chunk)
    }
    await file.sync()
    return hash.digest("hex")
  } finally {
    await file.close()
  }
}
