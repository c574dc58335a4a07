/** The thread on which Footfall answers the reports of the benchmarks. It has only the code of queries. */
import type { Range } from "../../../src/domain/query.ts"
import { warmUp } from "../../../src/query/engine/warm-up.ts"
import type { EventReader } from "../../../src/store/events/part.ts"
import { openEventReader } from "../../../src/store/events/reader.ts"
import type { NewSums } from "../../../src/store/events/tables/month-sums.ts"
import { answerFrom } from "./answers.ts"
import type { Answer, Report } from "./reports.ts"

export interface Question {
  siteId: number
  report: Report
  range: Range
}

/** Opening reads ahead as a query worker does in its first second. It is answered with no rows. */
export type ToAnswers = { type: "open"; path: string; cacheBytes: number } | { type: "ask"; question: Question }
/** Sums are to be stored. They are sent before the answer that needed them. */
export type FromAnswers = { type: "answer"; answer: Answer } | { type: "sums"; sums: NewSums }

let reader: EventReader | undefined
const send = (message: FromAnswers): void => self.postMessage(message)

self.onmessage = ({ data }: MessageEvent<ToAnswers>) => {
  if (data.type === "open") {
    reader = openEventReader(data.path, { cacheBytes: data.cacheBytes, storeSums: (sums) => send({ type: "sums", sums }) })
    for (const _ of warmUp(reader, data.cacheBytes));
    Bun.gc(true)
    send({ type: "answer", answer: [] })
  } else {
    const { siteId, report, range } = data.question
    send({ type: "answer", answer: answerFrom(reader!, siteId, report, range) })
  }
}
