import type { Clock } from "../../domain/clock.ts"
import type { Site } from "../../domain/site.ts"
import type { Catalog } from "../../store/catalog/catalog.ts"
import {
  type KeyFacts,
  listKeyFacts,
  listOpenInvitations,
  listOrganizationFacts,
  listSessionFacts,
  listSiteFacts,
  type OpenInvitation,
  type OrganizationFacts,
  type SessionFacts,
  type SiteFacts,
} from "../../store/catalog/instance-lists.ts"
import type { EventStore } from "../../store/events/events.ts"
import type { SegmentUsage } from "../../store/events/usage.ts"
import { inSlices } from "../slices.ts"
import type { Stats } from "../stats.ts"

/** Events of a site, and what it takes on disk. No more of it is an instance admin's business. */
export interface SiteFigures {
  events_24h: number
  events_30d: number
  bytes: number
  /** Epoch ms. */
  last_event_at: number | null
}

/** What the instance has, of all organizations, by id ascending. */
export interface ConsoleLists {
  organizations(): Promise<OrganizationFacts[]>
  /** Deleted ones too, until they are purged. */
  sites(): Promise<SiteFacts[]>
  keys(): Promise<KeyFacts[]>
  /** Live ones. */
  sessions(): Promise<SessionFacts[]>
  /** Open ones. */
  invitations(): Promise<OpenInvitation[]>
  /** Asked of the reports, one site after the other; an answer is good for a minute. */
  figures(siteIds: readonly number[]): Promise<Map<number, SiteFigures>>
}

interface ListsOptions {
  catalog: Catalog
  clock: Pick<Clock, "now">
  directory: { byId(id: number): Site | undefined }
  stats: Pick<Stats, "summary">
  events: Pick<EventStore, "lastAt">
  /** What columnar segments take. */
  segments(): Promise<readonly SegmentUsage[]>
}

const FRESH_MS = 60_000

export function createLists({ catalog, clock, directory, stats, events, segments }: ListsOptions): ConsoleLists {
  const known = new Map<number, SiteFigures & { at: number }>()

  async function eventsOf(site: Site, period: "24h" | "30d"): Promise<number> {
    return (await stats.summary(site, { metrics: ["events"], period })).metrics.events ?? 0
  }
  async function figuresOf(id: number, own: readonly SegmentUsage[]): Promise<SiteFigures> {
    const site = directory.byId(id)
    return {
      // Nobody can ask for reports of a deleted site.
      events_24h: site ? await eventsOf(site, "24h") : 0,
      events_30d: site ? await eventsOf(site, "30d") : 0,
      bytes: own.reduce((sum, { bytes }) => sum + bytes, 0),
      last_event_at: events.lastAt(id) ?? null,
    }
  }

  return {
    organizations: () => inSlices((slice) => listOrganizationFacts(catalog, clock.now(), slice)),
    sites: () => inSlices((slice) => listSiteFacts(catalog, slice)),
    keys: () => inSlices((slice) => listKeyFacts(catalog, slice)),
    sessions: () => inSlices((slice) => listSessionFacts(catalog, clock.now(), slice)),
    invitations: () => inSlices((slice) => listOpenInvitations(catalog, clock.now(), slice)),
    async figures(siteIds) {
      const now = clock.now()
      const stale = siteIds.filter((id) => now - (known.get(id)?.at ?? Number.NEGATIVE_INFINITY) >= FRESH_MS)
      const bySite = stale.length === 0 ? new Map() : Map.groupBy(await segments(), ({ site_id }) => site_id)
      for (const id of stale) known.set(id, { ...(await figuresOf(id, bySite.get(id) ?? [])), at: now })
      return new Map(siteIds.flatMap((id) => (known.has(id) ? [[id, known.get(id)!] as const] : [])))
    },
  }
}
