import { closeSync, existsSync, openSync, rmSync, statSync, writeSync } from "node:fs"
import { join } from "node:path"
import type { Actor } from "../../domain/audit.ts"
import type { Clock } from "../../domain/clock.ts"
import { AppError } from "../../domain/error.ts"
import { catalogSchemas } from "../../store/catalog/schema.ts"
import { eventSchemas } from "../../store/events/database.ts"
import { type Audit, backupEntry } from "../audit/audit.ts"
import { ExitFault, ForeignFile } from "../runtime/exit.ts"
import { diskSpace } from "../runtime/files.ts"
import type { PluginFacts } from "../runtime/plugins.ts"
import { toExitFault } from "../runtime/store-states.ts"
import { checkBackup } from "./backup.ts"
import { backupFolder, beginFolder, freeId, type Manifest, publishFolder, readManifest, storedFiles, writeManifest } from "./folder.ts"
import type { BackupList } from "./list.ts"

/** Backups as tar archives that admins download and upload. */
export interface BackupArchives {
  /**
   * Returns a backup as a tar archive, after writing an audit entry. Throws `invalid_state` for a backup that only exists in the
   * bucket; verifying it fetches it.
   */
  download(actor: Actor, id: string | undefined): Promise<{ name: string; bytes: number; stream: AsyncGenerator<Uint8Array> }>
  /** Stores and checks an uploaded archive. Throws `backup_corrupt`, `backup_foreign`, `backup_too_new`. */
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

  /** Unpacks and checks an uploaded archive under a new id. */
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
        throw new AppError("invalid_state", "This backup only exists in the bucket. Verify it to fetch it, then download it.", {
          state: "s3",
        })
      const files = filesIn(backupFolder(dataDir, manifest.id))
      await audit.writeAlone(actor, backupEntry("download", manifest))
      return { name: `footfall-${manifest.id}.tar`, bytes: tarBytes(files), stream: tarOf(files, clock.now()) }
    },
    async upload(actor, archive) {
      const id = freeId(dataDir, clock.now(), "manual")
      const folder = beginFolder(dataDir, id)
      try {
        const manifest = await received(archive, folder, id)
        writeManifest(folder, manifest)
        publishFolder(dataDir, folder, id)
        await audit.writeAlone(actor, backupEntry("upload", manifest))
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

/** Names of the files that an archive may contain. */
export const BACKUP_FILES: readonly string[] = [
  "manifest.json",
  "config.json",
  "catalog.db",
  "events.db",
  "catalog.db.sealed",
  "events.db.sealed",
]

/** Unpacks an archive. Rejects unknown and repeated names, and files larger than the free disk space. */
export async function unpack(archive: AsyncIterable<Uint8Array>, folder: string, dataDir: string): Promise<void> {
  const corrupt = (detail: string) => new AppError("backup_corrupt", detail)
  const placeOf = (name: string, bytes: number): string => {
    const path = join(folder, name)
    if (!BACKUP_FILES.includes(name))
      throw new AppError("backup_foreign", "The archive contains files that are not part of a Footfall backup.")
    if (existsSync(path)) throw corrupt(`${name} is in the archive twice.`)
    const { freeBytes: free_bytes } = diskSpace(dataDir)
    if (bytes > free_bytes)
      throw new AppError("not_enough_space", "The disk doesn't have enough free space for this backup.", {
        needed_bytes: bytes,
        free_bytes,
      })
    return path
  }
  await unpackTar(archive, placeOf, corrupt)
}

/** Throws `backup_foreign` if the manifest names unknown files. */
export function refuseOddNames(manifest: Manifest): void {
  const isOdd =
    storedFiles(manifest).some(({ name }) => !BACKUP_FILES.includes(name)) ||
    manifest.files.some(({ name }) => !BACKUP_FILES.includes(name))
  if (isOdd) throw new AppError("backup_foreign", "The manifest names files that are not part of a Footfall backup.")
}

/** Throws `backup_too_new` if the backup contains migrations that this version does not know. */
export function refuseNewer({ schemas, version }: Manifest, plugins: readonly PluginFacts[], ours: string): void {
  const lists = [...catalogSchemas(plugins), ...eventSchemas(plugins)]
  const known = new Set(lists.flatMap(({ migrations }) => migrations.map(({ name }) => name)))
  const unknown = [...schemas.catalog, ...schemas.events].find((name) => !known.has(name))
  if (unknown !== undefined)
    throw new AppError(
      "backup_too_new",
      `The backup was made by version ${version}, which is newer than this version (${ours}). Update Footfall first.`,
    )
}

/** Translates an error that would end a command into an `AppError`. */
export function toRefusal(error: unknown, dataDir: string): unknown {
  const fault = toExitFault(error, dataDir)
  if (!(fault instanceof ExitFault)) return fault
  // Paths are meant for operators and are removed here.
  const detail = `${fault.message.replaceAll(`${dataDir}/`, "")}.`
  if (fault.exit === "storage") return new AppError("not_enough_space", detail)
  if (fault.exit === "configuration") return new AppError("backup_too_new", detail)
  if (fault.exit !== "damaged") return fault
  return new AppError(fault instanceof ForeignFile ? "backup_foreign" : "backup_corrupt", detail)
}

/** The part of the tar format that backups need: plain files of any size, written and read as streams. */

export interface TarFile {
  name: string
  path: string
  bytes: number
}

const BLOCK = 512
/** Limit of the size field: eleven octal digits. */
const MAX_OCTAL = 8 ** 11

/** Yields the bytes of an archive. The files must not change meanwhile. */
export async function* tarOf(files: readonly TarFile[], at: number): AsyncGenerator<Uint8Array> {
  for (const { name, path, bytes } of files) {
    yield headerOf(name, bytes, at)
    for await (const chunk of Bun.file(path).stream() as unknown as AsyncIterable<Uint8Array>) yield chunk
    if (bytes % BLOCK > 0) yield new Uint8Array(BLOCK - (bytes % BLOCK))
  }
  yield new Uint8Array(2 * BLOCK)
}

/** Returns the size of the archive in bytes. */
export const tarBytes = (files: readonly Pick<TarFile, "bytes">[]): number =>
  files.reduce((sum, { bytes }) => sum + BLOCK + Math.ceil(bytes / BLOCK) * BLOCK, 2 * BLOCK)

/**
 * Unpacks an archive. `placeOf` returns the path of each file. Throws the error made by `refuse` for anything but plain files,
 * and for a truncated archive.
 */
export async function unpackTar(
  source: AsyncIterable<Uint8Array>,
  placeOf: (name: string, bytes: number) => string,
  refuse: (detail: string) => Error,
): Promise<void> {
  const bytes = chunked(source)
  for (;;) {
    const header = await bytes.take(BLOCK)
    if (header === undefined) throw refuse("The archive is truncated.")
    if (header.every((byte) => byte === 0)) return
    const { name, size } = readHeader(header, refuse)
    const file = openSync(placeOf(name, size), "wx", 0o600)
    try {
      for (let left = size; left > 0; ) {
        const part = await bytes.some(left)
        if (part === undefined) throw refuse(`${name} is truncated.`)
        writeSync(file, part)
        left -= part.length
      }
    } finally {
      closeSync(file)
    }
    if (size % BLOCK > 0 && (await bytes.take(BLOCK - (size % BLOCK))) === undefined) throw refuse("The archive is truncated.")
  }
}

function headerOf(name: string, bytes: number, at: number): Uint8Array {
  const header = Buffer.alloc(BLOCK)
  header.write(name, 0, 100)
  header.write("0000600\0", 100)
  header.write("0000000\0", 108)
  header.write("0000000\0", 116)
  writeSize(header, bytes)
  header.write(
    `${Math.floor(at / 1_000)
      .toString(8)
      .padStart(11, "0")}\0`,
    136,
  )
  header.write("        ", 148)
  header.write("0", 156)
  header.write("ustar\x0000", 257)
  header.write(`${sumOf(header).toString(8).padStart(6, "0")}\0 `, 148)
  return new Uint8Array(header)
}

/** Writes the size of a file. Sizes above 8 GiB use base 256, which all current tar programs read. */
function writeSize(header: Buffer, bytes: number): void {
  if (bytes < MAX_OCTAL) header.write(`${bytes.toString(8).padStart(11, "0")}\0`, 124)
  else {
    header.writeUInt8(0x80, 124)
    header.writeBigUInt64BE(BigInt(bytes), 128)
  }
}

const sumOf = (header: Uint8Array): number => header.reduce((sum, byte, i) => sum + (i >= 148 && i < 156 ? 32 : byte), 0)

function readHeader(header: Buffer, refuse: (detail: string) => Error): { name: string; size: number } {
  const text = (from: number, length: number) => header.toString("latin1", from, from + length).split("\0")[0]!
  if (Number.parseInt(text(148, 8), 8) !== sumOf(header)) throw refuse("The file is not a tar archive.")
  const type = text(156, 1)
  if (type !== "0" && type !== "") throw refuse("The archive contains something other than plain files.")
  const size = header[124] === 0x80 ? Number(header.readBigUInt64BE(128)) : Number.parseInt(text(124, 12), 8)
  if (!Number.isSafeInteger(size) || size < 0) throw refuse("The archive contains an invalid file size.")
  return { name: text(0, 100), size }
}

/** Reads a stream in pieces of a chosen length. */
function chunked(source: AsyncIterable<Uint8Array>) {
  const iterator = source[Symbol.asyncIterator]()
  let rest: Buffer = Buffer.alloc(0)
  async function fill(): Promise<boolean> {
    const { value, done } = await iterator.next()
    if (done) return false
    rest = rest.length === 0 ? Buffer.from(value) : Buffer.concat([rest, value])
    return true
  }
  return {
    /** Returns exactly this many bytes, or undefined if fewer are left. */
    async take(length: number): Promise<Buffer | undefined> {
      while (rest.length < length) if (!(await fill())) return undefined
      const taken = rest.subarray(0, length)
      rest = rest.subarray(length)
      return taken
    },
    /** Returns at least one byte and at maximum this many, or undefined at the end. */
    async some(maximum: number): Promise<Buffer | undefined> {
      while (rest.length === 0) if (!(await fill())) return undefined
      const taken = rest.subarray(0, maximum)
      rest = rest.subarray(maximum)
      return taken
    },
  }
}
