import { decodeFloat64, decodeUint32 } from "./codec.ts"
import { type Column, type ColumnSource, columnNumber, columnRow, rowsOf, type StoredColumns, type WideColumn } from "./columns.ts"
import { addSteps } from "./event-codes.ts"
import { findItems, firstsOf, type ItemRows, MAX_ROWS } from "./items.ts"

/** The columns of a segment of format 1, which earlier versions have written: each by itself, or as a constant in the header. */
export class SingleColumns implements StoredColumns {
  readonly #source: ColumnSource

  constructor(source: ColumnSource) {
    this.#source = source
  }

  uint32(name: Column | "event.offset"): Uint32Array | undefined {
    if (name === "event.offset") return this.#offsets()
    const constant = this.#constant(name)
    if (constant === undefined) return decodeUint32(this.#bytes(name))
    return constant === 0 ? undefined : new Uint32Array(this.#rowsOf(name)).fill(constant)
  }

  float64(name: WideColumn): Float64Array {
    const constant = this.#constant(name)
    return constant === undefined ? decodeFloat64(this.#bytes(name)) : new Float64Array(this.#rowsOf(name)).fill(constant)
  }

  itemRows(): ItemRows {
    const columns = { name: this.#passing("event.name"), page: this.#passing("event.page"), visit: this.#passing("event.visit") }
    return findItems(columns, this.#source.visits)
  }

  lacks(): boolean {
    return false
  }

  /** Computes the offsets of events. Stored is the distance from the previous event of the visit, which is a smaller number. */
  #offsets(): Uint32Array {
    const steps = this.uint32("event.step") ?? new Uint32Array(this.#source.events)
    return addSteps(steps, firstsOf(this.#passing("event.visit"), this.#source.visits))
  }

  /** Returns a column of events that is read once, to compute something else. It is overwritten by the next call. */
  #passing(name: PassingColumn): Uint32Array {
    const known = this.#source.known(name)
    if (known) return known
    const { events } = this.#source
    passing[name] ??= new Uint32Array(MAX_ROWS)
    const constant = this.#constant(name)
    return constant === undefined ? decodeUint32(this.#bytes(name), passing[name]) : passing[name].subarray(0, events).fill(constant)
  }

  /** Returns the single value of a column without bytes, or undefined when it has bytes. */
  #constant(name: Column): number | undefined {
    const { stored = [], constants = {} } = this.#source.header
    return stored.includes(columnNumber(name)) ? undefined : (constants[name] ?? 0)
  }

  #bytes = (name: Column): Uint8Array => this.#source.bytes(columnRow(this.#source.id, name), name)

  #rowsOf = (name: Column): number => rowsOf(name, this.#source, this.#source.header)
}

type PassingColumn = "event.name" | "event.page" | "event.visit"
/** The buffers of such columns. New memory for each segment would take longer than decoding. */
const passing: Partial<Record<PassingColumn, Uint32Array>> = {}
