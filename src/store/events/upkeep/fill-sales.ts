import type { Database } from "bun:sqlite"
import type { DictionaryName } from "../../../domain/dimension.ts"
import { DEFAULT_SETTINGS } from "../../../domain/site.ts"
import { kindOfLane } from "../bytes/lanes.ts"
import { ColumnCache } from "../cache.ts"
import { numberOf, OTHER, propertyDictionary, textOf } from "../dictionary/texts.ts"
import type { Journal } from "../journal.ts"
import { saveCounters } from "../memory.ts"
import type { Part } from "../part.ts"
import { listSegmentsAfter, Segment } from "../segment.ts"
import { insertSale, type SaleRow } from "../tables/sale-rows.ts"

/** The last segment whose sales are stored, while the sales of a store of an earlier version are being read. */
const PROGRESS = "sales_fill"

/** A segment is read once. */
const CACHE_BYTES = 1 << 20

/**
 * Stores the sales of a store that an earlier version wrote, segment by segment and then those of the tail. Runs before anything else
 * changes the store. If it is interrupted, it continues with the next segment when the store is opened again.
 */
export function fillSales(journal: Journal): void {
  const { db, memory } = journal
  const state = db.query<{ value: number }, [string]>("select value from state where key = ?").get(PROGRESS)
  if (!state) return
  const add = (part: Part, { run }: { run: number }) => {
    for (const sale of salesOf(journal, part)) insertSale(db, memory.sequence++, sale, { importId: part.importId, run })
    saveCounters(memory)
  }
  for (let last = state.value; ; ) {
    const [row] = listSegmentsAfter(db, last, 1)
    if (!row) break
    const segment = new Segment(row, db, new ColumnCache(CACHE_BYTES, false))
    last = row.id
    journal.change(() => {
      add(segment, segment)
      db.query("update state set value = ? where key = ?").run(last, PROGRESS)
    }, true)
  }
  journal.change(() => {
    for (const tail of memory.tails.all()) if (kindOfLane(tail.siteId) === "visits") add(tail, { run: 0 })
    db.query("delete from state where key = ?").run(PROGRESS)
  })
}

/** Yields the events of a part that have revenue. Who sent them and which were repeated is not known any more. */
function* salesOf({ db }: Journal, part: Part): IterableIterator<SaleRow> {
  const { row, amount, currency } = part.revenue()
  if (row.length === 0) return
  const { siteId } = part
  const text = (name: DictionaryName, id: number) => textOf(db, siteId, name, id)
  const orders = ordersOf(db, part, text)
  const [visits, offsets, names] = [part.event("visit"), part.event("offset"), part.event("name")]
  const [starts, sequences] = [part.starts(), part.sequences()]
  for (let place = 0; place < row.length; place++) {
    const event = row[place]!
    const visit = visits[event]!
    const money = { amount: amount[place]!, currency: text("currency", currency[place]!) }
    yield {
      siteId,
      visitSequence: sequences[visit]!,
      visitAt: starts[visit]!,
      at: starts[visit]! + offsets[event]!,
      name: text("name", names[event]!),
      sale: { ...money, orderId: orders.get(event) ?? "", trust: "client", isRepeated: false },
    }
  }
}

/** Returns the order ids by event row. Sites had no other property for them. Order ids over the limit of values are unknown. */
function ordersOf(db: Database, part: Part, text: (name: DictionaryName, id: number) => string): Map<number, string> {
  const orders = new Map<number, string>()
  const property = numberOf(db, part.siteId, "property", DEFAULT_SETTINGS.order_property)
  if (property === undefined) return orders
  const { row, key, value } = part.props()
  const sold = new Set(part.revenue().row)
  for (let place = 0; place < row.length; place++) {
    if (key[place] !== property || !sold.has(row[place]!)) continue
    const order = text(propertyDictionary(property), value[place]!)
    if (order !== OTHER) orders.set(row[place]!, order)
  }
  return orders
}
