import { closeSync, fsyncSync, openSync, statfsSync, unlinkSync, writeSync } from "node:fs"
import { join } from "node:path"

export interface DiskSpace {
  freeBytes: number
  totalBytes: number
}

export function diskSpace(path: string): DiskSpace {
  const { bavail, blocks, bsize } = statfsSync(path)
  return { freeBytes: bavail * bsize, totalBytes: blocks * bsize }
}

/** Less than a tenth or 500 MiB free. */
export const isLow = ({ freeBytes, totalBytes }: DiskSpace): boolean => freeBytes < totalBytes / 10 || freeBytes < 500 * 1_048_576

/** Whether a file of this size can be written and synced here: a quota is in no figure of the file system. */
export function canWrite(folder: string, bytes: number): boolean {
  const path = join(folder, ".space")
  try {
    const file = openSync(path, "w", 0o600)
    try {
      if (writeSync(file, new Uint8Array(bytes)) < bytes) return false
      fsyncSync(file)
      return true
    } finally {
      closeSync(file)
      unlinkSync(path)
    }
  } catch {
    return false
  }
}
