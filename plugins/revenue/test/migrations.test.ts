import { Database } from "bun:sqlite"
import { expect, test } from "bun:test"
import revenue from "../revenue.ts"

/** Applies the migrations of the transactions from one to another, both included. */
function migrate(db: Database, from: string, to: string): void {
  for (const { name, sql } of revenue.rowMigrations!) if (name >= from && name <= to) db.run(sql)
}

/** Opens tables as a version stored them whose sites each had a position of announced transactions. */
function openFormer(): Database {
  const db = new Database(":memory:")
  migrate(db, "0001_transactions", "0007_announced")
  return db
}

function insert(db: Database, siteIds: readonly number[]): void {
  const sql = `insert into revenue_transactions
    (site_id, provider, external_id, type, amount_minor, currency, trust, occurred_at, received_at)
    values (?, 'tracker', ?, 'sale', 100, 'EUR', 'client', 1, 1)`
  for (const [index, siteId] of siteIds.entries()) db.query(sql).run(siteId, `order:${index}`)
}

const unannounced = (db: Database): unknown[] =>
  db
    .query("select id from revenue_transactions where id > (select transaction_id from revenue_announced) and is_announced = 0")
    .values()
    .flat()

test("leaves the transactions to announce that were left at each site", () => {
  using db = openFormer()
  insert(db, [1, 2, 1, 2, 1, 3])
  db.run("insert into revenue_cursor (site_id, position, announced_id) values (1, 9, 5), (2, 9, 2)")
  migrate(db, "0008_announced_together", "9")
  expect(unannounced(db)).toEqual([4, 6])
})

test("leaves nothing to announce if everything was announced", () => {
  using db = openFormer()
  insert(db, [1, 2])
  db.run("insert into revenue_cursor (site_id, position, announced_id) values (1, 9, 2), (2, 9, 2)")
  migrate(db, "0008_announced_together", "9")
  expect(unannounced(db)).toEqual([])
  expect(db.query("select transaction_id from revenue_announced").values()).toEqual([[2]])
})

test("remembers no position without any transaction", () => {
  using db = openFormer()
  migrate(db, "0008_announced_together", "9")
  expect(db.query("select transaction_id from revenue_announced").values()).toEqual([])
})
