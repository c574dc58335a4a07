import { type Static, Type as t } from "@sinclair/typebox"
import type { Site } from "../../../domain/site.ts"
import type { Organizations } from "../../../services/organizations/organizations.ts"
import type { SitePins } from "../../../services/sites/sites.ts"
import type { ListedSite } from "../../../services/stats/site-overview.ts"
import { type SiteFacts, SiteResponse, toSiteResponse } from "../../public/shown.ts"
import { Id, Instant } from "../responses.ts"

/** Schema of a site in the private API: the public members plus those that depend on the user. */
const OWN = {
  organization: t.Object({ id: Id, name: t.String() }),
  role: t.String({ description: "Role of the caller on the site." }),
  pinned: t.Boolean(),
  version: t.Integer(),
}
export const OwnSiteResponse = t.Object({ ...SiteResponse.properties, ...OWN }, { title: "OwnSite" })
export type OwnSiteResponse = Static<typeof OwnSiteResponse>

export const ListedSiteResponse = t.Object(
  {
    ...OwnSiteResponse.properties,
    current_visitors: t.Integer({ minimum: 0 }),
    last_event_at: t.Union([Instant, t.Null()]),
    visitors: t.Optional(
      t.Integer({ minimum: 0, description: "Visitors of the last 7 days. Absent if they cannot be counted at the moment." }),
    ),
    visitors_by_day: t.Optional(t.Array(t.Integer({ minimum: 0 }), { description: "Visitors per day of the last 7 days, oldest first." })),
    change_percent: t.Optional(t.Number({ description: "Change of the visitors from the previous 7 days, in percent." })),
  },
  { title: "ListedSite" },
)

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

export function toListedSiteResponse(
  listed: ListedSite,
  organization: Owned["organization"],
  facts: SiteFacts,
): Static<typeof ListedSiteResponse> {
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
