/** Orders of imports, which count as those events report them that are shown. */
import { type SaleEvent, type Site, sql, type VisibleImport } from "#plugin"
import type { RevenueHost } from "../host.ts"
import { settle } from "../orders/links.ts"
import { refoldSale, shownTest } from "../orders/removal.ts"
import { eventsOf } from "../orders/sales.ts"
import type { TransactionRow } from "../orders/transaction.ts"
import type { RevenueWriter } from "../orders/writer.ts"
import type { Folding } from "./folding.ts"
import type { Writing } from "./writing.ts"

/** Number of rows that one transaction of the writer changes. */
const SLICE = 250

/** Lets the orders of imports be as the events report them that are shown, whenever imports or their effective days change. */
export function createVisibility({ sales, services, rows }: RevenueHost, { writing, folding, changed }: VisibilityParts) {
  const waiting = new Set<number>()
  /**
   * The visible imports with which a site was last adjusted. Orders that changed while an import was hidden are adjusted again once it is
   * shown as before: that is another array.
   */
  const adjusted = new Map<number, readonly VisibleImport[]>()
  sales.onNew((siteId) => void waiting.add(siteId))

  async function adjust(site: Site, signal: AbortSignal): Promise<void> {
    const shown = sales.visibleImports(site.id)
    if (adjusted.get(site.id) === shown) return
    // Events that are still to be folded belong to orders that have to be adjusted afterwards.
    const isFolded = !(await folding.hasNew(site.id))
    for (const slice of [adjustSlice, settleSlice])
      for (let after: number | undefined = 0; after !== undefined; ) {
        if (signal.aborted) return
        after = await writing.writeInTurn(site, (writer) => slice(writer, after!))
        await rows.pause()
      }
    if (isFolded) adjusted.set(site.id, shown)
  }

  /** Adjusts the next rows with several events. Returns the id after which to continue. */
  function adjustSlice(writer: RevenueWriter, after: number): number | undefined {
    const { site, book } = writer
    const found = book.select(sql`site_id = ${site.id} and import_id > 0 and type = 'sale' and id > ${after}
      and exists (select 1 from revenue_aliases where transaction_id = revenue_transactions.id and provider = 'event')
      order by id limit ${SLICE}`)
    const isShown = shownTest(sales, site.id)
    for (const row of found) {
      const shown = writer.events(eventsOf(book, row)).filter(isShown)
      if (shown.length === 0 || isFoldOf(row, shown)) continue
      refoldSale(writer, sales, row, () => true)
      changed(site.id)
    }
    return found.at(-1)?.id
  }

  /** Sets the flags of the sales of the next imported refunds, which count only while they are shown. */
  function settleSlice(writer: RevenueWriter, after: number): number | undefined {
    const found = writer.book.select(sql`site_id = ${writer.site.id} and import_id > 0 and parent_id is not null and id > ${after}
      order by id limit ${SLICE}`)
    for (const saleId of new Set(found.map(({ parent_id }) => parent_id!))) settle(writer, saleId)
    return found.at(-1)?.id
  }

  return {
    /** Adjusts the sites whose imports may have changed. */
    async run(signal: AbortSignal): Promise<void> {
      for (const id of [...waiting]) {
        waiting.delete(id)
        const site = services.sites.directory.byId(id)
        if (!site) continue
        await adjust(site, signal).catch((error) => {
          waiting.add(id)
          throw error
        })
        if (signal.aborted) return void waiting.add(id)
      }
    },
    /** Adjusts all sites whose imports have changed. */
    async catchUp(signal: AbortSignal): Promise<void> {
      for (const site of await services.allSites()) await adjust(site, signal)
    },
  }
}
export type Visibility = ReturnType<typeof createVisibility>

interface VisibilityParts {
  writing: Writing
  folding: Pick<Folding, "hasNew">
  /** Called after a sale was adjusted, whose visit has to be looked up. */
  changed(siteId: number): void
}

/**
 * Returns whether an imported sale is as some events report it: it has the visit and amount of the first one, and the earliest time. One
 * whose person was erased keeps its amount, so that it is as it should be.
 */
const isFoldOf = ({ sale_sequence, occurred_at }: TransactionRow, events: readonly SaleEvent[]): boolean =>
  sale_sequence === null || (sale_sequence === events[0]!.sequence && occurred_at === Math.min(...events.map(({ at }) => at)))
