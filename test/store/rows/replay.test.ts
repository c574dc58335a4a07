import { expect, test } from "bun:test"
import { join } from "node:path"
import { type Catalog, catalogUrl, openCatalog } from "../../../src/store/catalog/catalog.ts"
import type { RowStatements } from "../../../src/store/events/tables/row-tables.ts"
import { openRowServer } from "../../../src/store/rows/reader.ts"
import { replayed } from "../../../src/store/rows/replay.ts"
import { raw, sql } from "../../../src/store/sql.ts"
import { libsqlServer } from "../../fakes/libsql-server.ts"
import { temporaryFolder } from "../../kit.ts"

const CREATE = sql`create table notes (id integer primary key autoincrement, text text not null, bytes blob) strict`

/** A server with a table of notes, and the work on it. */
async function startRows() {
  const folder = temporaryFolder()
  const server = await libsqlServer(folder.path)
  const rows = await openRowServer({ url: server.url, authToken: undefined })
  await rows.run(CREATE)
  return {
    rows,
    server,
    write: <T>(work: (rows: RowStatements) => T): Promise<T> => rows.transaction((statements) => replayed(statements, work)),
    texts: async () => (await rows.all<{ text: string }>(sql`select text from notes order by id`)).map(({ text }) => text),
    async [Symbol.asyncDispose]() {
      await rows.close()
      await server[Symbol.asyncDispose]()
      folder[Symbol.dispose]()
    },
  }
}

const insert = (text: string) => sql`insert into notes (text) values (${text}) returning id`
const COUNT = sql`select count(*) as n from notes`

test("work reads what it has written before, and gets the results of its last run", async () => {
  await using stage = await startRows()
  let runs = 0
  const found = await stage.write(({ all, get, run, runEach }) => {
    runs++
    run(sql`insert into notes (text, bytes) values (${"a"}, ${Uint8Array.of(1, 255)})`)
    const first = get<{ n: number }>(COUNT)!.n
    runEach(
      "insert into notes (text) values (?)",
      ["b", "c"].map((text) => [text]),
    )
    const { id } = get<{ id: number }>(insert("d"))!
    run(sql`update notes set text = ${`last ${id}`} where id = ${id}`)
    return { first, rows: all(sql`select id, text, bytes from notes where id in (1, ${id})`) }
  })
  expect(found).toEqual({
    first: 1,
    rows: [
      { id: 1, text: "a", bytes: Uint8Array.of(1, 255) },
      { id: 4, text: "last 4", bytes: null },
    ],
  })
  expect(runs).toBe(4)
  expect(await stage.texts()).toEqual(["a", "b", "c", "last 4"])
})

test("work that throws stores nothing", async () => {
  await using stage = await startRows()
  const failing = stage.write(({ get, run }) => {
    run(insert("a"))
    if (get<{ n: number }>(COUNT)!.n === 1) throw new Error("refused")
  })
  await expect(failing).rejects.toThrow("refused")
  expect(await stage.texts()).toEqual([])
})

test("rows that the work has changed in memory do not return when it runs again", async () => {
  await using stage = await startRows()
  await stage.write(({ run }) => run(insert("a")))
  const result = await stage.write(({ all, get }) => {
    const rows = all<{ text: string }>(sql`select text from notes`)
    for (const row of rows) row.text += "!"
    return { rows, id: get<{ id: number }>(insert("b"))!.id }
  })
  expect(result).toEqual({ rows: [{ text: "a!" }], id: 2 })
  expect(await stage.texts()).toEqual(["a", "b"])
})

test("work that does something else when it runs again is refused, and stores nothing", async () => {
  await using stage = await startRows()
  let runs = 0
  const changing = stage.write(({ get, run }) => {
    run(insert(`run ${runs++}`))
    get(COUNT)
  })
  await expect(changing).rejects.toThrow("did not do the same again")
  const ending = stage.write(({ get, run }) => {
    if (runs++ > 2) return
    run(insert("a"))
    get(COUNT)
  })
  await expect(ending).rejects.toThrow("did not do the same again")
  expect(await stage.texts()).toEqual([])
})

test("transactions of one process follow each other", async () => {
  await using stage = await startRows()
  const add = () =>
    stage.write(({ get, run }) => {
      const { n } = get<{ n: number }>(COUNT)!
      run(insert(String(n)))
    })
  await Promise.all(Array.from({ length: 20 }, add))
  expect(await stage.texts()).toEqual(Array.from({ length: 20 }, (_, n) => String(n)))
})

test("the work of a transaction does the same on a file", async () => {
  using folder = temporaryFolder()
  const file: Catalog = await openCatalog(catalogUrl(join(folder.path, "rows.db")))
  await file.run(raw(CREATE.text))
  const id = await file.transaction((statements) => replayed(statements, ({ get }) => get<{ id: number }>(insert("a"))!.id))
  expect(id).toBe(1)
  await file.close()
})
