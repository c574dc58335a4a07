import { expect, test } from "bun:test"
import { join } from "node:path"
import { openInstance } from "../../../src/services/instance/instance.ts"
import { sql } from "../../../src/store/sql.ts"
import { libsqlServer } from "../../fakes/libsql-server.ts"
import { temporaryFolder } from "../../kit.ts"
import { optionsFor } from "../stores-kit.ts"

const NOTES = { name: "0001_notes", sql: "create table notes_lines (id integer primary key, text text not null) strict" }
const plugins = [{ id: "notes", title: "Notes", permissions: {}, migrations: [], rowMigrations: [NOTES], sealedSlugs: [] }]

/** A server for rows, and instances by the name of their folder. */
async function stage() {
  const folder = temporaryFolder()
  const server = await libsqlServer(join(folder.path, "rows"))
  return {
    server,
    open: (name: string, hasServer = true) =>
      openInstance(
        optionsFor(join(folder.path, name), { plugins, rowServer: hasServer ? { url: server.url, authToken: undefined } : undefined }),
      ),
    async [Symbol.asyncDispose]() {
      await server[Symbol.asyncDispose]()
      folder[Symbol.dispose]()
    },
  }
}

test("the row tables of plugins are migrated on the server, and their rows outlive a restart", async () => {
  await using at = await stage()
  const first = await at.open("one")
  await first.rowServer!.run(sql`insert into notes_lines (text) values ('kept')`)
  await first.close()
  const second = await at.open("one")
  expect(await second.rowServer!.all(sql`select id, text from notes_lines`)).toEqual([{ id: 1, text: "kept" }])
  expect(second.events.rows(({ all }) => all(sql`select id from notes_lines`))).toEqual([])
  await second.close()
})

test("an instance whose rows are on a server does not start without it", async () => {
  await using at = await stage()
  await (await at.open("one")).close()
  await expect(at.open("one", false)).rejects.toMatchObject({
    exit: "configuration",
    message: expect.stringContaining("FOOTFALL_ROWS_URL"),
  })
  await (await at.open("one")).close()
})

test("a database of another instance is refused, and an empty one in place of the own", async () => {
  await using at = await stage()
  await (await at.open("one")).close()
  await expect(at.open("two")).rejects.toMatchObject({ exit: "configuration", message: expect.stringContaining("another instance") })
  const one = await at.open("one")
  await one.rowServer!.run(sql`delete from owner`)
  await one.close()
  await expect(at.open("one")).rejects.toMatchObject({ exit: "damaged" })
})

test("rows in the event store are not left behind", async () => {
  await using at = await stage()
  const embedded = await at.open("one", false)
  embedded.events.rows(({ run }) => run(sql`insert into notes_lines (text) values ('local')`))
  await embedded.close()
  await expect(at.open("one")).rejects.toMatchObject({ exit: "configuration", message: expect.stringContaining("notes_lines") })
  await (await at.open("one", false)).close()
})
