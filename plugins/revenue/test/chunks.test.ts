import { expect, test } from "bun:test"
import { type RowStatements, sql, unpackRows } from "#plugin"
import { Book } from "../orders/book.ts"
import { claimOf, rowOf } from "../orders/claim.ts"
import { leftUnpacked, packTransactions, Unpacked } from "../packed/chunks.ts"
import { startShop } from "./kit.ts"

const ORDERS = 1_500
const NOW = 1_700_000_000_000
const numberer = (pseudonyms: readonly string[]) => pseudonyms.map((_, index) => index)

test("what reports read follows new, changed and deleted transactions, in few rows", async () => {
  await using shop = await startShop()
  const { events } = shop.instance.app.instance
  /** Runs a step of the writer, as `createWriting` does. */
  const step = (work: (book: Book) => void) =>
    events.rows((rows) => {
      const book = new Book(rows, 1)
      work(book)
      book.flush()
      packTransactions(rows, 1, book.unpacked, numberer, book)
      expect(packed(rows)).toEqual(stored(rows))
    })
  let sold = 0
  for (let size = 1; sold < ORDERS; size = (size * 7 + 3) % 150) {
    step((book) => {
      for (let i = 0; i < size; i++) book.insert(saleOf(sold++))
    })
    // Some of the sales before change: they are in pieces, in whole chunks, or in none because they were deleted.
    if (size % 4 === 0)
      step((book) => {
        for (let id = 1 + (size % 13); id <= sold; id += 97) {
          if (id % 5 === 0) book.delete(id)
          else book.update(id, { amount_minor: id + size })
        }
      })
  }
  const places = events.rows(({ all }) => all<{ chunk: number }>(sql`select chunk from revenue_chunks where site_id = 1 order by chunk`))
  const chunks = places.filter(({ chunk }) => chunk >= 0)
  expect(chunks.length).toBe(Math.floor(sold / 512) + (chunks.some(({ chunk }) => chunk === Math.floor(sold / 512)) ? 1 : 0))
  expect(places.length - chunks.length).toBeLessThanOrEqual(8)
})

test("what reports read follows transactions that are packed several steps later, also if they change before", async () => {
  await using shop = await startShop()
  const { events } = shop.instance.app.instance
  const unpacked = new Unpacked(1)
  let sold = 0
  for (let size = 1; sold < ORDERS; size = (size * 7 + 3) % 50) {
    events.rows((rows) => {
      const book = new Book(rows, 1)
      for (let i = 0; i < size; i++) book.insert(saleOf(sold++))
      if (size % 7 === 0) for (let id = Math.max(1, sold - 100); id <= sold; id += 23) book.update(id, { amount_minor: id + size })
      if (size % 9 === 0) book.delete(sold - 1)
      book.flush()
      unpacked.add(rows, book, numberer)
    })
    const isEnd = unpacked.size >= 60 && sold % 3 !== 0
    if (isEnd || unpacked.hasCompleteChunk) events.rows((rows) => unpacked.pack(rows, numberer, { isEnd }))
    if (unpacked.size === 0) expect(events.rows(packed)).toEqual(events.rows(stored))
    expect(allRead(events)).toEqual(events.rows(stored))
  }
})

test("whole chunks of many new transactions are packed at once, and what is left of them after a crash is known", async () => {
  await using shop = await startShop()
  const { events } = shop.instance.app.instance
  const unpacked = new Unpacked(1)
  for (let sold = 0; sold < ORDERS; ) {
    events.rows((rows) => {
      const book = new Book(rows, 1)
      for (let i = 0; i < 200; i++) book.insert(saleOf(sold++))
      book.flush()
      unpacked.add(rows, book, numberer)
    })
    if (unpacked.hasCompleteChunk) events.rows((rows) => unpacked.pack(rows, numberer, { isEnd: false }))
    expect(allRead(events)).toEqual(events.rows(stored))
  }
  const places = () => events.rows(({ all }) => all<{ chunk: number }>(sql`select chunk from revenue_chunks order by chunk`))
  expect(places()).toEqual([{ chunk: 0 }, { chunk: 1 }, { chunk: 2 }])
  expect(events.rows(({ get }) => get(sql`select from_id from revenue_unpacked`))).toEqual({ from_id: 1_536 })
  events.rows((rows) => unpacked.pack(rows, numberer, { isEnd: true }))
  expect(places()).toEqual([{ chunk: -1_537 }, { chunk: 0 }, { chunk: 1 }, { chunk: 2 }])
  expect(events.rows(packed)).toEqual(events.rows(stored))
})

test("transactions that an interruption has left unpacked are packed by the next run of the job", async () => {
  await using shop = await startShop()
  await shop.sell([{ at: "2026-11-26T10:00:00Z", order: "1", revenue: { amount: "3", currency: "EUR" } }])
  await shop.instance.rows((rows) => {
    const book = new Book(rows, 1)
    for (let number = 0; number < 3; number++) book.insert(attributed(number))
    book.flush()
    new Unpacked(1).add(rows, book, numberer)
    expect(packed(rows)).toHaveLength(1)
  })
  // Other transactions that are packed meanwhile do not hide what is left.
  await shop.instance.rows((rows) => {
    const book = new Book(rows, 1)
    book.insert(attributed(3))
    book.flush()
    const others = new Unpacked(1)
    others.add(rows, book, numberer)
    others.pack(rows, numberer, { isEnd: true })
    expect(packed(rows)).toHaveLength(2)
  })
  shop.instance.clock.advance(300_000)
  await shop.instance.runJobs()
  expect(await shop.instance.rows(packed)).toHaveLength(5)
  expect(await shop.instance.rows(packed)).toEqual(await shop.instance.rows(stored))
})

const saleOf = (number: number) => ({
  ...rowOf(
    claimOf({
      ...{
        sequence: number + 1,
        place: number + 1,
        site_id: 1,
        visit_sequence: number + 1,
        import_id: 0,
        import_at: NOW,
        at: NOW + number,
        amount_minor: 100,
      },
      ...{ currency: "EUR", order_id: `order-${number}`, name: "purchase", trust: "client", is_repeated: false },
    }),
    NOW,
  ),
  ...(number % 3 === 0 && { dims_json: JSON.stringify({ source: `source ${number % 7}`, event: "purchase" }), visit_started_at: 1 }),
})

/** A sale whose visit was looked up already, so that no later step changes it. */
const attributed = (number: number) => ({ ...saleOf(number), is_open: 0 })

type Row = [id: number, amount: number, source: string]

const packed = ({ all }: RowStatements): Row[] =>
  all<{ rows: Uint8Array }>(sql`select rows from revenue_chunks where site_id = 1`)
    .flatMap(({ rows }) => {
      const read = unpackRows(rows)
      const [amounts, { values, codes }] = [read.numbers("amount"), read.texts("source")]
      return Array.from(read.numbers("transaction_id"), (id, row): Row => [id, amounts[row]!, values[codes[row]!]!])
    })
    .sort(([a], [b]) => a - b)

/** Returns what is packed, and what the next run of the job would pack after a crash. */
const allRead = (events: { rows<T>(work: (rows: RowStatements) => T): T }): Row[] =>
  events.rows((rows) => {
    const left = new Set(leftUnpacked(rows, 1))
    return [...packed(rows), ...stored(rows).filter(([id]) => left.has(id))].sort(([a], [b]) => a - b)
  })

const stored = ({ all }: RowStatements): Row[] =>
  all<{ id: number; amount_minor: number; source: string | null }>(
    sql`select id, amount_minor, dims_json ->> 'source' as source from revenue_transactions where site_id = 1 order by id`,
  ).map(({ id, amount_minor, source }) => [id, amount_minor, source ?? ""])
