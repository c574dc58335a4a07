import type { Actor } from "../../domain/audit.ts"
import type { Clock } from "../../domain/clock.ts"
import type { PrivatePage } from "../../domain/response.ts"
import type { Site } from "../../domain/site.ts"
import { ArgumentReader, refuseArguments } from "../../query/parse/arguments.ts"
import type { AuditFilters, AuditRow } from "../../store/catalog/audit.ts"
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
import type { SegmentUsage } from "../../store/events/tables/usage.ts"
import { AUDIT_PARAMETERS, type Audit, type AuditList, readAuditFilters } from "../audit/audit.ts"
import { inSlices, privatePage, readPaging } from "../lists/paging.ts"
import type { ShippedEvents } from "../shipping/clickhouse.ts"
import type { Stats } from "../stats/stats.ts"

/** Number of events and disk usage of a site. Instance admins are shown no other data of a site. */
export interface SiteFigures {
  events_24h: number
  events_30d: number
  bytes: number
  /** Epoch ms. */
  last_event_at: number | null
}

/** Lists over all organizations of the instance, by id ascending. */
export interface ConsoleLists {
  organizations(): Promise<OrganizationFacts[]>
  /** Lists the sites, including deleted ones until they are purged. */
  sites(): Promise<SiteFacts[]>
  keys(): Promise<KeyFacts[]>
  /** Lists the active sessions. */
  sessions(): Promise<SessionFacts[]>
  /** Lists the open invitations. */
  invitations(): Promise<OpenInvitation[]>
  /** Returns the figures of sites by id. They are computed from reports, one site after another, and cached for a minute. */
  figures(siteIds: readonly number[]): Promise<Map<number, SiteFigures>>
}

interface ListsOptions {
  catalog: Catalog
  clock: Pick<Clock, "now">
  directory: { byId(id: number): Site | undefined }
  stats: Pick<Stats, "summary">
  events: Pick<EventStore, "lastAt">
  /** The events of all nodes. Undefined when they are in the store. */
  shipped: Pick<ShippedEvents, "lastAt"> | undefined
  /** Returns the disk usage of columnar segments. */
  segments(): Promise<readonly SegmentUsage[]>
}

const FRESH_MS = 60_000

export function createLists({ catalog, clock, directory, stats, events, shipped, segments }: ListsOptions): ConsoleLists {
  const known = new Map<number, SiteFigures & { at: number }>()

  async function eventsOf(site: Site, period: "24h" | "30d"): Promise<number> {
    return (await stats.summary(site, { metrics: ["events"], period })).metrics.events ?? 0
  }
  async function figuresOf(id: number, own: readonly SegmentUsage[]): Promise<SiteFigures> {
    const site = directory.byId(id)
    return {
      // Deleted sites have no reports.
      events_24h: site ? await eventsOf(site, "24h") : 0,
      events_30d: site ? await eventsOf(site, "30d") : 0,
      bytes: own.reduce((sum, { bytes }) => sum + bytes, 0),
      last_event_at: (shipped ? await shipped.lastAt(id) : events.lastAt(id)) ?? null,
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

/** The audit log of the whole instance. */
export interface ConsoleAudit {
  /** Lists audit entries, the newest first. Throws `invalid_query`, `invalid_cursor`. */
  list(query: Record<string, unknown>): Promise<PrivatePage<AuditRow>>
  /** Exports all matching rows in parts, the newest first, after writing an audit entry about the export. Throws `invalid_query`. */
  open(actor: Actor, query: Record<string, unknown>): Promise<AsyncGenerator<AuditRow[]>>
  verify: Audit["verify"]
}

const PARAMETERS = [...AUDIT_PARAMETERS, "organization"] as const
const PART = 500

export function createConsoleAudit({ audit, auditList }: { audit: Audit; auditList: AuditList }): ConsoleAudit {
  async function* parts(filters: AuditFilters, from: number): AsyncGenerator<AuditRow[]> {
    for (let before = from; ; ) {
      const rows = await auditList.list(filters, before, PART)
      if (rows.length > 0) yield rows
      if (rows.length < PART) return
      before = rows.at(-1)!.id
    }
  }
  return {
    verify: audit.verify,
    async list(query) {
      const paging = readPaging("admin/audit", query, PARAMETERS, readFilters)
      return privatePage(
        paging,
        (limit) => auditList.list(paging.filters, paging.after, limit),
        () => auditList.count(paging.filters),
      )
    },
    async open(actor, query) {
      const reader = new ArgumentReader(query, PARAMETERS)
      const filters = readFilters(reader)
      refuseArguments(reader, "text")
      await audit.writeAlone(actor, {
        action: "admin.audit.export",
        target: { type: "instance", id: "audit", label: new URLSearchParams(texts(query)).toString() },
      })
      return parts(filters, Number.MAX_SAFE_INTEGER)
    },
  }
}

function readFilters(reader: ArgumentReader): AuditFilters {
  return { ...readAuditFilters(reader), organizationId: reader.integer("organization", { min: 1, max: Number.MAX_SAFE_INTEGER }) }
}

const texts = (query: Record<string, unknown>): Record<string, string> =>
  Object.fromEntries(Object.entries(query).map(([name, value]) => [name, String(value)]))
