import { type FromWorker, STOP, type ToWorker } from "../../../src/query/engine/messages.ts"

/** A query worker that fails on demand, as a real one cannot: the site id of the query selects its behaviour. */
export const AT_ONCE = 1
export const UNTIL_STOPPED = 2
export const DIES = 3
export const BUG = 4
export const DEAF = 5
export const ONCE_STOPPED = 6
export const TEN_TIMES_STOPPED = 7

let stop = new Int32Array(new SharedArrayBuffer(4))
let received = 0

self.onmessage = ({ data }: MessageEvent<ToWorker>) => {
  if (data.type === "open") stop = new Int32Array(data.stop)
  if (data.type === "ask" && "query" in data.task) self.postMessage(answer(data.task.query.site.id))
}

/** Answers with the number of queries that this worker has received. */
function answer(site: number): FromWorker {
  received++
  if (site === DIES) throw new Error("The worker dies")
  if (site === BUG) return { type: "failure", code: undefined, detail: "a bug" }
  if (site === DEAF) Bun.sleepSync(60_000)
  if (site === ONCE_STOPPED && received > 1) return { type: "answer", answer: received }
  if (site === TEN_TIMES_STOPPED && received > 20) {
    Bun.sleepSync(100)
    return { type: "answer", answer: received }
  }
  if (site === UNTIL_STOPPED || site === ONCE_STOPPED || site === TEN_TIMES_STOPPED) {
    while (Atomics.load(stop, 0) !== STOP) Bun.sleepSync(1)
    return { type: "failure", code: "unavailable", detail: "stopped" }
  }
  return { type: "answer", answer: received }
}
