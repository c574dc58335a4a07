import type { EngagementColumns, PropColumns, RevenueColumns, VitalColumns } from "../part.ts"
import { GrowingFloat64, GrowingUint32, growingColumns, type RowRuns, unmarkedRows } from "./growing.ts"
import { type TailEvent, VITAL_NAMES } from "./rows.ts"

type SparseEvent = Pick<TailEvent, "props" | "revenue" | "engagement" | "vitals">

/** The optional parts of a tail's events. Each kind has columns of its own, with the row of the event. */
export class SparseTail {
  readonly #props = growingColumns(["row", "key", "value"])
  readonly #revenue = { row: new GrowingUint32(), amount: new GrowingFloat64(), currency: new GrowingUint32() }
  readonly #engagement = growingColumns(["row", "engaged", "scroll"])
  readonly #vitals = growingColumns(["row", ...VITAL_NAMES])

  add(row: number, { props, revenue, engagement, vitals }: SparseEvent): void {
    for (let index = 0; index < props.length; index += 2) {
      this.#props.row.push(row)
      this.#props.key.push(props[index]!)
      this.#props.value.push(props[index + 1]!)
    }
    if (revenue) {
      this.#revenue.row.push(row)
      this.#revenue.amount.push(revenue.amount)
      this.#revenue.currency.push(revenue.currency)
    }
    if (engagement) {
      this.#engagement.row.push(row)
      this.#engagement.engaged.push(engagement.engaged)
      this.#engagement.scroll.push(engagement.scroll)
    }
    if (vitals) {
      this.#vitals.row.push(row)
      for (const [index, name] of VITAL_NAMES.entries()) this.#vitals[name].push(vitals[index]!)
    }
  }

  /** Takes the values of the remaining events of another tail. `newRows` maps each old row to its new row + 1, or to 0 if it is removed. */
  take(from: SparseTail, newRows: Uint32Array): void {
    takeRows(this.#props, from.#props, newRows)
    takeRows(this.#revenue, from.#revenue, newRows)
    takeRows(this.#engagement, from.#engagement, newRows)
    takeRows(this.#vitals, from.#vitals, newRows)
  }

  /** Frees the memory of all columns. */
  release(): void {
    for (const columns of [this.#props, this.#revenue, this.#engagement, this.#vitals])
      for (const column of Object.values(columns)) column.release()
  }

  /** Number of values, each of four bytes or eight. */
  get length(): number {
    return this.#props.row.length * 3 + this.#revenue.row.length * 4 + this.#engagement.row.length * 3 + this.#vitals.row.length * 6
  }

  /** Returns the optional parts of one event. */
  at(row: number): SparseEvent {
    return this.cursor(row).at(row)
  }

  /** Returns a cursor over the optional parts of events, from a row on. Rows must be requested in ascending order. */
  cursor(from = 0): { at(row: number): SparseEvent } {
    const [revenue, engagement, vitals] = [this.#revenue, this.#engagement, this.#vitals]
    const first = ({ row }: { row: GrowingUint32 }) => (from === 0 ? 0 : row.firstFrom(from))
    const next = { props: first(this.#props), revenue: first(revenue), engagement: first(engagement), vitals: first(vitals) }
    return {
      at: (row) => {
        next.props = skipTo(this.#props.row, next.props, row)
        next.revenue = skipTo(revenue.row, next.revenue, row)
        next.engagement = skipTo(engagement.row, next.engagement, row)
        next.vitals = skipTo(vitals.row, next.vitals, row)
        return {
          props: this.#propsFrom(next.props, row),
          revenue: revenue.row.has(next.revenue, row)
            ? { amount: revenue.amount.at(next.revenue), currency: revenue.currency.at(next.revenue) }
            : undefined,
          engagement: engagement.row.has(next.engagement, row)
            ? { engaged: engagement.engaged.at(next.engagement), scroll: engagement.scroll.at(next.engagement) }
            : undefined,
          vitals: vitals.row.has(next.vitals, row) ? VITAL_NAMES.map((name) => vitals[name].at(next.vitals)) : undefined,
        }
      },
    }
  }

  props(): PropColumns {
    const { row, key, value } = this.#props
    return { row: row.view(), key: key.view(), value: value.view() }
  }
  revenue(): RevenueColumns {
    const { row, amount, currency } = this.#revenue
    return { row: row.view(), amount: amount.view(), currency: currency.view() }
  }
  engagement(): EngagementColumns {
    const { row, engaged, scroll } = this.#engagement
    return { row: row.view(), engaged: engaged.view(), scroll: scroll.view() }
  }
  vitals(): VitalColumns {
    const { row, lcp, inp, fcp, ttfb, cls } = this.#vitals
    return { row: row.view(), lcp: lcp.view(), inp: inp.view(), fcp: fcp.view(), ttfb: ttfb.view(), cls: cls.view() }
  }

  #propsFrom(place: number, row: number): number[] {
    const props: number[] = []
    for (let at = place; this.#props.row.has(at, row); at++) props.push(this.#props.key.at(at), this.#props.value.at(at))
    return props
  }
}

type SparseColumns = { row: GrowingUint32 } & Record<string, GrowingUint32 | GrowingFloat64>

function takeRows(to: SparseColumns, from: SparseColumns, newRows: Uint32Array): void {
  const rows = from.row.view()
  const removed = new Uint8Array(rows.length)
  // Events that arrived after `newRows` was computed are added later.
  for (let place = 0; place < removed.length; place++) if (rows[place]! >= newRows.length || newRows[rows[place]!] === 0) removed[place] = 1
  const chosen = unmarkedRows(removed)
  for (const name of Object.keys(to)) takeColumn(to[name]!, from[name]!, chosen)
  for (let place = 0; place < to.row.length; place++) to.row.put(place, newRows[to.row.at(place)]! - 1)
}

function takeColumn(to: GrowingUint32 | GrowingFloat64, from: GrowingUint32 | GrowingFloat64, chosen: RowRuns): void {
  if (to instanceof GrowingUint32 && from instanceof GrowingUint32) to.take(from, chosen)
  else if (to instanceof GrowingFloat64 && from instanceof GrowingFloat64) to.take(from, chosen)
}

/** Returns the first position at or after `place` whose row is not before `row`. */
function skipTo(rows: GrowingUint32, place: number, row: number): number {
  let next = place
  while (next < rows.length && rows.at(next) < row) next++
  return next
}
