import type { Database } from "bun:sqlite"
import type { NewSale } from "../../../domain/event.ts"
import { writeState } from "../tail/tails.ts"

/** A sale event to store. */
export interface SaleRow {
  siteId: number
  visitSequence: number
  /** Start of its visit. Only stored for imports. */
  visitAt?: number
  at: number
  name: string
  sale: NewSale
}

const INSERT = `insert into sale_events
  (sequence, site_id, visit_sequence, import_id, run, visit_at, at, amount_minor, currency, order_id, name, trust, repeated)
  values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`

/** Adds a sale to the table, in the transaction of the caller. Those of an import are hidden until `showSales`. */
export function insertSale(
  db: Database,
  sequence: number,
  { siteId, visitSequence, visitAt, at, name, sale }: SaleRow,
  { importId, run } = NATIVE,
): void {
  const { amount, currency, orderId, trust, isRepeated } = sale
  const order = orderId === "" ? null : orderId
  const place = importId === 0 ? sequence : -sequence
  const repeated = isRepeated ? 1 : 0
  const startedAt = importId === 0 ? null : (visitAt ?? null)
  db.query(INSERT).run(place, siteId, visitSequence, importId, run, startedAt, at, amount, currency, order, name, trust, repeated)
}

const NATIVE = { importId: 0, run: 0 }

/** Lets the sales of a visit in the table follow it to its new first event, in the transaction of that event. */
export function moveSales(db: Database, siteId: number, from: number, to: number): void {
  db.query("update sale_events set visit_sequence = ? where site_id = ? and visit_sequence = ?").run(to, siteId, from)
}

/** Number of sales from which on a group commit writes them into the table: about three milliseconds of work. */
const MAX_LOGGED = 500

/**
 * The sales that are only in the log and in memory. They are written into their table together, because each commit that adds one changes a
 * page of three trees. Readers of the table flush them first. The state `sales_floor` is the last record of the log whose sales are in
 * the table.
 */
export class LoggedSales {
  readonly #db: Database
  /** By sequence, in storage order. */
  readonly #sales = new Map<number, SaleRow>()

  constructor(db: Database) {
    this.#db = db
  }

  get isEmpty(): boolean {
    return this.#sales.size === 0
  }

  get isFull(): boolean {
    return this.#sales.size >= MAX_LOGGED
  }

  /** Adds a sale that the log has. */
  add(sequence: number, sale: SaleRow): void {
    this.#sales.set(sequence, sale)
  }

  /** Lets the sales of a visit follow it to its new first event, in the transaction of that event. */
  move(siteId: number, from: number, to: number): void {
    moveSales(this.#db, siteId, from, to)
    this.moveLogged(siteId, from, to)
  }

  /** The same at a replay, at which those in the table have moved already. */
  moveLogged(siteId: number, from: number, to: number): void {
    for (const sale of this.#sales.values()) if (sale.siteId === siteId && sale.visitSequence === from) sale.visitSequence = to
  }

  /** Writes all of them into the table, in the transaction of the caller. `lastRecord` is the last record of the log. */
  flush(lastRecord: number): void {
    if (this.isEmpty) return
    for (const [sequence, sale] of this.#sales) insertSale(this.#db, sequence, sale)
    this.#sales.clear()
    writeState(this.#db, "sales_floor", lastRecord)
  }
}
