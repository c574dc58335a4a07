/** Sales of which several events are known: when one of them no longer counts, the order stays as the others report it. */
import { type SaleEvent, type SaleReader, type Site, sql } from "#plugin"
import type { RevenueHost } from "../host.ts"
import { claimOf } from "./folding.ts"
import { addEvent, deleteSale, eventsOf, recordSale } from "./sales.ts"
import type { TransactionRow } from "./transaction.ts"
import type { RevenueWriter } from "./writer.ts"
import type { Writing } from "./writing.ts"

/** Number of rows that one transaction of the writer changes. */
const SLICE = 250

type EventTest = (event: SaleEvent) => boolean

/**
 * Removes a report of a sale, and folds the sale events of the order again that are left: those that are shown, if there are any. The
 * transaction keeps its id, and is not announced again. Without any event it is deleted.
 */
export function refoldSale(
  writer: RevenueWriter,
  sales: Pick<SaleReader, "bySequence" | "visibleImports">,
  row: TransactionRow,
  isLeft: EventTest,
): void {
  const left = sales.bySequence(row.site_id, eventsOf(writer.book, row)).filter(isLeft)
  const { true: shown = [], false: hidden = [] } = Object.groupBy(left, (event) => `${isShown(sales, event)}` as const)
  const [counted, others] = shown.length > 0 ? [shown, hidden] : [hidden, []]
  deleteSale(writer, row.id)
  for (const event of counted) recordSale(writer, claimOf(event), row.id)
  for (const event of others) addEvent(writer, row.id, claimOf(event))
  if (counted.length > 0) writer.book.update(row.id, { is_announced: 1 })
}

/** Returns whether an event is the site's own or of an import that is shown. */
const isShown = (sales: Pick<SaleReader, "visibleImports">, { site_id, import_id }: SaleEvent): boolean =>
  import_id === 0 || sales.visibleImports(site_id).some(({ id }) => id === import_id)

/** Lets the orders of imports that are hidden be reported by imports that are shown. */
export function createVisibility({ sales, services }: RevenueHost, writing: Writing) {
  const waiting = new Set<number>()
  /** The imports that were shown when a site was last adjusted. */
  const shown = new Map<number, string>()
  sales.onNew((siteId) => void waiting.add(siteId))

  async function adjust(site: Site, signal: AbortSignal): Promise<void> {
    const key = sales
      .visibleImports(site.id)
      .map(({ id }) => id)
      .join()
    if (shown.get(site.id) === key) return
    for (let after: number | undefined = 0; after !== undefined; ) {
      if (signal.aborted) return
      after = await writing.writeInTurn(site, (writer) => adjustSlice(writer, after!))
      await Bun.sleep(0)
    }
    shown.set(site.id, key)
  }

  /** Adjusts the next rows with several events. Returns the id after which to continue. */
  function adjustSlice(writer: RevenueWriter, after: number): number | undefined {
    const found = writer.book.select(sql`site_id = ${writer.site.id} and import_id > 0 and type = 'sale' and id > ${after}
      and exists (select 1 from revenue_aliases where transaction_id = revenue_transactions.id and provider = 'event')
      order by id limit ${SLICE}`)
    for (const row of found) {
      const events = sales.bySequence(row.site_id, eventsOf(writer.book, row))
      const own = events.find(({ import_id }) => import_id === row.import_id)
      if ((own && isShown(sales, own)) || !events.some((event) => isShown(sales, event))) continue
      refoldSale(writer, sales, row, () => true)
    }
    return found.at(-1)?.id
  }

  return {
    /** Adjusts the sites whose imports may have changed. */
    async run(signal: AbortSignal): Promise<void> {
      for (const id of [...waiting]) {
        const site = services.sites.directory.byId(id)
        if (site) await adjust(site, signal)
        if (signal.aborted) return
        waiting.delete(id)
      }
    },
    /** Adjusts all sites whose imports have changed. */
    async catchUp(signal: AbortSignal): Promise<void> {
      for (const site of await services.allSites()) await adjust(site, signal)
    },
  }
}
export type Visibility = ReturnType<typeof createVisibility>
