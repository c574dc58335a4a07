import { chmodSync, linkSync, mkdirSync, readdirSync, rmdirSync, statSync } from "node:fs"
import { constants, copyFile, rm, writeFile } from "node:fs/promises"
import { join } from "node:path"
import type { ImportsHost } from "./area.ts"
import type { UploadRow } from "./rows.ts"
import type { StagedFile } from "./run/task.ts"

/**
 * Folders of staged files below that of the plugin: one per preview or import with `source/0`, `source/1`, …, and the uploads. Names are
 * random; the names of the files are labels only. Files are written and deleted in the background, because they can have gigabytes.
 */
export interface Staging {
  /** Creates an empty folder and returns its name. */
  create(): string
  /** Returns the path of a folder. */
  path(folder: string): string
  /** Deletes a folder. Idempotent. */
  remove(folder: string): Promise<void>
  /** Writes files into a folder. */
  write(folder: string, files: readonly NewFile[]): Promise<StagedFile[]>
  /** Adds uploads to a folder without copying them. They can then be deleted. */
  link(folder: string, uploads: readonly UploadRow[]): StagedFile[]
  /** Deletes folders that are not listed and were not changed for a time. */
  removeOthers(listed: ReadonlySet<string>, unchangedMs: number): Promise<void>
  newUploadPath(): string
  removeUpload(path: string): Promise<void>
}

/** A file to stage: its content, or for the command line its path on this machine, or a function that writes it to a path. */
export type NewFile =
  | { name: string; content: Uint8Array | Blob }
  | { name: string; path: string }
  | { name: string; copyTo(path: string): Promise<void> }

const FILE_MODE = 0o600

export function createStaging({ stagingFolder, random }: Pick<ImportsHost, "stagingFolder" | "random">): Staging {
  const path = (folder: string) => join(stagingFolder(), folder)
  const sourcePath = (folder: string, index: number) => join(path(folder), "source", String(index))
  /** Leaves no empty folder behind. */
  const tidy = () => {
    for (const folder of [stagingFolder(), join(stagingFolder(), "..")]) {
      try {
        rmdirSync(folder)
      } catch {
        return // holds other files
      }
    }
  }
  return {
    path,
    create() {
      const folder = `import-${Buffer.from(random(16)).toString("hex")}`
      mkdirSync(join(path(folder), "source"), { recursive: true, mode: 0o700 })
      return folder
    },
    async remove(folder) {
      await rm(path(folder), { recursive: true, force: true })
      tidy()
    },
    write: (folder, files) =>
      Promise.all(
        files.map(async (file, index) => {
          const { name } = file
          const target = sourcePath(folder, index)
          if ("path" in file) {
            await copyFile(file.path, target, constants.COPYFILE_FICLONE)
            chmodSync(target, FILE_MODE)
            return { name, path: target, bytes: statSync(target).size }
          }
          if ("copyTo" in file) {
            await file.copyTo(target)
            return { name, path: target, bytes: statSync(target).size }
          }
          const { content } = file
          const bytes = content instanceof Uint8Array ? content : await content.bytes()
          await writeFile(target, bytes, { mode: FILE_MODE })
          return { name, path: target, bytes: bytes.length }
        }),
      ),
    link: (folder, uploads) =>
      uploads.map(({ name, path: from, bytes }, index) => {
        const target = sourcePath(folder, index)
        linkSync(from, target)
        return { name, path: target, bytes }
      }),
    async removeOthers(listed, unchangedMs) {
      for (const name of readdirSync(stagingFolder())) {
        const isAbandoned = name.startsWith("import-") && !listed.has(name) && Date.now() - statSync(path(name)).mtimeMs > unchangedMs
        if (isAbandoned) await rm(path(name), { recursive: true, force: true })
      }
      tidy()
    },
    newUploadPath: () => join(stagingFolder(), `upload-${Buffer.from(random(16)).toString("hex")}`),
    async removeUpload(file) {
      await rm(file, { force: true })
      tidy()
    },
  }
}
