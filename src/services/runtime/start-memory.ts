import { readFileSync } from "node:fs"

/** Releases memory that only the start of the process needed. Without this it would stay as long as there is no load. */
export async function releaseStartMemory(): Promise<void> {
  Bun.gc(true)
  Bun.shrink()
  await unmapProgramPages()
}

/** MADV_DONTNEED of Linux. */
const DONT_NEED = 4

/**
 * Unmaps the pages of the program file and its libraries, most of which only the start used. Those that are used again are mapped again
 * from the page cache, one by one. Linux only.
 */
async function unmapProgramPages(): Promise<void> {
  if (process.platform !== "linux") return
  try {
    const { dlopen } = await import("bun:ffi")
    const { symbols, close } = dlopen("libc.so.6", { madvise: { args: ["u64", "u64", "i32"], returns: "i32" } })
    for (const { from, to } of unchangedMappings(readFileSync("/proc/self/smaps", "utf8"))) symbols.madvise(from, to - from, DONT_NEED)
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
