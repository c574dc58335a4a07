import { AppError } from "#plugin"
import type { ImportInput } from "../input.ts"
import type { Author, Imports } from "../lifecycle.ts"
import { LogTail } from "./log-tail.ts"

/** Time between the starts of two runs. */
const RUN_MS = 60_000

interface FollowOptions {
  imports: Pick<Imports, "create">
  /** Returns the import of the stream and its last completed run, or undefined if there is no such stream. */
  completed(): Promise<{ importId: number; run: number } | undefined>
  /** Resolves when the run of an import has ended. Throws the fault of a failed one. */
  ended(importId: number): Promise<unknown>
  signal: AbortSignal
  /** Shorter for tests. */
  everyMs?: number
}

/**
 * Imports logs as a stream while they grow, with a run every minute in which lines were appended. Ends when the signal is aborted. Throws
 * the fault of a run that failed, and a fault when a run was cancelled or the import undone, because lines would be missing.
 */
export async function followLogs(
  author: Author,
  input: Omit<ImportInput, "files" | "uploadIds">,
  paths: readonly string[],
  { imports, completed, ended, signal, everyMs = RUN_MS }: FollowOptions,
): Promise<void> {
  const tails = paths.map((path) => new LogTail(path))
  let options = input.options
  let followed: number | undefined
  try {
    for (let due = performance.now(); !signal.aborted; due = Math.max(due + everyMs, performance.now())) {
      await pauseUntil(due, signal)
      const files = (await Promise.all(tails.map((tail) => tail.appended()))).flat()
      if (signal.aborted) return
      if (files.length > 0) {
        const before = await completed()
        if (followed !== undefined && before?.importId !== followed) throw interrupted()
        options = { ...(await formatOf(tails)), ...options }
        const row = await imports
          .create(author, { ...input, options, files, uploadIds: [] }, signal, async () => {})
          .catch(refuseUnlessBusy)
        // Another run of the stream is in progress: the lines are read again with those of the next minute.
        if (!row) continue
        await ended(row.id)
        if (signal.aborted) return
        if (((await completed())?.run ?? 0) <= (before?.run ?? 0)) throw interrupted()
        followed = row.id
        // A few lines that are broken say nothing about a log that was readable before.
        options = { accept_rejects: true, ...options }
      }
      for (const tail of tails) await tail.advance()
    }
  } finally {
    for (const tail of tails) await tail.close()
  }
}

/** Returns the format as an option if all logs have the same. */
async function formatOf(tails: readonly LogTail[]): Promise<{ format?: string }> {
  const formats = new Set(await Promise.all(tails.map((tail) => tail.format())))
  const [format] = formats
  return formats.size === 1 && format !== undefined ? { format } : {}
}

const interrupted = () =>
  new AppError("invalid_state", "The import was cancelled or undone. Start the command again to import the log from its beginning.", {
    state: "cancelled",
  })

function refuseUnlessBusy(error: unknown): undefined {
  if (error instanceof AppError && error.code === "invalid_state") return undefined
  throw error
}

async function pauseUntil(due: number, signal: AbortSignal): Promise<void> {
  const ms = due - performance.now()
  if (ms <= 0 || signal.aborted) return
  await new Promise<void>((resolve) => {
    const timer = setTimeout(done, ms)
    function done() {
      clearTimeout(timer)
      signal.removeEventListener("abort", done)
      resolve()
    }
    signal.addEventListener("abort", done)
  })
}
