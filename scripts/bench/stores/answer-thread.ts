/** The thread on which Footfall answers the reports of the benchmarks. It has only the code of queries. */
import type { Range } from "../../../src/domain/query.ts"
import { warmUp } from "../../../src/query/engine/warm-up.ts"
import type { EventReader } from "../../../src/store/events/part.ts"
import { openEventReader } from "../../../src/store/events/reader.ts"
import { answerFrom } from "./answers.ts"
import type { Report } from "./reports.ts"

export interface Question {
  siteId: number
  report: Report
  range: Range
}

/**
 * Opening again forgets what is in memory, as a restart does, and reads ahead as a query worker does in its first second. It is answered
 * with no rows.
 */
export type ToAnswers = { type: "open"; path: string; cacheBytes: number } | { type: "ask"; question: Question }

let reader: EventReader | undefined

self.onmessage = ({ data }: MessageEvent<ToAnswers>) => {
  if (data.type === "open") {
    reader?.close()
    reader = openEventReader(data.path, { cacheBytes: data.cacheBytes })
    for (const _ of warmUp(reader, data.cacheBytes));
    Bun.gc(true)
    self.postMessage([])
  } else {
    const { siteId, report, range } = data.question
    self.postMessage(answerFrom(reader!, siteId, report, range))
  }
}
