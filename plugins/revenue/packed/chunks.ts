/**
 * The transactions as the report reads them: packed column by column, derived from `revenue_transactions` in the transaction that changes
 * it. The rows of 512 ids form a chunk. New ones are added to it as pieces, which are merged a few at a time, so that the chunk is not
 * written again for each of them.
 */
import { type KeptRows, type PackedColumns, type RowColumns, type RowStatements, repackRows, sql, unpackRows } from "#plugin"
import { Book } from "../orders/book.ts"
import type { TransactionRow } from "../orders/transaction.ts"
import { CREDIT_COLUMNS, ITEM_COLUMNS, type Numberer, type Packed, packedRowsOf } from "./packed.ts"

/** Transactions whose ids have the same number without these low bits share a chunk. */
const CHUNK_BITS = 9
const chunkOf = (id: number): number => Math.floor(id / 2 ** CHUNK_BITS)

/** Number of pieces that a chunk may have while it still grows. */
const MAX_PIECES = 16
/** The negative number of a piece, by the first of its ids. It is stored in place of that of a chunk. */
const pieceOf = (id: number): number => -1 - id
const chunkOfPiece = (piece: number): number => chunkOf(-1 - piece)

/**
 * Packs transactions of a site again that were inserted, changed or deleted, and those that are linked to them. Runs in the transaction of
 * the change, after it was written.
 */
export function packTransactions(
  rows: RowStatements,
  siteId: number,
  ids: Iterable<number>,
  numberer: Numberer,
  book = new Book(rows, siteId),
): void {
  const changed = [...ids]
  const former = changed.filter((id) => !book.isNew(id))
  // What is linked to a new row was changed as well.
  const packed = [...new Set([...changed, ...linkedTo(rows, siteId, former)])].sort((a, b) => a - b)
  book.load(packed)
  for (const [chunk, members] of Map.groupBy(packed, chunkOf)) {
    const added = packedRowsOf(sourcesOf(book, members), numberer)
    if (members.every((id) => book.isNew(id))) write(rows, siteId, pieceOf(members[0]!), { added })
    else merge(rows, siteId, chunk, { replaced: new Set(members), added })
  }
  if (former.length < changed.length) mergePieces(rows, siteId)
}

/**
 * Packs new transactions in a later step than the one that has written them, a whole chunk at a time if there are that many. Until then the
 * store remembers from which id on, so that none is left out after a crash.
 */
export class Unpacked {
  readonly #siteId: number
  readonly #rows = new Map<number, TransactionRow>()
  /** The last id that was written, and with it the chunk that can still grow. */
  #lastId = 0
  /** Whether the mark in the store is that of these rows. One that a crash has left stays until those rows are packed. */
  #isMarked = false

  constructor(siteId: number) {
    this.#siteId = siteId
  }

  get size(): number {
    return this.#rows.size
  }

  /** Takes what a book has written. Packs it at once if a transaction was changed that may be packed already. */
  add(rows: RowStatements, book: Book, numberer: Numberer): void {
    const ids = [...book.unpacked]
    if (!ids.every((id) => book.isNew(id))) {
      packTransactions(rows, this.#siteId, [...this.#rows.keys(), ...ids], numberer, book)
      this.#forget(rows)
      return
    }
    if (this.#rows.size === 0 && ids.length > 0) {
      const mark = sql`insert into revenue_unpacked (site_id, from_id) values (${this.#siteId}, ${ids[0]!})`
      this.#isMarked = rows.get(sql`${mark} on conflict do nothing returning site_id`) !== undefined
    }
    for (const id of ids) {
      const row = book.byId(id)
      if (row) this.#rows.set(id, row)
      this.#lastId = Math.max(this.#lastId, id)
    }
  }

  /** Whether it has all transactions of a chunk that will not grow. */
  get hasCompleteChunk(): boolean {
    const [first] = this.#rows.keys()
    return first !== undefined && chunkOf(first) < chunkOf(this.#lastId)
  }

  /** Packs the transactions of complete chunks, or all of them. The others stay marked. */
  pack(rows: RowStatements, numberer: Numberer, { isEnd }: { isEnd: boolean }): void {
    const book = new Book(rows, this.#siteId)
    book.adopt([...this.#rows.values()])
    const last = chunkOf(this.#lastId)
    const left: number[] = []
    for (const [chunk, members] of Map.groupBy(this.#rows.keys(), chunkOf)) {
      if (chunk === last && !isEnd) left.push(...members)
      else if (chunk === last) write(rows, this.#siteId, pieceOf(members[0]!), { added: this.#packed(book, members, numberer) })
      else merge(rows, this.#siteId, chunk, { replaced: NONE, added: this.#packed(book, members, numberer) })
    }
    if (isEnd) mergePieces(rows, this.#siteId)
    const leftRows = left.map((id) => [id, this.#rows.get(id)!] as const) // they are among its keys
    if (left.length === 0) this.#forget(rows)
    else if (this.#isMarked) rows.run(sql`update revenue_unpacked set from_id = ${left[0]!} where site_id = ${this.#siteId}`)
    this.#rows.clear()
    for (const [id, row] of leftRows) this.#rows.set(id, row)
  }

  #packed(book: Book, ids: readonly number[], numberer: Numberer): Packed {
    return packedRowsOf(sourcesOf(book, ids), numberer)
  }

  #forget(rows: RowStatements): void {
    this.#rows.clear()
    if (this.#isMarked) rows.run(sql`delete from revenue_unpacked where site_id = ${this.#siteId}`)
    this.#isMarked = false
  }
}

/** Returns the ids of the transactions of a site that a crash has left unpacked. */
export const leftUnpacked = (rows: RowStatements, siteId: number): number[] =>
  rows
    .all<{ id: number }>(sql`select id from revenue_transactions join revenue_unpacked using (site_id)
      where id >= from_id and site_id = ${siteId}`)
    .map(({ id }) => id)

/** The plus keeps the planner from reading all transactions of the site, of which it expects few. */
const linkedTo = (rows: RowStatements, siteId: number, ids: readonly number[]): number[] =>
  ids.length === 0
    ? []
    : rows
        .all<{ id: number }>(sql`select id from revenue_transactions
          where parent_id in (select value from json_each(${JSON.stringify(ids)})) and +site_id = ${siteId}`)
        .map(({ id }) => id)

/** Returns those of some transactions that exist, with their sales. */
function sourcesOf(book: Book, ids: readonly number[]) {
  const found = ids.flatMap((id) => book.byId(id) ?? [])
  book.load(found.flatMap(({ parent_id }) => parent_id ?? []))
  return found.map((own) => ({ own, sale: own.parent_id === null ? undefined : book.byId(own.parent_id) }))
}

/** Merges the pieces of chunks that no longer grow, and those of the last chunk if there are many. */
function mergePieces(rows: RowStatements, siteId: number): void {
  const byChunk = Map.groupBy(piecesBetween(rows, siteId, Number.MIN_SAFE_INTEGER, -1), chunkOfPiece)
  const [last] = byChunk.keys() // the later an id, the lower its piece
  for (const [chunk, { length }] of byChunk) if (chunk !== last || length > MAX_PIECES) merge(rows, siteId, chunk)
}

const piecesBetween = (rows: RowStatements, siteId: number, from: number, to: number): number[] =>
  rows
    .all<{ chunk: number }>(
      sql`select chunk from revenue_chunks where site_id = ${siteId} and chunk between ${from} and ${to} order by chunk`,
    )
    .map(({ chunk }) => chunk)

interface Change {
  /** Transactions whose packed rows are dropped. */
  replaced: ReadonlySet<number>
  added: Packed
}
const NONE: ReadonlySet<number> = new Set()
const NO_CHANGE: Change = { replaced: NONE, added: { credits: { count: 0, columns: {} }, items: { count: 0, columns: {} } } }

/** Replaces the packed rows of some transactions of a chunk, and makes the chunk one with its pieces. */
function merge(rows: RowStatements, siteId: number, chunk: number, { replaced, added } = NO_CHANGE): void {
  const [first, last] = [chunk * 2 ** CHUNK_BITS, (chunk + 1) * 2 ** CHUNK_BITS - 1]
  const before = [chunk, ...piecesBetween(rows, siteId, pieceOf(last), pieceOf(first))].flatMap((place) => take(rows, siteId, place) ?? [])
  write(rows, siteId, chunk, {
    kept: before.map((row) => keptOf(row.rows, replaced)),
    keptItems: before.flatMap(({ items }) => (items ? keptOf(items, replaced) : [])),
    added,
  })
}

interface Stored {
  rows: Uint8Array
  items: Uint8Array | null
}

/** Deletes a chunk or a piece, and returns it. */
const take = (rows: RowStatements, siteId: number, place: number): Stored | undefined =>
  rows.get<Stored>(sql`delete from revenue_chunks where site_id = ${siteId} and chunk = ${place} returning rows, items`)

function keptOf(bytes: Uint8Array, replaced: ReadonlySet<number>): KeptRows {
  const packed = unpackRows(bytes)
  const kept: number[] = []
  const ids = packed.numbers("transaction_id")
  for (let row = 0; row < ids.length; row++) if (!replaced.has(ids[row]!)) kept.push(row)
  return { packed, kept }
}

interface Written {
  kept?: readonly KeptRows[]
  keptItems?: readonly KeptRows[]
  added: Packed
}

/** Writes a chunk or a piece, unless it has no rows. */
function write(rows: RowStatements, siteId: number, place: number, { kept = [], keptItems = [], added }: Written): void {
  const credits = packedUnlessEmpty(kept, added.credits, CREDIT_COLUMNS)
  if (!credits) return
  const items = packedUnlessEmpty(keptItems, added.items, ITEM_COLUMNS)
  const { at, saleAt, currencies } = kept.length === 0 ? factsOfAdded(added.credits) : factsOfPacked(credits)
  rows.run(sql`insert into revenue_chunks (site_id, chunk, min_at, max_at, min_sale_at, max_sale_at, currencies, rows, items)
    values (${siteId}, ${place}, ${at.min}, ${at.max}, ${saleAt.min}, ${saleAt.max}, ${currencies}, ${credits}, ${items ?? null})`)
}

/** What selects the chunks of a report: the times of their rows and of the sales, and their currencies. */
interface Facts {
  at: Span
  saleAt: Span
  currencies: string
}

function factsOfPacked(credits: Uint8Array): Facts {
  const read = unpackRows(credits)
  const currencies = read.texts("currency").values.toSorted().join(" ")
  return { at: spanOf(read.numbers("at")), saleAt: spanOf(read.numbers("sale_at")), currencies }
}

/** The same of rows that are not packed yet. */
function factsOfAdded({ columns }: RowColumns): Facts {
  const times = (column: string) => spanOf(columns[column] as readonly number[]) // a column of numbers
  return { at: times("at"), saleAt: times("sale_at"), currencies: [...new Set(columns.currency)].toSorted().join(" ") }
}

const packedUnlessEmpty = (kept: readonly KeptRows[], added: RowColumns, columns: PackedColumns): Uint8Array | undefined =>
  added.count > 0 || kept.some((one) => one.kept.length > 0) ? repackRows(kept, added, columns) : undefined

interface Span {
  min: number
  max: number
}

function spanOf(values: Iterable<number>): Span {
  let [min, max] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY]
  for (const value of values) {
    if (value < min) min = value
    if (value > max) max = value
  }
  return { min, max }
}
