import { existsSync } from "node:fs"
import { join } from "node:path"
import { AppError } from "../../domain/error.ts"
import { catalogSchemas } from "../../store/catalog/schema.ts"
import { eventSchemas } from "../../store/events/database.ts"
import { type Manifest, storedFiles } from "../backup-folder.ts"
import { diskSpace } from "../disk.ts"
import { ExitFault } from "../exit.ts"
import type { PluginFacts } from "../plugins.ts"
import { toExitFault } from "../store-faults.ts"
import { unpackTar } from "../tar.ts"

/** What may lie in an archive of ours. */
export const BACKUP_FILES: readonly string[] = [
  "manifest.json",
  "config.json",
  "catalog.db",
  "events.db",
  "catalog.db.sealed",
  "events.db.sealed",
]

/** Only names that we know, each once, and no more than the disk has room for. */
export async function unpack(archive: AsyncIterable<Uint8Array>, folder: string, dataDir: string): Promise<void> {
  const corrupt = (says: string) => new AppError("backup_corrupt", says)
  const placeOf = (name: string, bytes: number): string => {
    const path = join(folder, name)
    if (!BACKUP_FILES.includes(name)) throw new AppError("backup_foreign", "The archive holds files that are in no backup of ours.")
    if (existsSync(path)) throw corrupt(`${name} is in the archive twice.`)
    const { freeBytes: free_bytes } = diskSpace(dataDir)
    if (bytes > free_bytes) throw new AppError("not_enough_space", "The disk has no room for it.", { needed_bytes: bytes, free_bytes })
    return path
  }
  await unpackTar(archive, placeOf, corrupt)
}

/** Throws `backup_foreign`. */
export function refuseOddNames(manifest: Manifest): void {
  const isOdd =
    storedFiles(manifest).some(({ name }) => !BACKUP_FILES.includes(name)) ||
    manifest.files.some(({ name }) => !BACKUP_FILES.includes(name))
  if (isOdd) throw new AppError("backup_foreign", "The manifest names files that are in no backup of ours.")
}

/** Migrations that this program does not have are those of a newer one. */
export function refuseNewer({ schemas, version }: Manifest, plugins: readonly PluginFacts[], ours: string): void {
  const lists = [...catalogSchemas(plugins), ...eventSchemas(plugins)]
  const known = new Set(lists.flatMap(({ migrations }) => migrations.map(({ name }) => name)))
  const unknown = [...schemas.catalog, ...schemas.events].find((name) => !known.has(name))
  if (unknown !== undefined) throw new AppError("backup_too_new", `The backup is of version ${version}; this is ${ours}.`)
}

/** What ends a command is a refusal here. */
export function toRefusal(error: unknown, dataDir: string): unknown {
  const fault = toExitFault(error, dataDir)
  if (!(fault instanceof ExitFault)) return fault
  // The paths that an operator reads are nobody's business here.
  const says = fault.message.replaceAll(`${dataDir}/`, "")
  if (fault.exit === "storage") return new AppError("not_enough_space", says)
  if (fault.exit === "configuration") return new AppError("backup_too_new", says)
  if (fault.exit !== "damaged") return fault
  return new AppError(/another program|no event store|no manifest/.test(says) ? "backup_foreign" : "backup_corrupt", says)
}
