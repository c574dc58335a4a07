import type { CampaignMatrix } from "../../../domain/insight.ts"
import { QUERY } from "../../../domain/limits.ts"

/** Fetches all rows of the campaign matrix, most visitors first. `ask` fetches one page. */
export async function allCampaigns(
  ask: (page: { limit: number; offset: number }) => Promise<CampaignMatrix>,
): Promise<CampaignMatrix["rows"]> {
  const rows: CampaignMatrix["rows"] = []
  let hasMore: boolean
  do {
    const page = await ask({ limit: QUERY.campaigns.max, offset: rows.length })
    rows.push(...page.rows)
    hasMore = page.has_more
  } while (hasMore)
  return rows
}
