import type { Site } from "../../../domain/site.ts"
import type { ListedSiteResponse, OwnSiteResponse } from "../../../domain/site-response.ts"
import type { Organizations } from "../../../services/organizations/organizations.ts"
import type { SitePins } from "../../../services/sites/sites.ts"
import type { ListedSite } from "../../../services/stats/site-overview.ts"
import { type SiteFacts, toSiteResponse } from "../../public/shown.ts"

export interface SeenSiteOptions extends SiteFacts {
  organizations: Pick<Organizations, "get">
  sitePins: Pick<SitePins, "of">
}

/** Converts a site for a user with the given role. */
export async function seenSite(site: Site, role: string, userId: number, options: SeenSiteOptions): Promise<OwnSiteResponse> {
  const organization = (await options.organizations.get(site.organization_id))! // every site has an organization
  const pinned = (await options.sitePins.of(userId)).has(site.id)
  return toOwnSiteResponse(site, { organization, role, pinned }, options)
}

export interface Owned {
  organization: { id: number; name: string }
  role: string
  pinned: boolean
}

export const toOwnSiteResponse = (site: Site, { organization, role, pinned }: Owned, facts: SiteFacts): OwnSiteResponse => ({
  ...toSiteResponse(site, facts),
  organization: { id: organization.id, name: organization.name },
  role,
  pinned,
  version: site.version,
})

export function toListedSiteResponse(listed: ListedSite, organization: Owned["organization"], facts: SiteFacts): ListedSiteResponse {
  const { site, current_visitors, last_event_at, week } = listed
  return {
    ...toOwnSiteResponse(site, { ...listed, organization }, facts),
    current_visitors,
    last_event_at,
    ...(week && {
      visitors: week.visitors,
      visitors_by_day: week.visitors_by_day,
      ...(week.change_percent !== undefined && { change_percent: week.change_percent }),
    }),
  }
}
