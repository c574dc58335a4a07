import type { Source } from "../source.ts"
import { csvGeneric } from "./csv-generic/csv-generic.ts"
import { fathom } from "./fathom.ts"
import { footfall } from "./footfall.ts"
import { ga4Api } from "./ga4/api.ts"
import { ga4BigQuery } from "./ga4/bigquery.ts"
import { ga4Csv } from "./ga4/csv.ts"
import { goatcounter } from "./goatcounter/goatcounter.ts"
import { matomo } from "./matomo/matomo.ts"
import { plausible } from "./plausible.ts"
import { serverLog } from "./server-log.ts"
import { simpleAnalytics } from "./simple-analytics.ts"
import { umami } from "./umami/umami.ts"

/** The sources, in the order of the gallery. */
export const SOURCES: readonly Source[] = [
  plausible,
  umami,
  goatcounter,
  serverLog,
  csvGeneric,
  footfall,
  simpleAnalytics,
  fathom,
  matomo,
  ga4Api,
  ga4Csv,
  ga4BigQuery,
]

export const sourceById = (id: string): Source | undefined => SOURCES.find((source) => source.id === id)
