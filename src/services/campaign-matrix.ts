import type { Filter } from "../domain/filter.ts"
import type { CampaignMatrix } from "../domain/insight.ts"
import { QUERY } from "../domain/limits.ts"
import type { Site } from "../domain/site.ts"
import { ArgumentReader, type Form, refuseArguments } from "../query/arguments.ts"
import type { Engine } from "../query/engine.ts"
import { flatQuery } from "../query/flat-query.ts"
import { shownValue } from "../query/result.ts"
import { splitArguments, withAllFaults } from "./all-faults.ts"
import { type Asking, both, type OpenReportOptions, openReports } from "./open-report.ts"
import { reportFacts } from "./report-facts.ts"

/** A file takes all rows, however many. */
const ANY_OFFSET = { min: 0, max: Number.MAX_SAFE_INTEGER }
const OWN = ["limit", "offset"]
const TAGS = ["utm_source", "utm_medium", "utm_campaign"] as const

/** Tagged visits by source, medium and campaign together, most visitors first; visits without any of the three are no row. */
export async function campaignMatrix(
  options: OpenReportOptions & { engine: Pick<Engine, "aggregate"> },
  site: Site,
  given: Record<string, unknown>,
  asking: Asking = {},
): Promise<CampaignMatrix> {
  const { own, ranged } = splitArguments(given, OWN)
  const form = asking.form ?? "json"
  const [report, page] = await withAllFaults(form, openReports(options)("visits", site, ranged, asking), () => readPage(own, form))
  const filter = both(report.question.filter, TAGGED)
  const { rows, totalRows } = await options.engine.aggregate(
    {
      ...flatQuery(report.question, { site: report.facts, now: report.now }),
      metrics: ["visitors", "conversions", "group_conversion_rate"],
      groupings: TAGS.map((dimension) => ({ by: "dimension", dimension })),
      ...(filter && { filter }),
      order: [{ by: "metric", index: 0, descending: true }],
      ...page,
    },
    report.asker,
  )
  return {
    ...reportFacts(report, { otherCurrencies: [] }, false),
    rows: rows.map(({ keys, values: [visitors, conversions, rate] }) => {
      const [source, medium, campaign] = TAGS.map((dimension, i) => shownValue(dimension, keys[i] ?? null).value)
      return {
        source: source!,
        medium: medium!,
        campaign: campaign!,
        visitors: visitors ?? 0,
        conversions: conversions ?? 0,
        conversion_rate: rate ?? 0,
      }
    }),
    total_rows: totalRows,
    has_more: page.offset + rows.length < totalRows,
  }
}

const isMissing = (dimension: (typeof TAGS)[number]): Filter => ({ op: "is", dimension, values: [], missing: true, caseSensitive: true })
const TAGGED: Filter = { op: "not", filter: { op: "and", filters: TAGS.map(isMissing) } }

function readPage(given: Record<string, unknown>, form: Form): { limit: number; offset: number } {
  const reader = new ArgumentReader(given, OWN)
  const limit = reader.integer("limit", QUERY.campaigns) ?? QUERY.campaigns.default
  const offset = reader.integer("offset", ANY_OFFSET) ?? 0
  refuseArguments(reader, form)
  return { limit, offset }
}
