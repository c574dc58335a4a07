import type { ExportFormat } from "../domain/export.ts"
import type { Query, SiteFacts } from "../domain/query.ts"
import type { Snapshot } from "../store/events/part.ts"
import { aggregate } from "./aggregate.ts"
import { type ExportRecord, recordsText } from "./export-text.ts"
import { flatMetrics, shownRows } from "./flat-query.ts"
import type { Question } from "./parse.ts"
import { shownMetrics, shownValue } from "./result.ts"

/** All rows of a breakdown as text. */
export interface BreakdownExport {
  site: SiteFacts
  query: Query
  question: Question
  format: ExportFormat
  /** Of the site's currency. */
  decimals: number
  /** Codes of the dimension with their names, as JSON: one text is on its way to the thread at once, a map of it is not. */
  names?: string | undefined
}

export const breakdownColumns = (question: Question): string[] => ["value", "label", ...flatMetrics(question)]

/** Made where it is counted: a breakdown of a million values would hold up the main thread. */
export function exportBreakdown(
  snapshot: Snapshot,
  { query, question, format, decimals, names }: BreakdownExport,
  check: () => void,
): Uint8Array {
  const { rows } = shownRows(question, aggregate(snapshot, query, check))
  const metrics = flatMetrics(question)
  const codes = names === undefined ? undefined : new Map<string, string>(JSON.parse(names)) // written by the service
  const records = rows.map(({ keys: [key = null], values }): ExportRecord => {
    const { value, label } = shownValue(question.dimension ?? "page", key, { most: Number.POSITIVE_INFINITY, names: codes })
    return { value, label, ...shownMetrics(metrics, values, decimals) }
  })
  return new TextEncoder().encode(recordsText(format, breakdownColumns(question), records))
}
