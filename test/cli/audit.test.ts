import { expect, setDefaultTimeout, test } from "bun:test"
import { join } from "node:path"
import { catalogUrl, openCatalog } from "../../src/store/catalog/catalog.ts"
import { sql } from "../../src/store/sql.ts"
import { temporaryFolder } from "../kit.ts"
import { createInstance, footfall } from "./footfall.ts"

// Each command starts a process, which is slow on a busy machine.
setDefaultTimeout(120_000)

test("audits each write to sites and shields from the command line", async () => {
  using folder = temporaryFolder()
  const run = async (...words: string[]) => {
    const { code, err } = await footfall([...words, "--data-dir", folder.path])
    expect({ words, code, err }).toEqual({ words, code: 0, err: "" })
  }
  await createInstance(folder.path)
  await run("site", "create", "--name", "Shop", "--hosts", "shop.example")
  await run("site", "set", "1", "--name", "Store")
  await run("shield", "add", "--kind", "country", "--value", "DE")
  await run("shield", "set", "1", "--enabled", "off")
  await run("shield", "remove", "1")
  await run("shield", "add", "--kind", "page", "--value", "/admin*", "--site", "1")
  await run("shield", "set", "1", "--enabled", "off", "--site", "1")
  await run("shield", "remove", "1", "--site", "1")
  await run("site", "delete", "1")

  await using catalog = Object.assign(await openCatalog(catalogUrl(join(folder.path, "catalog.db"))), {
    [Symbol.asyncDispose]: () => catalog.close(),
  })
  const rows = await catalog.all<Record<string, unknown>>(sql`
    select action, actor_kind, target_label, organization_id, site_id from audit_log order by id`)
  expect(rows.map(({ actor_kind }) => actor_kind)).toEqual(rows.map(() => "cli"))
  expect(rows.map((row) => [row.action, row.target_label, row.organization_id, row.site_id])).toEqual([
    // Created implicitly, because the first site can be created without an organization.
    ["accounts.organization.create", "My organization", 1, null],
    ["sites.site.create", "Shop", 1, 1],
    ["sites.site.update", "Store", 1, 1],
    ["sites.shield.create", "country DE", null, null],
    ["sites.shield.update", "country DE", null, null],
    ["sites.shield.delete", "country DE", null, null],
    ["sites.shield.create", "page /admin*", 1, 1],
    ["sites.shield.update", "page /admin*", 1, 1],
    ["sites.shield.delete", "page /admin*", 1, 1],
    ["sites.site.delete", "Store", 1, 1],
  ])
})
