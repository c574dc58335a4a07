import { Database } from "bun:sqlite"
import { expect, test } from "bun:test"
import { join } from "node:path"
import { type RowStatements, sql } from "#plugin"
import { Book } from "../orders/book.ts"
import { packTransactions } from "../packed/chunks.ts"
import { enter } from "./books.ts"
import { startShop } from "./kit.ts"

/** A plan that reads all transactions of a site: with each of some hundred slices, that made folding 100,000 sales take minutes. */
const READS_ALL = /(SCAN revenue_|revenue_\w+ USING (COVERING )?INDEX \w+ \(site_id=\?\)|revenue_\w+ USING PRIMARY KEY \(site_id=\?\))/

/** Returns the statements, which write down their texts. */
function noted(rows: RowStatements, texts: Set<string>): RowStatements {
  return {
    all(statement) {
      texts.add(statement.text)
      return rows.all(statement)
    },
    get(statement) {
      texts.add(statement.text)
      return rows.get(statement)
    },
    run(statement) {
      texts.add(statement.text)
      rows.run(statement)
    },
    runEach(text, lists) {
      texts.add(text)
      rows.runEach(text, lists)
    },
  }
}

function plansOf(dataDir: string, texts: Iterable<string>): string[] {
  using db = new Database(join(dataDir, "events.db"), { readonly: true })
  return Array.from(texts, (text) => {
    const details = db.query<{ detail: string }, []>(`explain query plan ${text}`).all()
    return `${details.map(({ detail }) => detail).join(", ")} for ${text}`
  })
}

test.each(["before", "after"])("the steps of the writer read what they change by an index, %s statistics exist", async (moment) => {
  await using shop = await startShop()
  const { events } = shop.instance.app.instance
  const ids = await enter(
    shop,
    Array.from({ length: 600 }, (_, i) => ({ at: "2026-11-20T10:00:00Z", amount: 100 + i, visitor: i % 50 })),
  )
  if (moment === "after") events.analyze()
  // Sales of orders whose own ID does not name them, which are found by their order.
  events.rows(({ run }) => run(sql`update revenue_transactions set order_id = 'order:' || id`))
  const texts = new Set<string>()
  const numberer = (pseudonyms: readonly string[]) => pseudonyms.map((_, index) => index)
  events.rows((rows) => {
    const statements = noted(rows, texts)
    const book = new Book(statements, 1)
    const names = Array.from({ length: 20 }, (_, i) => `order:${i}`)
    book.prefetch({
      keys: names.map((external_id) => ({ provider: "tracker", external_id, type: "sale" })),
      aliases: names.map((alias) => ({ provider: "order", alias })),
      orders: names,
      parentKeys: names,
    })
    book.load(ids.slice(0, 300))
    expect(book.linkedTo(ids[0]!)).toEqual([])
    for (const id of ids.slice(0, 10)) book.update(id, { amount_minor: 7, order_id: `order:${id}` })
    book.aliases.add({ provider: "order", alias: "other", external_id: "other", transaction_id: ids[0]! })
    book.aliases.move(ids[0]!, ids[1]!)
    book.delete(ids[11]!)
    book.flush()
    packTransactions(statements, 1, book.unpacked, numberer, book)
    expect(book.select(sql`id = ${ids[0]!}`)).toMatchObject([{ amount_minor: 7 }])
  })
  expect([...texts].filter((text) => text.includes("order_id in"))).toHaveLength(1)
  const plans = plansOf(shop.instance.dataDir, texts)
  // Whether the site has any rows of a kind is answered by the first one.
  expect(plans.filter((plan) => READS_ALL.test(plan) && !plan.includes("select 1 as one"))).toEqual([])
  expect(plans.length).toBeGreaterThan(12)
})
