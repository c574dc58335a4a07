import { expect, test } from "bun:test"
import { definePlugin } from "#plugin"
import { footfall, startInstance } from "#plugin/test"
import { plugins } from "../../plugins/index.ts"
import { CORE_TABLES, CORE_WORDS } from "../../src/plugin/words.ts"
import { sql } from "../../src/store/sql.ts"

test("the reserved path words are those of the core's routes", async () => {
  await using instance = await startInstance({ plugins: [] })
  const cookie = await instance.signIn({ role: "owner", isInstanceAdmin: true })
  const pathsOf = async (address: string) => {
    const { body } = await instance.api.get(address, undefined, { cookie })
    return Object.keys((body as { paths: object }).paths).map((path) => path.split("/").slice(1))
  }
  const own = await pathsOf("/api/private/openapi.json")
  const ofSites = own.filter(([, , first]) => first === "sites").flatMap(([, , , , word]) => word ?? [])
  const instanceSetting = own.map(([, , word]) => word!)
  expect([...new Set(ofSites)].filter((word) => !CORE_WORDS.site.includes(word))).toEqual([])
  expect([...new Set(instanceSetting)].filter((word) => !CORE_WORDS.instance.includes(word))).toEqual([])
  const open = (await pathsOf("/api/public/v1/openapi.json")).map((parts) => parts.slice(0, 2).join("/"))
  expect([...new Set(open)].filter((path) => !CORE_WORDS.open.includes(path))).toEqual([])
})

test("the reserved table names are those of both stores", async () => {
  await using instance = await startInstance({ plugins: [] })
  const { catalog } = instance.app.instance
  const tables = await catalog.all<{ name: string }>(sql`select name from sqlite_schema where type = 'table' and name not like 'sqlite_%'`)
  expect(tables.map(({ name }) => name).filter((name) => !CORE_TABLES.includes(name))).toEqual([])
})

test("the reserved command words are those of the core's commands", async () => {
  const { out } = await footfall(["help"])
  const words = [...out.matchAll(/^ {2}([a-z]+)/gm)].map(([, word]) => word!)
  const ofPlugins = plugins.flatMap(({ commands = [] }) => commands.map(({ name }) => name.split(" ")[0]!))
  expect([...new Set(words)].filter((word) => !CORE_WORDS.command.includes(word) && !ofPlugins.includes(word))).toEqual([])
}, 60_000)

test("every route has a summary", async () => {
  const plugin = definePlugin({
    id: "other",
    title: "Other",
    paths: { site: ["x"] },
    setup: (host) => ({ routes: [host.siteRouter().get("/x", () => 1, { can: "site:read" })] }),
  })
  expect(await startInstance({ plugins: [plugin] }).catch((error: unknown) => error)).toMatchObject({
    exit: "configuration",
    message: "The plugin other: GET /api/private/sites/:site/x has no summary for the OpenAPI document",
  })
})
