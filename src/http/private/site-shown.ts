import { type Static, Type as t } from "@sinclair/typebox"
import type { Site } from "../../domain/site.ts"
import type { Organizations } from "../../services/organizations.ts"
import type { ListedSite } from "../../services/site-overview.ts"
import type { SitePins } from "../../services/site-pins.ts"
import { type SiteFacts, SiteShown, shownSite } from "../public/shown.ts"
import { Id, Instant } from "./tagged.ts"

/** A site as people see it: that of the public API, with what it is to them. */
const OWN = {
  organization: t.Object({ id: Id, name: t.String() }),
  role: t.String({ description: "Of who asks, on the site" }),
  pinned: t.Boolean(),
  version: t.Integer(),
}
export const OwnSiteShown = t.Object({ ...SiteShown.properties, ...OWN }, { title: "OwnSite" })
export type OwnSiteShown = Static<typeof OwnSiteShown>

export const ListedSiteShown = t.Object(
  {
    ...OwnSiteShown.properties,
    current_visitors: t.Integer({ minimum: 0 }),
    last_event_at: t.Union([Instant, t.Null()]),
    visitors: t.Optional(t.Integer({ minimum: 0, description: "Of the last seven days; absent where they cannot be counted now" })),
    visitors_by_day: t.Optional(t.Array(t.Integer({ minimum: 0 }), { description: "Of the last seven days, from the oldest" })),
    change_percent: t.Optional(t.Number({ description: "Of the visitors of these days, against the seven before" })),
  },
  { title: "ListedSite" },
)

export interface SeenSiteOptions extends SiteFacts {
  organizations: Pick<Organizations, "get">
  sitePins: Pick<SitePins, "of">
}

/** A site for a user who has this role on it. */
export async function seenSite(site: Site, role: string, userId: number, options: SeenSiteOptions): Promise<OwnSiteShown> {
  const organization = (await options.organizations.get(site.organization_id))! // a site that is seen has one
  const pinned = (await options.sitePins.of(userId)).has(site.id)
  return shownOwnSite(site, { organization, role, pinned }, options)
}

export interface Owned {
  organization: { id: number; name: string }
  role: string
  pinned: boolean
}

export const shownOwnSite = (site: Site, { organization, role, pinned }: Owned, facts: SiteFacts): OwnSiteShown => ({
  ...shownSite(site, facts),
  organization: { id: organization.id, name: organization.name },
  role,
  pinned,
  version: site.version,
})

export function shownListedSite(listed: ListedSite, organization: Owned["organization"], facts: SiteFacts): Static<typeof ListedSiteShown> {
  const { site, current_visitors, last_event_at, week } = listed
  return {
    ...shownOwnSite(site, { ...listed, organization }, facts),
    current_visitors,
    last_event_at,
    ...(week && {
      visitors: week.visitors,
      visitors_by_day: week.visitors_by_day,
      ...(week.change_percent !== undefined && { change_percent: week.change_percent }),
    }),
  }
}
