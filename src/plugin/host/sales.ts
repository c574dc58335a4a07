import type { VisibleImport } from "../../domain/imported.ts"
import type { LinkClick, SaleEvent, SaleVisit, Touch } from "../../domain/sale.ts"
import type { Site } from "../../domain/site.ts"
import type { Engine } from "../../query/engine/engine.ts"
import type { SaleVisitsQuery, VisitPlace } from "../../query/sales/sale-visits.ts"
import type { VisibleImports } from "../../services/imports/visible-imports.ts"
import type { StoredSales } from "../../services/sales/sales.ts"
import type { SiteKeys } from "../../services/sites/site-keys.ts"
import { siteFacts } from "../../services/stats/open-report.ts"
import type { EventStore } from "../../store/events/events.ts"
import type { RowStatements } from "../../store/events/tables/row-tables.ts"

/**
 * The sale events of all sites, native and imported, with their visits and what led to them. Read them by place and keep the position
 * in a row table, in the transaction of what is derived from them. A removed sale event is gone without notice: see the data hooks.
 */
export interface SaleReader {
  /**
   * Returns at most `limit` sale events of a site after a place, in storage order. Those of an import are last in that order when its
   * run is shown for the first time, and stay where they are when the import is hidden later.
   */
  after(siteId: number, place: number, limit: number): Promise<SaleEvent[]>
  /** Returns sale events by sequence as they are in a transaction on row tables. Those that were removed are left out. */
  bySequence(rows: Pick<RowStatements, "all">, siteId: number, sequences: readonly number[]): SaleEvent[]
  /** Returns the sale events of visits, given by sequence. */
  byVisit(siteId: number, visits: readonly number[]): Promise<SaleEvent[]>
  /** Returns whether `after` has sale events. */
  hasNew(siteId: number, place: number): Promise<boolean>
  /** Sets the function that is called soon after a site has new sale events. Calls may be missed at a stop. It must not throw. */
  onNew(listener: (siteId: number) => void): void
  /**
   * Returns the visits of sale events, by the event's sequence, as they are now, whether or not their import is shown. Visits that were
   * removed are left out. Ask for at most some thousand at once, near each other in time.
   */
  visits(site: Site, sequences: readonly number[], signal?: AbortSignal): Promise<Map<number, SaleVisit>>
  /** Returns visits by their own sequence, as `touches` names them. */
  visitsAt(site: Site, places: readonly VisitPlace[], signal?: AbortSignal): Promise<Map<number, SaleVisit>>
  /** Returns the imports of a site that are shown, with their effective days: the same array until they are changed. */
  visibleImports(siteId: number): readonly VisibleImport[]
  /**
   * Returns the visit starts of visitors and their clicks on short links in a half-open range, in one pass over the data. Both are by
   * visitor in the order of the query, then by time. Clicks of bots are left out.
   */
  touches(site: Site, query: TouchesOf, signal?: AbortSignal): Promise<{ touches: Touch[]; clicks: LinkClick[] }>
}

export interface TouchesOf {
  /** Pseudonyms of 16 hex digits. */
  visitors: readonly string[]
  /** Epoch ms. */
  from: number
  to: number
}

interface SaleReaderOptions {
  events: Pick<EventStore, "showSales" | "hasHiddenSales" | "onSales">
  storedSales: StoredSales
  imports: Pick<VisibleImports, "of">
  siteKeys: Pick<SiteKeys, "siteKey">
  engine: Pick<Engine, "saleVisits" | "touches">
  now(): number
}

/** The reader, and the function that announces that imports of a site were shown. */
interface Sales {
  reader: SaleReader
  announce(siteId: number): void
}

export function createSaleReader({ events, storedSales, imports, siteKeys, engine, now }: SaleReaderOptions): Sales {
  const listeners: ((siteId: number) => void)[] = []
  const announce = (siteId: number) => {
    for (const listener of listeners) listener(siteId)
  }
  events.onSales(announce)
  const callerOf = ({ organization_id: organizationId }: Site, signal?: AbortSignal) => ({ organizationId, ...(signal && { signal }) })
  const visitsOf = async (site: Site, of: SaleVisitsQuery["of"], signal?: AbortSignal) =>
    engine.saleVisits({ site: siteFacts(site, []), now: now(), siteKey: await siteKeys.siteKey(site.id), of }, callerOf(site, signal))
  return {
    announce,
    reader: {
      async after(siteId, place, limit) {
        await events.showSales(imports.of(siteId))
        return storedSales.after(siteId, place, limit)
      },
      bySequence: storedSales.bySequence,
      byVisit: storedSales.byVisit,
      hasNew: async (siteId, place) => events.hasHiddenSales(imports.of(siteId)) || (await storedSales.after(siteId, place, 1)).length > 0,
      onNew: (listener) => void listeners.push(listener),
      visibleImports: imports.of,
      visits: async (site, sequences, signal) => visitsOf(site, await storedSales.toQuery(site.id, sequences), signal),
      visitsAt: (site, visits, signal) => visitsOf(site, { visits }, signal),
      touches: async (site, { visitors, from, to }, signal) =>
        engine.touches(
          { site: siteFacts(site, []), siteKey: await siteKeys.siteKey(site.id), visitors, range: { from, to }, alongside: "clicks" },
          callerOf(site, signal),
        ),
    },
  }
}
