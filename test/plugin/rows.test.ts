import { expect, test } from "bun:test"
import { type Host, type Migration, sql } from "#plugin"
import { startInstance } from "#plugin/test"
import { notes } from "./notes.ts"

const VIEWS: Migration = {
  name: "0002_views",
  sql: "create table notes_views (site_id integer not null, day text not null, n integer not null, primary key (site_id, day)) strict, without rowid",
}

/** Starts an instance with a plugin that has row tables. Returns the plugin's host as well. */
async function withRows() {
  let host: Host | undefined
  const plugin = notes({ rowMigrations: [VIEWS] }, (given) => {
    host = given
    return {}
  })
  const instance = await startInstance({ plugins: [plugin] })
  const { rows } = host!
  const caller = { organizationId: 1 }
  return { instance, rows, caller, [Symbol.asyncDispose]: () => instance[Symbol.asyncDispose]() }
}

test("creates row tables in the event store, writes them through its writer and reads them in a query worker", async () => {
  await using world = await withRows()
  const { rows, caller } = world
  const made = await rows.write((statements) => {
    statements.run(sql`insert into notes_views (site_id, day, n) values (1, '2026-11-20', 2), (1, '2026-11-21', 3)`)
    return statements.get<{ n: number }>(sql`select sum(n) as n from notes_views`)
  })
  expect(made).toEqual({ n: 5 })
  expect(await rows.read(sql`select day, n from notes_views where site_id = ${1} and day >= ${"2026-11-21"}`, caller)).toEqual([
    { day: "2026-11-21", n: 3 },
  ])
})

test("many transactions in a row let the event loop run, and keep the order of their calls", async () => {
  await using world = await withRows()
  const { rows } = world
  let turns = 0
  let isOver = false
  const count = () => {
    turns++
    if (!isOver) setImmediate(count)
  }
  setImmediate(count)
  const order: number[] = []
  for (let n = 0; n < 2_000; n += 2) {
    const append = (number: number) =>
      rows.append(({ run }) => {
        run(sql`insert into notes_views (site_id, day, n) values (${number}, 'x', 1)`)
        order.push(number)
      })
    await Promise.all([append(n), append(n + 1)])
  }
  isOver = true
  expect(order).toEqual(Array.from({ length: 2_000 }, (_, n) => n))
  expect(turns).toBeGreaterThan(3)
})

test("a write is atomic", async () => {
  await using world = await withRows()
  const { rows, caller } = world
  const failing = () =>
    rows.write((statements) => {
      statements.run(sql`insert into notes_views (site_id, day, n) values (1, '2026-11-20', 2)`)
      throw new Error("made up")
    })
  await expect(failing()).rejects.toThrow("made up")
  expect(await rows.read(sql`select n from notes_views`, caller)).toEqual([])
})

test("a reader cannot write and reads at most 10,000 rows", async () => {
  await using world = await withRows()
  const { rows, caller } = world
  await expect(rows.read(sql`insert into notes_views (site_id, day, n) values (2, 'x', 1) returning n`, caller)).rejects.toThrow()
  const insert = (from: number, to: number) =>
    rows.write((statements) => {
      statements.run(sql`
        insert into notes_views (site_id, day, n)
        with recursive numbers (n) as (select ${from} union all select n + 1 from numbers where n < ${to}) select 1, n, n from numbers`)
    })
  await insert(1, 10_000)
  expect(await rows.read(sql`select n from notes_views`, caller)).toHaveLength(10_000)
  await insert(10_001, 10_001)
  const failure = await rows.read(sql`select n from notes_views`, caller).catch((error: Error) => error.message)
  expect(failure).toBe("A statement of the plugin notes reads more than 10000 rows: read slices")
})

test("collects events at the same time, and a backup contains the rows", async () => {
  await using world = await withRows()
  const { instance, rows } = world
  const both = await Promise.all([
    instance.collect({ n: "pageview", u: "https://shop.example/", d: "shop.example" }),
    rows.write((statements) => statements.run(sql`insert into notes_views (site_id, day, n) values (1, '2026-11-20', 2)`)),
  ])
  expect(both[0]).toMatchObject({ status: 202 })
  expect(await instance.app.instance.backups.create("manual")).toMatchObject({ rows: { events: { notes_views: 1 } } })
})
