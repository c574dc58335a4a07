import { readdirSync, readFileSync } from "node:fs"

/** Milliseconds of a case: the median and the 95th percentile. */
export interface Timing {
  median: number
  p95: number
}

/** Runs a case often enough for a median: at least three times, then until `budgetMs` is used up. */
export async function timed(work: () => unknown, { runs = 15, budgetMs = 2_000 } = {}): Promise<Timing> {
  const times: number[] = []
  for (let spent = 0; times.length < runs && (times.length < 3 || spent < budgetMs); ) {
    const from = performance.now()
    await work()
    times.push(performance.now() - from)
    spent += times.at(-1)!
  }
  return { median: quantile(times, 0.5), p95: quantile(times, 0.95) }
}

/** Runs cases in turn, so that other load affects them alike, and returns the median milliseconds of each. */
export async function timedInTurn(cases: readonly (() => unknown)[], runs: number): Promise<number[]> {
  const times = cases.map((): number[] => [])
  for (let run = 0; run < runs; run++)
    for (const [place, work] of cases.entries()) times[place]!.push((await timed(work, { runs: 1 })).median)
  return times.map((of) => quantile(of, 0.5))
}

/** Returns a percentile by nearest rank. */
export function quantile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((left, right) => left - right)
  return sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)] ?? Number.NaN
}

export const geometricMean = (values: readonly number[]): number =>
  Math.exp(values.reduce((sum, value) => sum + Math.log(value), 0) / values.length)

const MS_PER_TICK = 10

/** Returns the processor time of all threads of a process, also of those that have ended. */
export function processorMs(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, "utf8")
  // Fields 14 and 15. The name before them may contain spaces.
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ")
  return (Number(fields[11]) + Number(fields[12])) * MS_PER_TICK
}

/** Threads in which the engine compiles code and frees memory at its own pace, by the beginnings of their names. */
const ENGINE_THREADS = ["JITWorker", "JSCWarmUp", "mi-scavenger", "ollector Thread"]

/** Returns the processor time of the threads of a process in ms, without those of the engine. */
export function threadTimes(pid: number): ReadonlyMap<string, number> {
  const threads = readdirSync(`/proc/${pid}/task`).flatMap((thread) => {
    try {
      const [name, time] = ["comm", "schedstat"].map((file) => readFileSync(`/proc/${pid}/task/${thread}/${file}`, "utf8"))
      return ENGINE_THREADS.some((beginning) => name!.startsWith(beginning)) ? [] : [[thread, Number.parseInt(time!, 10) / 1e6] as const]
    } catch {
      return [] // it has ended
    }
  })
  return new Map(threads)
}

/** Returns the processor time in ms between two readings of `threadTimes`. */
export const timeBetween = (before: ReadonlyMap<string, number>, after: ReadonlyMap<string, number>): number =>
  after.entries().reduce((sum, [thread, time]) => sum + time - (before.get(thread) ?? 0), 0)
