/** `bun run new-plugin <id>` creates plugins/<id> with routes, a migration and a passing test, and adds it to the list of plugins. */
import { existsSync } from "node:fs"
import { mkdir } from "node:fs/promises"

const LIST = "plugins/index.ts"

/** Returns the files of a new plugin by their paths below its folder. `id` consists of lower-case letters and digits. */
export function newPlugin(id: string): Record<string, string> {
  const title = id[0]!.toUpperCase() + id.slice(1)
  const words = { id, title, table: `${id}_items`, path: `/api/private/sites/1/${id}` }
  return { [`${id}.ts`]: main(words), [`migrations/0001_${id}.sql`]: migration(words), [`test/${id}.test.ts`]: tests(words) }
}

/** Returns the list with the plugin added. Throws if the list has an unexpected form or already contains the plugin. */
export function withPlugin(list: string, id: string): string {
  const names = /\[([\w\s,]*)\]\s*$/.exec(list)?.[1]
  if (names === undefined) throw new Error(`${LIST} no longer contains the list of plugins.`)
  const all = names
    .split(",")
    .map((name) => name.trim())
    .filter((name) => name !== "")
  if (all.includes(id)) throw new Error(`${LIST} already contains ${id}.`)
  const lines = list.trimEnd().split("\n")
  const line = `import ${id} from "./${id}/${id}.ts"`
  // Imports are in alphabetical order.
  const later = lines.findIndex((other) => /^import \w+ from "\.\//.test(other) && other > line)
  lines.splice(later === -1 ? lines.findLastIndex((other) => other.startsWith("import ")) + 1 : later, 0, line)
  return `${lines.join("\n").replace(/\[[\w\s,]*\]\s*$/, `[${[...all, id].join(", ")}]`)}\n`
}

interface Words {
  id: string
  title: string
  table: string
  path: string
}

const main = ({ id, title, table }: Words): string => `/** Describe the purpose of the plugin in one sentence. */
import { type Static, Type as t } from "@sinclair/typebox"
import { definePlugin, field, type Host, inspect, NoQuery, operationsOf, refuseFaults, Sent, sql } from "#plugin"
import createTables from "./migrations/0001_${id}.sql" with { type: "text" }

const ItemInput = t.Object(
  { name: t.String({ minLength: 1, maxLength: 100, description: "Display name." }) },
  { additionalProperties: false },
)
const Item = t.Object({ id: field.id("Id of the item."), name: field.text("Display name.") })
type Item = Static<typeof Item>

const operation = operationsOf("${id}")

export default definePlugin({
  id: "${id}",
  title: "${title}",
  paths: { site: ["${id}"] },
  permissions: { "${id}:read": "viewer", "${id}:write": "editor" },
  migrations: [{ name: "0001_${id}", sql: createTables }],
  setup: (host) => ({ routes: [routesOf(host)], onSiteDelete: (siteId) => deleteItems(host, siteId) }),
})

const routesOf = ({ siteRouter, db, audit }: Host) =>
  siteRouter()
    .get("/${id}", async ({ site }) => ({ data: await listItems(db, site.id) }), {
      can: "${id}:read",
      query: NoQuery,
      response: { 200: t.Object({ data: t.Array(Item, { description: "Items of the site." }) }) },
      detail: operation("List items"),
    })
    .post(
      "/${id}",
      async ({ site, actor, body, status }) => {
        const { fields, faults } = inspect(ItemInput, body.value)
        refuseFaults(faults)
        const { name = "" } = fields
        const item = await db.transaction(async (statements) => {
          const created = (await statements.get<Item>(sql\`
            insert into ${table} (site_id, name) values (\${site.id}, \${name}) returning id, name\`))!
          const target = { type: "item", id: created.id, label: name }
          await audit.write(statements, actor, { action: "${id}.item.create", target, siteId: site.id, changes: { name: [null, name] } })
          return created
        })
        return status(201, item)
      },
      { can: "${id}:write", query: NoQuery, body: Sent, response: { 201: Item }, detail: operation("Create an item", ItemInput) },
    )

const listItems = (db: Host["db"], siteId: number): Promise<Item[]> =>
  db.all(sql\`select id, name from ${table} where site_id = \${siteId} order by id limit 1000\`)

/** Deletes in slices, because statements of the catalog must be short. Returns the number of deleted items. */
async function deleteItems({ db }: Host, siteId: number): Promise<{ items: number }> {
  const slice = sql\`select id from ${table} where site_id = \${siteId} limit 1000\`
  let items = 0
  for (let deleted = 1_000; deleted === 1_000; items += deleted)
    deleted = (await db.all(sql\`delete from ${table} where id in (\${slice}) returning id\`)).length
  return { items }
}
`

const migration = ({ table }: Words): string => `create table ${table} (
  id integer primary key autoincrement,
  site_id integer not null,
  name text not null
) strict;
create index ${table}_site_id on ${table} (site_id);
`

const tests = ({ id, path }: Words): string => `import { expect, test } from "bun:test"
import { startInstance } from "#plugin/test"
import ${id} from "../${id}.ts"

const path = "${path}"

test("lists a created item", async () => {
  await using instance = await startInstance({ plugins: [${id}] })
  const { api } = instance
  const editor = { cookie: await instance.signIn({ role: "editor" }) }
  expect(await api.post(path, { name: "first" }, undefined, editor)).toMatchObject({ status: 201, body: { id: 1, name: "first" } })
  expect(await api.get(path, undefined, editor)).toMatchObject({ status: 200, body: { data: [{ id: 1, name: "first" }] } })
})

test.each([
  ["without a session", undefined, { name: "first" }, 401, "session_required"],
  ["as a viewer", "viewer", { name: "first" }, 403, "forbidden"],
  ["without a name", "editor", {}, 422, "validation_failed"],
  ["with an unknown field", "editor", { name: "first", colour: 1 }, 422, "validation_failed"],
] as const)("rejects an item %s", async (_, role, body, status, code) => {
  await using instance = await startInstance({ plugins: [${id}] })
  await instance.signIn({ role: "owner" })
  const headers = role ? { cookie: await instance.signIn({ role }) } : {}
  expect(await instance.api.post(path, body, undefined, headers)).toMatchObject({ status, body: { code } })
})

test("deletes the items of a deleted site", async () => {
  await using instance = await startInstance({ plugins: [${id}] })
  const editor = { cookie: await instance.signIn({ role: "editor" }) }
  await instance.api.post(path, { name: "first" }, undefined, editor)
  expect(await instance.app.hooks.onSiteDelete(1)).toEqual({ ${id}_items: 1 })
})
`

if (import.meta.main) {
  const [id = ""] = Bun.argv.slice(2)
  if (!/^[a-z][a-z0-9]{1,30}$/.test(id)) refuse("Usage: bun run new-plugin <id>, where the id has 2 to 31 lower-case letters and digits")
  if (existsSync(`plugins/${id}`)) refuse(`plugins/${id} already exists`)
  for (const [name, text] of Object.entries(newPlugin(id))) {
    const path = `plugins/${id}/${name}`
    await mkdir(path.slice(0, path.lastIndexOf("/")), { recursive: true })
    await Bun.write(path, text)
    console.log(path)
  }
  await Bun.write(LIST, withPlugin(await Bun.file(LIST).text(), id))
  // Where a line is broken depends on the length of the name.
  const format = Bun.spawnSync([process.execPath, "x", "biome", "check", "--write", `plugins/${id}`, LIST])
  if (!format.success) refuse(format.stderr.toString())
  console.log(`${LIST}\n\nbun test plugins/${id}`)
}

function refuse(message: string): never {
  console.error(message)
  process.exit(64)
}
