import { closeSync, fsyncSync, openSync, readSync, renameSync, statfsSync, statSync, unlinkSync, writeFileSync, writeSync } from "node:fs"
import { dirname, join } from "node:path"

/** Syncs a file's content, or a folder's entries, to disk. */
export function syncPath(path: string): void {
  // Windows cannot open a folder.
  if (process.platform === "win32" && statSync(path).isDirectory()) return
  const file = openSync(path, "r")
  try {
    fsyncSync(file)
  } finally {
    closeSync(file)
  }
}

/** Returns the path to which `replaceFile` writes new content first. A crash can leave this file behind. */
export const freshFile = (path: string): string => `${path}.new`

/**
 * Replaces the content of a file, for its owner alone. After a crash or a power cut the file has the old content or the new one:
 * a rename that reaches the disk before the content would leave an empty file.
 */
export function replaceFile(path: string, content: string): void {
  const fresh = freshFile(path)
  const file = openSync(fresh, "w", 0o600)
  try {
    writeFileSync(file, content)
    fsyncSync(file)
  } finally {
    closeSync(file)
  }
  renameSync(fresh, path)
  syncPath(dirname(path))
}

/** Returns SHA-256 and size of a file. Blocks the thread, but reads in pieces, so memory use stays small. */
export function hashFile(path: string): { bytes: number; sha256: string } {
  const hash = new Bun.CryptoHasher("sha256")
  const piece = new Uint8Array(1 << 20)
  const file = openSync(path, "r")
  try {
    let bytes = 0
    for (let read = readSync(file, piece); read > 0; read = readSync(file, piece)) {
      hash.update(piece.subarray(0, read))
      bytes += read
    }
    return { bytes, sha256: hash.digest("hex") }
  } finally {
    closeSync(file)
  }
}

/** Reads a stream. Returns undefined, and stops reading, as soon as it exceeds `limit` bytes. */
export async function readWithin(stream: ReadableStream<Uint8Array> | null, limit: number): Promise<Buffer | undefined> {
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of stream ?? []) {
    size += chunk.byteLength
    if (size > limit) return undefined
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}

export interface DiskSpace {
  freeBytes: number
  totalBytes: number
}

export function diskSpace(path: string): DiskSpace {
  const { bavail, blocks, bsize } = statfsSync(path)
  return { freeBytes: bavail * bsize, totalBytes: blocks * bsize }
}

/** Returns whether less than a tenth or less than 500 MiB is free. */
export const isLow = ({ freeBytes, totalBytes }: DiskSpace): boolean => freeBytes < totalBytes / 10 || freeBytes < 500 * 1_048_576

/** Returns whether a file of this size can be written and synced. Quotas are not part of a file system's figures. */
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
