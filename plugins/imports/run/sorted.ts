import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs"
import { open } from "node:fs/promises"
import { join } from "node:path"
import type { ImportsHost } from "../area.ts"
import type { DayRules } from "../days.ts"
import { WAITING_FILE } from "../streams/stream-task.ts"
import { REFUNDS_FILE } from "./refunds.ts"
import type { Staged } from "./task.ts"

/**
 * The sorted rows of an import, below its folder of staged files, with a summary that is written when all of them are on the disk. They are
 * sorted when the import is created, or by its run: of a file that is too large to be checked as a whole, or if the rules have changed.
 */
export interface SortedRows {
  staged: Staged
  /** What decided which days are stored, and in which zone. */
  basis: SortBasis
}

export interface SortBasis {
  rules: DayRules
  timezone: string
}

/** Returns the folder of the rows. */
export const rowsIn = (folder: string): string => join(folder, "sorted")
const summaryIn = (folder: string): string => join(folder, "sorted.json")

/** Version of the staged files. Rows that an earlier version of the program has sorted are sorted again, in the same order. */
const FORMAT = 2

/** Returns the rows that were sorted completely. */
export function readSorted(folder: string): SortedRows | undefined {
  if (!existsSync(summaryIn(folder))) return undefined
  const { format, ...sorted } = JSON.parse(readFileSync(summaryIn(folder), "utf8")) as SortedRows & { format?: number } // of `keepSorted`
  return format === FORMAT ? sorted : undefined
}

/** Makes room for rows. What an interrupted sort has left is deleted. */
export function beginSorting(folder: string): void {
  for (const path of [rowsIn(folder), summaryIn(folder)]) rmSync(path, { recursive: true, force: true })
  mkdirSync(rowsIn(folder), { mode: 0o700 })
}

/** Completes sorted rows. After a power loss they are as complete as their summary, which says that they need not be sorted again. */
export async function keepSorted(folder: string, sorted: SortedRows): Promise<void> {
  const { staged } = sorted
  const names = staged.staged.map(({ name }) => name)
  if (staged.refunds) names.push(REFUNDS_FILE)
  if (staged.stream && staged.stream.waiting.rows > 0) names.push(WAITING_FILE)
  for (const name of names) await synced(join(rowsIn(folder), name))
  const draft = `${summaryIn(folder)}.new`
  writeFileSync(draft, JSON.stringify({ ...sorted, format: FORMAT }), { mode: 0o600 })
  await synced(draft)
  renameSync(draft, summaryIn(folder))
}

/** Deletes sorted rows and the key of their visitors. */
export function removeSorted(folder: string): void {
  for (const path of [rowsIn(folder), summaryIn(folder), saltPath(folder)]) rmSync(path, { recursive: true, force: true })
}

const saltPath = (folder: string): string => join(folder, "salt")

/** Returns the key of the visitors' hashes. It lies with the staged files and is destroyed with them. */
export function saltIn(folder: string, random: ImportsHost["random"]): string {
  const path = saltPath(folder)
  if (!existsSync(path)) writeFileSync(path, Buffer.from(random(32)).toString("hex"), { mode: 0o600 })
  return readFileSync(path, "utf8")
}

/** Waits until a file is on the disk. */
async function synced(path: string): Promise<void> {
  const file = await open(path)
  await file.sync()
  await file.close()
}
