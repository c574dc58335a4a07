import { expect, setDefaultTimeout, test } from "bun:test"
import { join } from "node:path"
import { catalogUrl, openCatalog } from "../../src/store/catalog/catalog.ts"
import { sql } from "../../src/store/sql.ts"
import { temporaryFolder } from "../kit.ts"
import { createInstance, footfall, serving } from "./footfall.ts"

// Each command starts a process, which is slow on a busy machine.
setDefaultTimeout(60_000)

test("the first user can see a site that was created before the set-up", async () => {
  using folder = temporaryFolder()
  const run = (words: string[], input?: string) =>
    footfall([...words, "--data-dir", folder.path], ...(input === undefined ? [] : [{ input }]))
  await createInstance(folder.path)
  expect((await run(["site", "create", "--name", "Shop", "--hosts", "shop.example"])).code).toBe(0)
  expect(JSON.parse((await run(["organization", "list", "--json"])).out)).toMatchObject([{ id: 1, name: "My organization" }])
  const setup = ["setup", "--email", "ada@example.org", "--name", "Ada", "--organization", "Acme", "--password-stdin"]
  expect(await run(setup, "correct horse battery staple\n")).toMatchObject({
    code: 0,
    out: "ada@example.org is an instance admin and the owner of Acme.\n",
  })
  expect(JSON.parse((await run(["organization", "list", "--json"])).out)).toMatchObject([{ id: 1, name: "Acme" }])
  await using server = await serving(folder.path)
  const headers = { "content-type": "application/json" }
  const body = JSON.stringify({ email: "ada@example.org", password: "correct horse battery staple" })
  const signedIn = await fetch(`${server.address}/api/private/auth/login`, { method: "POST", headers, body })
  const cookie = signedIn.headers
    .getSetCookie()
    .map((line) => line.split(";")[0])
    .join("; ")
  const me = (await (await fetch(`${server.address}/api/private/me`, { headers: { cookie } })).json()) as object
  expect(me).toMatchObject({ organizations: [{ id: 1, name: "Acme", role: "owner" }], sites: [{ id: 1, name: "Shop", role: "owner" }] })
  expect(await server.end("SIGTERM")).toBe(0)
})

test("creates organizations for a user, lists them and audits each write", async () => {
  using folder = temporaryFolder()
  const run = (words: string[], input?: string) =>
    footfall([...words, "--data-dir", folder.path], ...(input === undefined ? [] : [{ input }]))
  const owner = ["--owner", "ada@example.org"]
  await createInstance(folder.path)
  expect(await run(["organization", "create", "--name", "Acme", ...owner])).toMatchObject({
    code: 64,
    err: "footfall: There is no active user with the email address ada@example.org.\n",
  })
  const setup = ["setup", "--email", "ada@example.org", "--name", "Ada", "--organization", "First", "--password-stdin"]
  expect(await run(setup, "correct horse battery staple\n")).toMatchObject({ code: 0 })
  expect(await run(["organization", "create", "--name", "Acme", ...owner])).toMatchObject({
    code: 0,
    out: "Organization 2, Acme, was created. Owner: ada@example.org.\n",
  })
  expect(await run(["organization", "create", "--name", " ", ...owner])).toMatchObject({ code: 64 })
  const { out } = await run(["organization", "list", "--json"])
  expect(JSON.parse(out)).toMatchObject([
    { id: 1, name: "First" },
    { id: 2, name: "Acme" },
  ])
  expect((await run(["organization", "list"])).out.split("\n")[0]).toMatch(/^id {2}name/)

  const key = ["key", "create", "--name", "K", "--scopes", "stats:read", "--json"]
  expect(await run(key)).toMatchObject({
    code: 64,
    err: "footfall: The instance has several organizations. Choose one with --organization\n",
  })
  const made = JSON.parse((await run([...key, "--organization", "Acme"])).out)
  expect(made).toMatchObject({ organization_id: 2, site_ids: null, created_by: null })
  await run(["key", "rotate", String(made.id)])
  await run(["key", "revoke", String(made.id)])

  await using catalog = Object.assign(await openCatalog(catalogUrl(join(folder.path, "catalog.db"))), {
    [Symbol.asyncDispose]: () => catalog.close(),
  })
  const rows = await catalog.all(sql`select action, actor_kind, target_label, organization_id from audit_log order by id`)
  expect(rows.slice(1)).toEqual([
    { action: "accounts.organization.create", actor_kind: "cli", target_label: "Acme", organization_id: 2 },
    { action: "accounts.api_key.create", actor_kind: "cli", target_label: `K (${made.prefix})`, organization_id: 2 },
    { action: "accounts.api_key.rotate", actor_kind: "cli", target_label: `K (${made.prefix})`, organization_id: 2 },
    { action: "accounts.api_key.revoke", actor_kind: "cli", target_label: `K (${made.prefix})`, organization_id: 2 },
  ])
})
