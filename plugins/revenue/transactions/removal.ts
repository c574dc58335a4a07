/** Sales of which several events are known: when one of them no longer counts, the order stays as the others report it. */
import { isVisible, type SaleEvent, type SaleReader, type Site, sql } from "#plugin"
import type { RevenueHost } from "../host.ts"
import { EVENT } from "./aliases.ts"
import { claimOf, type Folding } from "./folding.ts"
import { convertRow, relink, settle } from "./links.ts"
import { addEvent, deleteSale, eventsOf, frozenOf, movedTo, recordSale } from "./sales.ts"
import { NO_VISIT, type TransactionRow } from "./transaction.ts"
import type { RevenueWriter } from "./writer.ts"
import { letOthersPass, type Writing } from "./writing.ts"

/** Number of rows that one transaction of the writer changes. */
const SLICE = 250

type EventTest = (event: SaleEvent) => boolean

/**
 * Removes a report of a sale, and folds the sale events of the order again that are left: those that are shown, if there are any. The
 * transaction keeps its id, and its visit if that is still the first one, and is not announced again. Without any event it is deleted.
 */
export function refoldSale(
  writer: RevenueWriter,
  sales: Pick<SaleReader, "bySequence" | "visibleImports">,
  row: TransactionRow,
  isLeft: EventTest,
): void {
  const left = sales.bySequence(row.site_id, eventsOf(writer.book, row)).filter(isLeft)
  const isShown = shownTest(sales, row.site_id)
  const [shown, hidden] = [left.filter(isShown), left.filter((event) => !isShown(event))]
  const [counted, others] = shown.length > 0 ? [shown, hidden] : [hidden, []]
  deleteSale(writer, row.id)
  for (const event of counted) recordSale(writer, claimOf(event), row.id)
  for (const event of others) addEvent(writer, row.id, claimOf(event))
  if (counted.length === 0) return
  const isSameVisit = counted[0]!.sequence === row.sale_sequence
  const { occurred_at: at } = writer.book.byId(row.id)! // recorded above
  writer.book.update(row.id, { is_announced: 1, ...(isSameVisit && { ...frozenOf(row), ...movedTo(at, row) }) })
}

/**
 * Takes removed events from a sale that is known without them, and its visit if that was removed. Its amount stays, and its time is the
 * earliest that is left.
 */
export function forgetEvents(
  writer: RevenueWriter,
  sales: Pick<SaleReader, "bySequence">,
  row: TransactionRow,
  isRemoved: (visitSequence: number) => boolean,
): void {
  const { book } = writer
  const events = sales.bySequence(row.site_id, eventsOf(book, row))
  for (const { sequence, visit_sequence } of events) if (isRemoved(visit_sequence)) book.aliases.remove(EVENT, String(sequence))
  const left = events.filter(({ import_id, visit_sequence }) => import_id === 0 && !isRemoved(visit_sequence))
  const at = row.stated_at === null ? row.occurred_at : Math.min(row.stated_at, ...left.map((event) => event.at))
  const hasVisit = row.visit_sequence !== null && !isRemoved(row.visit_sequence)
  book.update(row.id, { ...movedTo(at, row), ...(!hasVisit && NO_VISIT) })
  if (at === row.occurred_at) return
  const moved = book.byId(row.id)! // updated above
  convertRow(writer, moved)
  relink(writer, moved)
}

/** Creates the test for events that are the site's own, or of an import that is shown on the day of their visit. */
function shownTest(sales: Pick<SaleReader, "visibleImports">, siteId: number): EventTest {
  const imports = sales.visibleImports(siteId)
  return ({ import_id, import_at }) => isVisible(imports, import_id, import_at)
}

/** Lets the orders of imports be as the events report them that are shown, whenever imports or their effective days change. */
export function createVisibility({ sales, services }: RevenueHost, { writing, folding, changed }: VisibilityParts) {
  const waiting = new Set<number>()
  /** What was shown when a site was last adjusted. */
  const adjusted = new Map<number, string>()
  sales.onNew((siteId) => void waiting.add(siteId))

  async function adjust(site: Site, signal: AbortSignal): Promise<void> {
    const shown = JSON.stringify(sales.visibleImports(site.id).map(({ id, run, spans }) => [id, run, spans]))
    if (adjusted.get(site.id) === shown) return
    // Events that are still to be folded belong to orders that have to be adjusted afterwards.
    const isFolded = !(await folding.hasNew(site.id))
    for (const slice of [adjustSlice, settleSlice])
      for (let after: number | undefined = 0; after !== undefined; ) {
        if (signal.aborted) return
        after = await writing.writeInTurn(site, (writer) => slice(writer, after!))
        await letOthersPass()
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
      const shown = sales.bySequence(site.id, eventsOf(book, row)).filter(isShown)
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
