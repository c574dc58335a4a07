import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { syncPath } from "./sync-path.ts"

/** The exchange of the stores for restored ones, written down before it begins. */
interface Swap {
  /** Folder with the new files, complete and checked. */
  staged: string
  /** Where the present files go. */
  replaced: string
  files: string[]
}

const journalOf = (dataDir: string): string => join(dataDir, ".swap.json")

/** Exchanges closed store files by renames. A crash in between is finished by `finishSwap` at the next start. */
export function swapStores(dataDir: string, swap: Swap): void {
  const missing = swap.files.find((file) => !existsSync(join(swap.staged, file)))
  if (missing) throw new Error(`${missing} is not in ${swap.staged}`)
  const journal = journalOf(dataDir)
  writeFileSync(`${journal}.new`, JSON.stringify(swap), { mode: 0o600 })
  syncPath(`${journal}.new`)
  renameSync(`${journal}.new`, journal)
  syncPath(dataDir)
  finishSwap(dataDir)
}

/** Carries on from wherever a swap stopped. True when there was one. */
export function finishSwap(dataDir: string): boolean {
  const journal = journalOf(dataDir)
  if (!existsSync(journal)) return false
  // Written by `swapStores` alone, and whole: it is renamed into place.
  const { staged, replaced, files } = JSON.parse(readFileSync(journal, "utf8")) as Swap
  mkdirSync(replaced, { recursive: true, mode: 0o700 })
  for (const file of files) if (existsSync(join(staged, file))) exchange(dataDir, staged, replaced, file)
  syncPath(replaced)
  syncPath(dataDir)
  rmSync(journal)
  rmSync(staged, { recursive: true, force: true })
  return true
}

/** A log of the old file beside the new one would be taken for its own, so it goes first. */
function exchange(dataDir: string, staged: string, replaced: string, file: string): void {
  for (const part of [`${file}-wal`, `${file}-shm`, file]) {
    if (existsSync(join(dataDir, part))) renameSync(join(dataDir, part), join(replaced, part))
  }
  renameSync(join(staged, file), join(dataDir, file))
}
