import { readFileSync } from "node:fs"

/** Length of a turn at the start, and later, in ms, and the most requests of a calm one. */
const TURN_MS = 1_000
const LATER_TURN_MS = 15_000
const FEW_REQUESTS = 10
/** Number of calm turns in a row after which pages are given back again: a minute. */
const CALM_TURNS = 4
/** Growth from which that is worthwhile. */
const GROWTH = 8 << 20

interface ReleaseOptions {
  turnMs?: number
  laterTurnMs?: number
  /** Returns how many requests have arrived. */
  requests(): number
  /** Returns the bytes of files that are mapped in memory; undefined where that is not known. */
  mapped?(): number | undefined
  /** Releases what only the start needed. */
  release?(): Promise<void>
  /** Releases garbage and the pages of the program. */
  releaseAgain?(): Promise<void>
}

/**
 * Releases memory that only the start of the process needed, after the first second with few requests. That holds the
 * thread for up to a tenth of a second and takes compiled code from it, which under load would delay every request for a while.
 * Later, the pages of the program are given back in calm minutes, because upkeep maps a third of them again.
 */
export async function releaseWhenCalm(options: ReleaseOptions): Promise<void> {
  const { turnMs = TURN_MS, laterTurnMs = LATER_TURN_MS, requests, mapped = mappedBytes } = options
  const { release = releaseStartMemory, releaseAgain = releaseCalmMemory } = options
  while (!(await isCalmTurn(turnMs, requests)));
  await release()
  let calmTurns = 0
  for (let least = Number.POSITIVE_INFINITY; ; ) {
    calmTurns = (await isCalmTurn(laterTurnMs, requests)) ? calmTurns + 1 : 0
    const bytes = mapped()
    if (bytes === undefined) return
    least = Math.min(least, bytes)
    if (calmTurns >= CALM_TURNS && bytes >= least + GROWTH) await releaseAgain()
  }
}

/** Resolves at the end of a turn with whether it had few requests. */
async function isCalmTurn(turnMs: number, requests: () => number): Promise<boolean> {
  const before = requests()
  await new Promise((resolve) => setTimeout(resolve, turnMs).unref())
  return requests() - before <= FEW_REQUESTS
}

async function releaseCalmMemory(): Promise<void> {
  Bun.gc(true)
  await unmapProgramPages()
}

function mappedBytes(): number | undefined {
  if (process.platform !== "linux") return undefined
  const [, kilobytes] = /^RssFile:\s*(\d+) kB/m.exec(readFileSync("/proc/self/status", "utf8")) ?? []
  return kilobytes === undefined ? undefined : Number(kilobytes) * 1_024
}

/** Releases that memory at once. */
export async function releaseStartMemory(): Promise<void> {
  Bun.gc(true)
  Bun.shrink()
  await unmapProgramPages()
}

/** MADV_DONTNEED, MADV_NOHUGEPAGE, PROT_READ and PROT_WRITE of Linux. */
const DONT_NEED = 4
const NO_HUGE_PAGE = 15
const READ = 1
const WRITE = 2
const LIBRARY = {
  madvise: { args: ["u64", "u64", "i32"], returns: "i32" },
  mprotect: { args: ["u64", "u64", "i32"], returns: "i32" },
} as const

/**
 * Unmaps the pages of the program file and its libraries, most of which only the start used, or other work that is over. Those that are
 * used again are mapped again from the page cache, few at a time. Linux only.
 */
export async function unmapProgramPages(): Promise<void> {
  if (process.platform !== "linux") return
  try {
    const { dlopen } = await import("bun:ffi")
    const modules = await embeddedModules(process.execPath)
    const { symbols, close } = dlopen("libc.so.6", LIBRARY)
    // They are mapped for writing. Read-only meanwhile, they are a mapping of their own, which is listed with whether it was ever changed.
    const protect = (flags: number) => modules && symbols.mprotect(modules.from, modules.to - modules.from, flags)
    protect(READ)
    try {
      for (const { from, to } of unchangedMappings(readFileSync("/proc/self/smaps", "utf8"))) {
        // One access would map two megabytes of the library at once.
        symbols.madvise(from, to - from, NO_HUGE_PAGE)
        symbols.madvise(from, to - from, DONT_NEED)
      }
    } finally {
      protect(READ | WRITE)
    }
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

const PAGE = 4_096
/** Type of an ELF file whose addresses are those in memory. */
const EXECUTABLE = 2

/** Returns where the modules and texts of a compiled program are mapped: its section `.bun`, in whole pages. Undefined if there is none. */
export async function embeddedModules(path: string): Promise<Mapping | undefined> {
  const file = Bun.file(path)
  const read = async (from: number, size: number) => new DataView(await file.slice(from, from + size).arrayBuffer())
  const head = await read(0, 64)
  if (head.getUint32(0) !== 0x7f454c46 || head.getUint16(16, true) !== EXECUTABLE) return undefined
  const [size, count, ofNames] = [58, 60, 62].map((at) => head.getUint16(at, true)) as [number, number, number]
  const sections = await read(Number(head.getBigUint64(40, true)), size * count)
  const number = (section: number, at: number) => Number(sections.getBigUint64(section * size + at, true))
  const names = Buffer.from((await read(number(ofNames, 24), number(ofNames, 32))).buffer)
  const index = Array.from({ length: count }, (_, section) => sections.getUint32(section * size, true)).indexOf(
    names.indexOf("\0.bun\0") + 1,
  )
  if (index <= 0) return undefined
  const from = Math.ceil(number(index, 16) / PAGE) * PAGE
  const to = Math.floor((number(index, 16) + number(index, 32)) / PAGE) * PAGE
  return from < to ? { from, to } : undefined
}
