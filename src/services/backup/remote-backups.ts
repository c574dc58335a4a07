import { createHash } from "node:crypto"
import { existsSync, rmSync } from "node:fs"
import { open } from "node:fs/promises"
import { join } from "node:path"
import type { Clock } from "../domain/clock.ts"
import { AppError } from "../domain/error.ts"
import type { Log } from "../domain/log.ts"
import type { Backups } from "./backup.ts"
import {
  backupFolder,
  beginFolder,
  type Manifest,
  manifestOf,
  publishFolder,
  readManifest,
  storedFiles,
  writeManifest,
} from "./backup-folder.ts"
import { expiredBackups, type KeepRules } from "./backup-rotation.ts"
import type { BackupSchedule } from "./backup-schedule.ts"
import { readWithin } from "./bounded-read.ts"
import { type Bucket, createBucket } from "./bucket.ts"
import type { Report } from "./control.ts"
import { diskSpace } from "./disk.ts"
import { hashFile } from "./file-hash.ts"
import type { Outbound } from "./outbound.ts"

/**
 * Copies of backups in a bucket, one object a file below the backup's id. Its manifest comes last and goes first: what has one is
 * whole. Each throws what the bucket throws, and `invalid_state` while there is none.
 */
export interface RemoteBackups {
  /** Whether backups are copied to a bucket. */
  isOn(): boolean
  /** Oldest first. Objects of others are passed over. */
  list(): Promise<Manifest[]>
  /** Undefined for one that the bucket does not have. */
  find(id: string): Promise<Manifest | undefined>
  /** Sends all files of a backup of the folder, and reads each back. */
  copy(id: string, report?: Report): Promise<void>
  /** Brings a backup into the folder, unchecked but for its hashes. Throws `backup_corrupt`, `backup_not_found`, `not_enough_space`. */
  fetch(id: string, report?: Report): Promise<Manifest>
  remove(id: string): Promise<void>
  /** Removes what the rules no longer keep; returns the ids. */
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
/** What may lie beside the manifest. */
const FILES: ReadonlySet<string> = new Set(["config.json", "catalog.db", "events.db", "catalog.db.sealed", "events.db.sealed"])
const MANIFEST_BYTES = 1 << 20
/** More than any rule keeps of those that are made by themselves. */
const LISTED = 1_000

export function createRemoteBackups(options: RemoteBackupsOptions): RemoteBackups {
  const { dataDir, clock, log, schedule } = options

  async function theBucket(): Promise<Bucket> {
    const place = await schedule.bucket()
    if (!place) throw new AppError("invalid_state", "Backups are not copied to a bucket.", { state: "local" })
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
    for (const id of ids.sort().slice(-LISTED)) {
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
    list: async () => listIn(await theBucket()),
    find: async (id) => (ID.test(id) ? read(await theBucket(), id) : undefined),
    async copy(id, report = () => {}) {
      const bucket = await theBucket()
      const folder = backupFolder(dataDir, id)
      const known = new Map(storedFiles(readManifest(folder)).map(({ name, sha256 }) => [name, sha256]))
      const names = [...FILES].filter((name) => existsSync(join(folder, name)))
      for (const [done, name] of [...names, MANIFEST].entries()) {
        report({ what: `copying ${name} to the bucket`, done, total: names.length + 1 })
        // What is not in the list is small.
        const sha256 = known.get(name) ?? hashFile(join(folder, name)).sha256
        await bucket.put(`${id}/${name}`, Bun.file(join(folder, name)), sha256)
        const stored = await bucket.get(`${id}/${name}`)
        if (!stored || (await hashOf(stored)) !== sha256) throw new AppError("backup_corrupt", `The bucket gives another ${name} back.`)
      }
      log.info("backup copied to the bucket", { id })
    },
    async fetch(id, report = () => {}) {
      const bucket = await theBucket()
      const manifest = await read(bucket, id)
      if (!manifest) throw new AppError("backup_not_found", "No backup has this id")
      refuseSmallDisk(dataDir, manifest)
      const folder = beginFolder(dataDir, id)
      try {
        const files = [...storedFiles(manifest), { name: "config.json", sha256: undefined }]
        for (const [done, { name, sha256 }] of files.entries()) {
          report({ what: `bringing ${name} from the bucket`, done, total: files.length })
          const stored = await bucket.get(`${id}/${name}`)
          const hash = stored && (await writeTo(join(folder, name), stored))
          if (sha256 !== undefined && hash !== sha256) throw new AppError("backup_corrupt", `${name} in the bucket is not what was stored.`)
        }
        writeManifest(folder, manifest)
        publishFolder(dataDir, folder, id)
        return manifest
      } catch (error) {
        rmSync(folder, { recursive: true, force: true })
        throw error
      }
    },
    remove: async (id) => removeFrom(await theBucket(), id),
    async rotate(keep) {
      const bucket = await theBucket()
      const gone = expiredBackups(await listIn(bucket), keep, clock.now())
      for (const id of gone) await removeFrom(bucket, id)
      if (gone.length > 0) log.info("backups removed from the bucket", { ids: gone })
      return gone
    },
  }
}

/** The same backups with copies of those that are made by hand; of those that are made by themselves upkeep takes care. */
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
  if (free_bytes < needed_bytes) throw new AppError("not_enough_space", "The disk has no room for it.", { needed_bytes, free_bytes })
}

async function hashOf(stream: ReadableStream<Uint8Array>): Promise<string> {
  const hash = createHash("sha256")
  for await (const chunk of stream) hash.update(chunk)
  return hash.digest("hex")
}

/** Returns the SHA-256 of what was written, which is on disk then. */
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
