import type { ImportExclusion, ImportFacts, Table } from "../../domain/query.ts"
import type { ReportFacts } from "../../domain/report.ts"
import type { Engine } from "../../query/engine/engine.ts"
import type { VisibleImports } from "../imports/visible-imports.ts"
import type { OpenReport } from "./open-report.ts"

/** Why imported totals are left out, in words. Completes the sentence "Imported totals are not included: …". */
const REASONS: Record<ImportExclusion, string> = {
  unsupported_filters: "no table of totals has all dimensions and filters of this report.",
  unsupported_interval: "they cover whole days, and this report needs hours.",
  unsupported_metric: "they do not have all metrics of this report.",
  unsupported_timezone: "their days are those of another time zone.",
  disabled: "they were not requested.",
  none_in_range: "none lie in the range.",
}

type ShownImports = Pick<ReportFacts, "imports" | "visitors_estimated">

/** Returns the members of a report that state which imports it includes. Empty for a site without imports. */
export function shownImports(facts: ImportFacts | undefined): ShownImports {
  if (!facts) return {}
  const { ids, reason, isEstimated } = facts
  const included = ids.length > 0
  return {
    imports: {
      included,
      ...(reason && { reason, message: exclusionText(reason, included) }),
      ...(included && { import_ids: ids }),
    },
    ...(isEstimated && { visitors_estimated: true }),
  }
}

/** Returns the sentence that says why imported totals, or those of some imports, are left out. */
export const exclusionText = (reason: ImportExclusion, isPartial = false): string =>
  `${isPartial ? "Some imported totals" : "Imported totals"} are not included: ${REASONS[reason]}`

/** Merges the facts of two tables of one report, such as those of a range and of the range it is compared with. */
export function mergedFacts(one: ImportFacts | undefined, other: ImportFacts | undefined): ImportFacts | undefined {
  if (!one || !other) return one ?? other
  const ids = [...new Set([...one.ids, ...other.ids])].sort((a, b) => a - b)
  const reasons = [one.reason, other.reason].filter((reason) => reason !== undefined)
  // That one of the ranges has no imports is no reason if the other one has some.
  const reason = reasons.find((each) => each !== "none_in_range") ?? (ids.length === 0 ? reasons[0] : undefined)
  return { ids, ...(reason && { reason }), ...((one.isEstimated || other.isEstimated) && { isEstimated: true }) }
}

/** Returns the facts of two tables of one report. */
export const importsOf = (table: Pick<Table, "imports">, before: Pick<Table, "imports"> | undefined): Pick<Table, "imports"> => {
  const imports = mergedFacts(table.imports, before?.imports)
  return imports ? { imports } : {}
}

export interface ImportFactsOptions {
  engine: Pick<Engine, "importFacts">
  imports: Pick<VisibleImports, "of">
}

/** Returns the facts of a report on visits that totals cannot answer, such as a funnel. */
export async function visitImports({ engine, imports }: ImportFactsOptions, report: OpenReport): Promise<Pick<Table, "imports">> {
  const { site, parsed, caller } = report
  if (imports.of(site.id).length === 0) return {}
  const facts = await engine.importFacts({ site: { id: site.id }, range: parsed.range.range, importedTotals: parsed.imports }, caller)
  return facts ? { imports: facts } : {}
}
