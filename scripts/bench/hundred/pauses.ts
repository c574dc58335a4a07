/** How long the thread that answers cannot answer: with the time that it waits for a core, which other processes take, and without it. */
import { readFileSync } from "node:fs"
import type { Served } from "../../instance.ts"
import { processorMs } from "../timing.ts"

/** The longest pause in ms, and the longest one without the time that a thread could run but had no core. */
export interface Pauses {
  longest: number
  own: number
}

export interface Measured<Result> {
  result: Result
  seconds: number
  pauses: Pauses
}

/** Runs work in this process, and measures the times in which nothing else could run. */
export async function betweenTurns<Result>(work: () => Promise<Result>): Promise<Measured<Result>> {
  const watched = watchPauses()
  let isOver = false
  const from = performance.now()
  const working = work().finally(() => {
    isOver = true
  })
  while (!isOver) await watched.during(() => Bun.sleep(0), [process.pid])
  return { result: await working, seconds: (performance.now() - from) / 1_000, pauses: watched.pauses }
}

/**
 * Runs a command of a running instance that has nothing else to do, and measures the answers to pings meanwhile. A ping also takes the
 * time in which its sender has no core; of both waits, only the longer one is left out, because they can be the same time.
 */
export async function besidePings<Result>(server: Served, work: () => Promise<Result>): Promise<Measured<Result>> {
  const ping = await openPing(server)
  await calm(server)
  for (let first = 0; first < FIRST_PINGS; first++) await ping()
  const watched = watchPauses()
  let isOver = false
  const pings = (async () => {
    for (; !isOver; await Bun.sleep(1)) await watched.during(ping, [server.pid, process.pid])
  })()
  const from = performance.now()
  try {
    const result = await work()
    return { result, seconds: (performance.now() - from) / 1_000, pauses: watched.pauses }
  } finally {
    isOver = true
    await pings
  }
}

/** Pings before the measured ones, after which the code that answers them is compiled. */
const FIRST_PINGS = 200

function watchPauses() {
  const pauses: Pauses = { longest: 0, own: 0 }
  return {
    pauses,
    /** Measures one pause, and how long the main threads of some processes had no core meanwhile. */
    async during(pause: () => Promise<unknown>, processes: readonly number[]): Promise<void> {
      const before = processes.map(coreWaitMs)
      const from = performance.now()
      await pause()
      const ms = performance.now() - from
      const waited = Math.max(...processes.map((pid, index) => coreWaitMs(pid) - before[index]!))
      pauses.longest = Math.max(pauses.longest, ms)
      pauses.own = Math.max(pauses.own, ms - waited)
    },
  }
}

/** Returns how long the main thread of a process could run but had no core, in ms. 0 where the system does not say. */
function coreWaitMs(pid: number): number {
  try {
    return Number(readFileSync(`/proc/${pid}/task/${pid}/schedstat`, "latin1").split(" ")[1]) / 1e6
  } catch {
    return 0
  }
}

const CALM_MS = 500
const CALM_SHARE = 0.1
const MAX_WAITS = 60

/** Waits until a server that was just started has finished its preparations, which are not what is measured. */
async function calm({ pid }: Served): Promise<void> {
  for (let waits = 0; waits < MAX_WAITS; waits++) {
    const before = processorMs(pid)
    await Bun.sleep(CALM_MS)
    if (processorMs(pid) - before <= CALM_MS * CALM_SHARE) return
  }
  throw new Error("The server is busy by itself")
}

/** Returns the function that sends one request over an open connection and resolves with its answer. It needs no other thread, as `fetch` does. */
async function openPing({ address }: Served): Promise<() => Promise<void>> {
  const { hostname, port } = new URL(address)
  let answered = Promise.withResolvers<void>()
  const socket = await Bun.connect({
    hostname,
    port: Number(port),
    socket: {
      data: (_, chunk) => {
        if (chunk.toString("latin1", 9, 12) === "200") answered.resolve()
        else answered.reject(new Error(`A ping was answered with ${chunk}`))
      },
      close: () => answered.reject(new Error("The server closed the connection")),
      error: (_, error) => answered.reject(error),
    },
  })
  socket.unref()
  return () => {
    answered = Promise.withResolvers()
    answered.promise.catch(() => {}) // the server ends after the last ping
    socket.write("GET /health/live HTTP/1.1\r\nHost: localhost\r\n\r\n")
    return answered.promise
  }
}
