import type { Suggestions } from "../domain/insight.ts"
import type { CodeNames } from "../domain/place-names.ts"
import type { Site } from "../domain/site.ts"
import { shownValue } from "../query/result.ts"
import type { SuggestedValue } from "../query/suggest.ts"
import { readSuggestions } from "../query/suggestions.ts"
import { splitArguments, withAllFaults } from "./all-faults.ts"
import { codeNames } from "./code-names.ts"
import { type Asking, openReports } from "./open-report.ts"
import type { OpenReport } from "./report-facts.ts"
import { queryOf, withFilter } from "./report-query.ts"
import type { StatsOptions } from "./stats.ts"

/** Values of a dimension that hold a text, by visitors. */
export async function suggestedValues(
  options: StatsOptions,
  site: Site,
  given: Record<string, unknown>,
  asking: Asking = {},
): Promise<Suggestions> {
  const { own, ranged } = splitArguments(given, ["dimension", "property", "q", "limit"])
  const form = asking.form ?? "json"
  const [report, wanted] = await withAllFaults(form, openReports(options)("visits", site, ranged, asking), () => readSuggestions(own, form))
  const { dimension, q, limit } = wanted
  const { facts, question, asker } = report
  const names = await codeNames(options, dimension)
  const named = names && q !== "" ? codesNamed(names, q) : []
  const found =
    dimension === "goal"
      ? await goalNames(options, report, q)
      : await options.engine.suggest({ ...wanted, named, site: facts, range: question.range.range, ...withFilter(report) }, asker)
  return { data: found.slice(0, limit).map(({ key, visitors }) => ({ ...shownValue(dimension, key, { names }), visitors })) }
}

/** There are tens of thousands of cities. */
function codesNamed(names: CodeNames, q: string): string[] {
  const part = q.toLowerCase()
  const codes: string[] = []
  for (const [code, name] of names) if (name.toLowerCase().includes(part)) codes.push(code)
  return codes
}

/** Events that complete a goal of the name complete others too: so names are looked at afterwards. */
async function goalNames({ engine }: StatsOptions, report: OpenReport, q: string): Promise<SuggestedValue[]> {
  const groupings = [{ by: "dimension" as const, dimension: "goal" as const }]
  const order = [{ by: "metric" as const, index: 0, descending: true }]
  const { rows } = await engine.aggregate(queryOf(report, { metrics: ["visitors"], groupings, order }), report.asker)
  const found = rows.map(({ keys: [key = null], values: [visitors] }) => ({ key, visitors: visitors ?? 0 }))
  const part = q.toLowerCase()
  return found.filter(({ key }) => String(key).toLowerCase().includes(part))
}
