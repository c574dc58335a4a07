import { type FromWorker, STOP, type ToWorker } from "../../../src/query/engine/messages.ts"

/** A query worker whose behaviour the asked site's id decides, for what a real one does not do on demand. */
export const AT_ONCE = 1
export const UNTIL_STOPPED = 2
export const DIES = 3
export const BUG = 4
export const DEAF = 5

let stop = new Int32Array(new SharedArrayBuffer(4))
let asked = 0

self.onmessage = ({ data }: MessageEvent<ToWorker>) => {
  if (data.type === "open") stop = new Int32Array(data.stop)
  if (data.type === "ask" && "query" in data.task) self.postMessage(answer(data.task.query.site.id))
}

/** The answer is the number of questions this worker has had. */
function answer(site: number): FromWorker {
  asked++
  if (site === DIES) throw new Error("The worker dies")
  if (site === BUG) return { type: "failure", code: undefined, detail: "a bug" }
  if (site === DEAF) Bun.sleepSync(60_000)
  if (site === UNTIL_STOPPED) {
    while (Atomics.load(stop, 0) !== STOP) Bun.sleepSync(1)
    return { type: "failure", code: "unavailable", detail: "stopped" }
  }
  return { type: "answer", answer: asked }
}
