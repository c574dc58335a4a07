/** Sales of which several events are known: when one of them no longer counts, the order stays as the others report it. */
import { type SaleEvent, type SaleReader, type Site, sql } from "#plugin"
import type { RevenueHost } from "../host.ts"
import { saleOf } from "./folding.ts"
import { addEvent, deleteSale, eventsOf, recordSale } from "./sales.ts"
import { COLUMNS, type TransactionRow } from "./transaction.ts"
import { type RevenueWriter, updateRow } from "./writer.ts"
import type { Writing } from "./writing.ts"

/** Number of rows that one transaction of the writer changes. */
const SLICE = 250

type EventTest = (event: SaleEvent) => boolean

/**
 * Removes a report of a sale, and folds the sale events of the order again that are left. The transaction keeps its id, and is not
 * announced again. Without any it is deleted.
 */
export function refoldSale(writer: RevenueWriter, sales: Pick<SaleReader, "bySequence">, row: TransactionRow, isLeft: EventTest): void {
  const events = sales.bySequence(row.site_id, eventsOf(writer.rows, row)).filter(isLeft)
  deleteSale(writer, row.id)
  for (const event of events) recordSale(writer, saleOf(event), row.id)
  if (events.length > 0) updateRow(writer, row.id, { is_announced: 1 })
}

/** Lets the orders of imports that are hidden be reported by imports that are shown. */
export function createVisibility({ sales, services }: RevenueHost, writing: Writing) {
  const waiting = new Set<number>()
  /** The imports that were shown when a site was last adjusted. */
  const shown = new Map<number, string>()
  sales.onNew((siteId) => void waiting.add(siteId))

  async function adjust(site: Site, signal: AbortSignal): Promise<void> {
    const visible = new Set(sales.visibleImports(site.id).map(({ id }) => id))
    const key = [...visible].join()
    if (shown.get(site.id) === key) return
    const isShown: EventTest = (event) => visible.has(event.import_id)
    for (let after: number | undefined = 0; after !== undefined; ) {
      if (signal.aborted) return
      after = await writing.writeInTurn(site, (writer) => adjustSlice(writer, after!, isShown))
      await Bun.sleep(0)
    }
    shown.set(site.id, key)
  }

  /** Adjusts the next rows with several events. Returns the id after which to continue. */
  function adjustSlice(writer: RevenueWriter, after: number, isShown: EventTest): number | undefined {
    const found = writer.rows.all<TransactionRow>(sql`select ${COLUMNS} from revenue_transactions
      where site_id = ${writer.site.id} and import_id > 0 and type = 'sale' and id > ${after}
        and exists (select 1 from revenue_aliases where transaction_id = revenue_transactions.id and provider = 'event')
      order by id limit ${SLICE}`)
    for (const row of found) {
      const events = sales.bySequence(row.site_id, eventsOf(writer.rows, row))
      const own = events.find(({ import_id }) => import_id === row.import_id)
      if ((own && isShown(own)) || !events.some(isShown)) continue
      refoldSale(writer, sales, row, isShown)
      for (const event of events) if (!isShown(event)) addEvent(writer, row.id, saleOf(event))
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
