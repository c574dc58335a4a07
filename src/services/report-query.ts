import type { Filter } from "../domain/filter.ts"
import type { Query } from "../domain/query.ts"
import { flatQuery } from "../query/flat-query.ts"
import { both } from "./open-report.ts"
import type { OpenReport } from "./report-facts.ts"

/** What a report about the range would ask, of other metrics and groupings: all of it, in no order. */
export const queryOf = (report: OpenReport, rest: Partial<Query>): Query => ({
  ...flatQuery(report.question, { site: report.facts, now: report.now }),
  order: [],
  offset: 0,
  limit: Number.MAX_SAFE_INTEGER,
  ...rest,
})

/** The filter of a report, and perhaps one more beside it. */
export function withFilter(report: OpenReport, more?: Filter): { filter?: Filter } {
  const filter = both(report.question.filter, more)
  return filter ? { filter } : {}
}
