import { readFile } from "node:fs/promises"

/** Length of a turn, in ms, and the processor time of the process during a calm one. */
const TURN_MS = 1_000
const CALM_MS = 100

interface ReleaseOptions {
  turnMs?: number
  /** Returns the processor time that the process has used, in ms. */
  usedMs?(): number
  release?(): Promise<void>
}

/**
 * Releases memory that only the start of the process needed, after the first second in which the process does little. That holds the
 * thread for up to a tenth of a second and takes compiled code from it, which under load would delay every request for a while.
 */
export async function releaseOnceCalm({ turnMs = TURN_MS, usedMs = usedByProcess, release = releaseStartMemory }: ReleaseOptions = {}) {
  for (let before = usedMs(), now = before; ; before = now) {
    await new Promise((resolve) => setTimeout(resolve, turnMs).unref())
    now = usedMs()
    if (now - before <= CALM_MS) return release()
  }
}

function usedByProcess(): number {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1_000
}

/** Releases that memory at once. */
export async function releaseStartMemory(): Promise<void> {
  Bun.gc(true)
  Bun.shrink()
  await unmapProgramPages()
}

/** MADV_DONTNEED of Linux. */
const DONT_NEED = 4

/**
 * Unmaps the pages of the program file and its libraries, most of which only the start used, or other work that is over. Those that are
 * used again are mapped again from the page cache, one by one. Linux only.
 */
export async function unmapProgramPages(): Promise<void> {
  if (process.platform !== "linux") return
  try {
    const { dlopen } = await import("bun:ffi")
    const { symbols, close } = dlopen("libc.so.6", { madvise: { args: ["u64", "u64", "i32"], returns: "i32" } })
    for (const { from, to } of unchangedMappings(await readFile("/proc/self/smaps", "utf8"))) symbols.madvise(from, to - from, DONT_NEED)
    close()
  } catch {
    // Best effort: a hardened system may allow neither.
  }
}

/** A range of addresses, half-open. */
interface Mapping {
  from: number
  to: number
}

const HEADER = /^([0-9a-f]+)-([0-9a-f]+) (r-[-x]p) \S+ \S+ \d+ +\//

/** Returns the mappings of files that the process can only read and has never changed, so that their pages equal those of the file. */
export function unchangedMappings(smaps: string): Mapping[] {
  return smaps.split(/^(?=[0-9a-f]+-)/m).flatMap((text) => {
    const [, from, to] = HEADER.exec(text) ?? []
    if (from === undefined || to === undefined || !/^Anonymous: +0 kB$/m.test(text)) return []
    return [{ from: Number.parseInt(from, 16), to: Number.parseInt(to, 16) }]
  })
}
