import type { CampaignMatrix } from "../../../domain/insight.ts"
import { QUERY } from "../../../domain/limits.ts"

/** All rows of the matrix, most visitors first; `ask` gives those of a page. One page is enough for nearly every site. */
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
