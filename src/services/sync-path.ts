import { closeSync, fsyncSync, openSync } from "node:fs"

/** Brings a file's content, or a folder's entries, to the disk. */
export function syncPath(path: string): void {
  // Windows cannot open a folder.
  if (process.platform === "win32" && !path.includes(".")) return
  const file = openSync(path, "r")
  try {
    fsyncSync(file)
  } finally {
    closeSync(file)
  }
}
