import type { FlatMetric } from "../../../domain/metric.ts"
import { type SiteAddress, summaryArguments } from "../../../domain/site-address.ts"
import { asQuery } from "../../stats/source.ts"

export interface AskedSummary {
  siteId: number
  address: SiteAddress
  metrics: readonly FlatMetric[]
}

/** The figures of the page as a call of the public API; the key is left for whoever runs it. */
export function apiCall(origin: string, { siteId, address, metrics }: AskedSummary): string {
  const query = asQuery(summaryArguments(address, metrics))
  return `curl -H "Authorization: Bearer $FOOTFALL_KEY" ${quoted(`${origin}/api/public/v1/sites/${siteId}/stats/summary?${query}`)}`
}

/** In single quotes a shell reads nothing into a text. */
const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`

/** The same for an assistant that has the tools of this instance. */
export const mcpPrompt = ({ siteId, address, metrics }: AskedSummary): string =>
  `Call the Footfall tool get_summary with ${JSON.stringify({ site_id: siteId, ...summaryArguments(address, metrics) })} and tell me what stands out.`
