import type { Range } from "../../../src/domain/query.ts"
import type { BenchVisit } from "./data.ts"
import type { Answer, Report } from "./reports.ts"

/** A store that is filled with the same visits and answers the same reports. */
export interface Contender {
  name: string
  load(visits: readonly BenchVisit[]): void | Promise<void>
  /** Makes everything durable, indexed and compact. Nothing is loaded afterwards. */
  finish(): Promise<void>
  /** Size on disk after `finish`. */
  bytes(): number
  answer(siteId: number, report: Report, range: Range): Promise<Answer>
  close(): void | Promise<void>
}
