/** Sales of which several events are known: when one of them no longer counts, the order stays as the others report it. */
import { isVisible, type SaleEvent, type SaleReader } from "#plugin"
import { EVENT } from "./aliases.ts"
import { claimOf } from "./claim.ts"
import { convertRow, relink } from "./links.ts"
import { addEvent, deleteSale, eventsOf, frozenOf, movedTo, recordSale } from "./sales.ts"
import { hasLostVisit, NO_VISIT, type TransactionRow } from "./transaction.ts"
import type { RevenueWriter } from "./writer.ts"

type EventTest = (event: SaleEvent) => boolean

/**
 * Removes a report of a sale, and folds the sale events of the order again that are left: those that are shown, if there are any. The
 * transaction keeps its id, and its visit if that is still the first one, and is not announced again. Without any event it is deleted.
 */
export function refoldSale(writer: RevenueWriter, sales: Pick<SaleReader, "visibleImports">, row: TransactionRow, isLeft: EventTest): void {
  const left = writer.events(eventsOf(writer.book, row)).filter(isLeft)
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
export function forgetEvents(writer: RevenueWriter, row: TransactionRow, isRemoved: (visitSequence: number) => boolean): void {
  const { book } = writer
  const events = writer.events(eventsOf(book, row))
  for (const { sequence, visit_sequence } of events) if (isRemoved(visit_sequence)) book.aliases.remove(EVENT, String(sequence))
  const left = events.filter(({ import_id, visit_sequence }) => import_id === 0 && !isRemoved(visit_sequence))
  const at = row.stated_at === null ? row.occurred_at : Math.min(row.stated_at, ...left.map((event) => event.at))
  const hasVisit = hasLostVisit(row) || (row.visit_sequence !== null && !isRemoved(row.visit_sequence))
  book.update(row.id, { ...movedTo(at, row), ...(!hasVisit && NO_VISIT) })
  if (at === row.occurred_at) return
  const changed = book.byId(row.id)! // updated above
  convertRow(writer, changed)
  relink(writer, changed)
}

/** Creates the test for events that are the site's own, or of an import that is shown on the day of their visit. */
export function shownTest(sales: Pick<SaleReader, "visibleImports">, siteId: number): EventTest {
  const imports = sales.visibleImports(siteId)
  return ({ import_id, import_at }) => isVisible(imports, import_id, import_at)
}
