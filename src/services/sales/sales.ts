/** The sale events of an instance: those of its only node, or those of all nodes on the server with the row tables of plugins. */
import type { SaleEvent } from "../../domain/sale.ts"
import type { Catalog } from "../../store/catalog/catalog.ts"
import type { EventStore } from "../../store/events/events.ts"
import type { VisitOfSale } from "../../store/events/part.ts"
import type { RowStatements } from "../../store/events/tables/row-tables.ts"
import { deleteSales, salesAfterPlace, salesInRows, salesOfVisits, storeSaleChanges, visitsOfSales } from "../../store/rows/sales.ts"

export interface StoredSales {
  /** Returns at most `limit` sale events of a site after a place, in storage order. */
  after(siteId: number, place: number, limit: number): Promise<SaleEvent[]>
  /** Returns sale events by sequence, as they are in a transaction on the row tables. Those that were removed are left out. */
  bySequence(rows: Pick<RowStatements, "all">, siteId: number, sequences: readonly number[]): SaleEvent[]
  /** Returns the sale events of visits, given by sequence. */
  byVisit(siteId: number, visits: readonly number[]): Promise<SaleEvent[]>
  /** Returns what a query for the visits of sale events has to be given: the visits on a server are not known to query workers. */
  toQuery(siteId: number, sequences: readonly number[]): Promise<{ sales: readonly number[] } | { found: readonly VisitOfSale[] }>
  /** Sends what has changed in the store of this node to the server. Does nothing without a server. */
  send(): Promise<void>
  /** Deletes the sale events of visits of all nodes on the server. Undefined without one. */
  deleteShared: ((siteId: number, visits: readonly number[]) => Promise<void>) | undefined
  /** Returns a store of this node whose removals end when the server has none of the removed sale events either. */
  following(store: EventStore): EventStore
}

/** Changes in one transaction of the server. */
const SLICE = 1_000

export function createSales(events: EventStore, server: Catalog | undefined): StoredSales {
  return server ? sharedSales(events, server) : ownSales(events)
}

const ownSales = (events: EventStore): StoredSales => ({
  after: async (siteId, place, limit) => events.salesAfter(siteId, place, limit),
  bySequence: (_, siteId, sequences) => events.salesBySequence(siteId, sequences),
  byVisit: async (siteId, visits) => events.salesByVisit(siteId, visits),
  toQuery: async (_, sales) => ({ sales }),
  send: async () => {},
  deleteShared: undefined,
  following: (store) => store,
})

function sharedSales(events: EventStore, server: Catalog): StoredSales {
  events.beginSaleChanges()
  let latest: Promise<void> = Promise.resolve()

  async function sendAll(): Promise<void> {
    for (let changes = events.saleChanges(SLICE); changes; changes = events.saleChanges(SLICE)) {
      await events.sync() // the server must not have what a power failure takes back
      await storeSaleChanges(server, changes)
      events.forgetSaleChanges(changes.last)
    }
  }

  /** In turn, because an earlier change would replace a later one. */
  function send(): Promise<void> {
    latest = latest.catch(() => {}).then(sendAll)
    return latest
  }

  async function afterSending<T>(read: () => Promise<T>): Promise<T> {
    await send()
    return read()
  }

  async function removed<T>(removal: Promise<T>): Promise<T> {
    const result = await removal
    await send()
    return result
  }

  return {
    after: (siteId, place, limit) => afterSending(() => salesAfterPlace(server, siteId, place, limit)),
    bySequence: salesInRows,
    byVisit: (siteId, visits) => afterSending(() => salesOfVisits(server, siteId, visits)),
    toQuery: async (siteId, sequences) => ({ found: await visitsOfSales(server, siteId, sequences) }),
    send,
    deleteShared: (siteId, visits) => deleteSales(server, siteId, visits),
    following: (store) => ({
      ...store,
      retain: (...args) => removed(store.retain(...args)),
      eraseSite: (...args) => removed(store.eraseSite(...args)),
      eraseVisits: (...args) => removed(store.eraseVisits(...args)),
      erasePerson: (...args) => removed(store.erasePerson(...args)),
      dropImport: (...args) => removed(store.dropImport(...args)),
    }),
  }
}
