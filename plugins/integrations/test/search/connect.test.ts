import { expect, test } from "bun:test"
import { sql } from "#plugin"
import { desk } from "./kit.ts"

const KINDS = ["search-console", "google-analytics"]

test("connects an account on Google's page and lists its properties, the best for the site first", async () => {
  await using world = await desk()
  expect(await world.connect()).toBe("/sites/1/integrations?result=connected")
  const { body } = await world.ask("GET", "/integrations")
  expect(body.data).toEqual([
    expect.objectContaining({
      kind: "search-console",
      category: "search",
      scope: "organization",
      status: "ok",
      connected: true,
      account_label: "ann@example.org",
      connection_id: 1,
      can_manage: true,
    }),
  ])
  world.console.properties = [
    { siteUrl: "https://other.example/", permissionLevel: "siteOwner" },
    { siteUrl: "https://shop.example/", permissionLevel: "siteFullUser" },
    { siteUrl: "sc-domain:shop.example", permissionLevel: "siteOwner" },
  ]
  const properties = await world.ask("GET", "/integrations/search-console/properties")
  expect(properties.body.data).toEqual([
    {
      integration_id: 1,
      connection_id: 1,
      property: "sc-domain:shop.example",
      label: "sc-domain:shop.example",
      permission: "siteOwner",
      suggested: true,
    },
    {
      integration_id: 1,
      connection_id: 1,
      property: "https://shop.example/",
      label: "https://shop.example/",
      permission: "siteFullUser",
      suggested: false,
    },
    {
      integration_id: 1,
      connection_id: 1,
      property: "https://other.example/",
      label: "https://other.example/",
      permission: "siteOwner",
      suggested: false,
    },
  ])
})

test("refuses a state that was used, has expired, or belongs to another session, and stores nothing", async () => {
  await using world = await desk()
  const begin = async () => {
    const { body } = await world.ask("POST", "/integrations/search-console/connect", { return_to: "/sites/1/integrations?tab=search" })
    return world.google.consent(body.authorize_url)
  }
  const refused = async (url: URL, cookie?: string) => {
    const answer = await world.visit(url, cookie)
    return [answer.status, ((await answer.json()) as { code: string }).code]
  }
  const [foreign, late, twice] = [await begin(), await begin(), await begin()]
  const other = await world.instance.signIn({ role: "owner" })
  expect(await refused(foreign, other)).toEqual([400, "invalid_oauth_state"])
  // The attempt of the other session did not use it up.
  expect((await world.visit(foreign)).headers.get("location")).toBe("/sites/1/integrations?tab=search&result=connected")
  const answers = await Promise.all([world.visit(twice), world.visit(twice), world.visit(twice)])
  expect(answers.map(({ status }) => status).sort()).toEqual([303, 400, 400])
  expect(await refused(twice)).toEqual([400, "invalid_oauth_state"])
  world.instance.clock.advance(600_000)
  expect(await refused(late)).toEqual([400, "invalid_oauth_state"])
  const made = new URL(late)
  made.searchParams.set("state", "made up")
  expect(await refused(made)).toEqual([400, "invalid_oauth_state"])
  made.searchParams.delete("state")
  expect(await refused(made)).toEqual([400, "invalid_oauth_state"])
  const { catalog } = world.instance.app.instance
  expect(await catalog.get(sql`select count(*) as n from connections`)).toEqual({ n: 1 })
  // The job deletes expired requests with their secrets; those that were used have none.
  world.instance.clock.advance(3_600_000)
  await world.work()
  expect(await catalog.get(sql`select count(*) as n from integrations_oauth_states`)).toEqual({ n: 0 })
  expect(await catalog.get(sql`select count(*) as n from secrets where place_table = 'integrations_oauth_states'`)).toEqual({ n: 0 })
})

test("returns with the result when access is denied, a scope is missing or the provider fails", async () => {
  await using world = await desk()
  world.google.scenario = "denied"
  expect(await world.connect()).toBe("/sites/1/integrations?result=denied")
  world.google.scenario = "500"
  expect(await world.connect()).toBe("/sites/1/integrations?result=failed")
  world.google.scenario = "ok"
  world.google.account = { sub: "1002", email: "bob@example.org" }
  world.google.droppedScopes.add("https://www.googleapis.com/auth/webmasters.readonly")
  expect(await world.connect()).toBe("/sites/1/integrations?result=scope_not_granted")
  expect([world.google.revoked.length, (await world.ask("GET", "/integrations")).body.data]).toEqual([1, []])
})

test("checks the permission again when the browser returns", async () => {
  await using world = await desk()
  const { body } = await world.ask("POST", "/integrations/search-console/connect", {})
  const back = await world.google.consent(body.authorize_url)
  await world.instance.app.instance.catalog.run(sql`update memberships set role = 'editor'`)
  const answer = await world.visit(back)
  expect([answer.status, ((await answer.json()) as { code: string }).code]).toEqual([403, "forbidden"])
  expect(await world.instance.app.instance.connections.list(1)).toEqual([])
})

test("keeps the browser on this instance", async () => {
  await using world = await desk()
  const invalid = [
    "https://evil.example/",
    "//evil.example",
    "/\\evil.example",
    "/\t/evil.example",
    "sites",
    "javascript:alert(1)",
    "/a\nb",
  ]
  for (const return_to of invalid) {
    const { status, body } = await world.ask("POST", "/integrations/search-console/connect", { return_to })
    expect([return_to, status, body.errors?.[0]?.pointer]).toEqual([return_to, 422, "/return_to"])
  }
})

test("lets a site admin map, but not connect, and gives viewers nothing", async () => {
  await using world = await desk()
  await world.connect()
  const siteAdmin = await world.as({ siteRole: "admin", role: "viewer" })
  expect((await siteAdmin("POST", "/integrations/search-console/connect", {})).body.code).toBe("forbidden")
  const { body } = await siteAdmin("GET", "/integrations/search-console/properties")
  const [{ integration_id, property }] = body.data
  expect((await siteAdmin("PUT", "/integrations/search-console/mapping", { integration_id, property })).status).toBe(200)
  expect((await siteAdmin("DELETE", `/integrations/${integration_id}`)).body.code).toBe("forbidden")
  const viewer = await world.as({ role: "viewer" })
  expect((await viewer("GET", "/integrations/search-console/properties")).status).toBe(403)
})

test("connects a service account, once Google accepts its key", async () => {
  await using world = await desk()
  const refused = async (service_account: unknown) => {
    const { status, body } = await world.ask("POST", "/integrations/search-console/connect", { service_account })
    return [status, body.code]
  }
  const key = world.google.serviceAccount("reader@project.iam.example")
  expect(await refused({})).toEqual([422, "invalid_service_account"])
  expect(await refused({ ...key, private_key: "-----BEGIN" })).toEqual([422, "invalid_service_account"])
  expect(await refused({ ...key, client_email: "other@project.iam.example" })).toEqual([422, "connection_failed"])
  expect(await refused("text")).toEqual([422, "validation_failed"])
  const { status, body, headers } = await world.ask("POST", "/integrations/search-console/connect", { service_account: key })
  expect([status, body.account_label, headers.get("location")]).toEqual([
    201,
    "reader@project.iam.example",
    "/api/private/sites/1/integrations/1",
  ])
  expect((await world.map()).account_label).toBe("reader@project.iam.example")
})

test("offers only the service account without a client at Google", async () => {
  const offered = async (hasClient: boolean) => {
    await using world = await desk({ hasClient })
    const { body } = await world.ask("GET", "/integrations")
    const connect = await world.ask("POST", "/integrations/search-console/connect", {})
    const kinds = body.available.filter(({ kind }: { kind: string }) => KINDS.includes(kind))
    return [kinds.map(({ connect_by }: { connect_by: string[] }) => connect_by), connect.status, connect.body.errors?.[0]?.pointer]
  }
  const both = ["oauth", "service_account"]
  expect(await offered(true)).toEqual([[both, both], 200, undefined])
  expect(await offered(false)).toEqual([[["service_account"], ["service_account"]], 422, "/service_account"])
})

test("tests access, properties and mapping step by step", async () => {
  await using world = await desk()
  await world.connect()
  const mapping = await world.map()
  const steps = async () => {
    const { body } = await world.ask("POST", `/integrations/${mapping.id}/test`)
    return [body.ok, body.steps.map(({ name, ok }: { name: string; ok: boolean }) => `${name} ${ok}`)]
  }
  expect(await steps()).toEqual([true, ["access true", "properties true", "property true"]])
  world.console.properties = []
  expect(await steps()).toEqual([false, ["access true", "properties true", "property false"]])
  world.console.scenario = "500"
  expect(await steps()).toEqual([false, ["access true", "properties false"]])
  world.google.scenario = "invalid_grant"
  world.instance.clock.advance(3_600_000)
  expect(await steps()).toEqual([false, ["access false"]])
})

test("refuses properties that are not verified, not the account's own, or of a foreign connection", async () => {
  await using world = await desk()
  await world.connect()
  world.console.properties.push({ siteUrl: "https://new.example/", permissionLevel: "siteUnverifiedUser" })
  const put = async (body: object) => {
    const answer = await world.ask("PUT", "/integrations/search-console/mapping", body)
    return [answer.status, answer.body.code, answer.body.errors?.[0]?.pointer]
  }
  expect(await put({ integration_id: 1, property: "https://new.example/" })).toEqual([422, "property_not_verified", undefined])
  expect(await put({ integration_id: 1, property: "https://unknown.example/" })).toEqual([422, "validation_failed", "/property"])
  expect(await put({ integration_id: 99, property: "sc-domain:shop.example" })).toEqual([422, "validation_failed", "/integration_id"])
  const wrongType = { integration_id: 1, property: "sc-domain:shop.example", search_types: ["maps"] }
  expect(await put(wrongType)).toEqual([422, "validation_failed", "/search_types/0"])
  expect(await world.mapping()).toBeUndefined()
})

test("removes a mapping without its account, and an account with its mappings and its grant", async () => {
  await using world = await desk()
  await world.connect()
  const mapping = await world.map()
  expect((await world.ask("DELETE", `/integrations/${mapping.id}`)).status).toBe(204)
  expect([await world.mapping(), world.google.revoked.length]).toEqual([undefined, 0])
  await world.map()
  await world.connect("google-analytics")
  // Analytics uses the same account, and a revoked token would end its access too.
  expect((await world.ask("DELETE", "/integrations/1")).status).toBe(204)
  const left = (await world.ask("GET", "/integrations")).body.data
  expect([left.map(({ kind }: { kind: string }) => kind), world.google.revoked.length]).toEqual([["google-analytics"], 0])
  expect((await world.ask("DELETE", `/integrations/${left[0].id}`)).status).toBe(204)
  const { catalog } = world.instance.app.instance
  expect([world.google.revoked.length, await catalog.get(sql`select count(*) as n from connections`)]).toEqual([1, { n: 0 }])
})

test("ends the grants of an organization that is deleted", async () => {
  await using world = await desk()
  await world.connect()
  const { organizations } = world.instance.app.instance
  await organizations.remove(1, { confirm: "Shop" }, null)
  for (let waited = 0; world.google.revoked.length === 0 && waited < 2_000; waited += 10) await Bun.sleep(10)
  expect(world.google.revoked).toHaveLength(1)
})

test("lists the properties of Google Analytics with their accounts", async () => {
  await using world = await desk()
  expect((await world.ask("GET", "/integrations/google-analytics/properties")).body.code).toBe("not_connected")
  expect(await world.connect("google-analytics")).toBe("/sites/1/integrations?result=connected")
  world.console.accountSummaries = [
    {
      displayName: "Company",
      propertySummaries: [
        { property: "properties/1", displayName: "Blog" },
        { property: "properties/2", displayName: "shop.example - GA4" },
      ],
    },
  ]
  const { body } = await world.ask("GET", "/integrations/google-analytics/properties")
  expect(body.data).toMatchObject([
    { connection_id: 1, property: "properties/2", label: "Company – shop.example - GA4", suggested: true },
    { connection_id: 1, property: "properties/1", label: "Company – Blog", suggested: false },
  ])
  world.console.accountSummaries = [{ propertySummaries: [{ property: "properties/../1" }] }]
  const malformed = await world.ask("GET", "/integrations/google-analytics/properties")
  expect([malformed.status, malformed.body.code, malformed.body.steps[0].ok]).toEqual([422, "connection_failed", false])
  world.google.scenario = "invalid_grant"
  world.instance.clock.advance(3_600_000)
  expect((await world.ask("GET", "/integrations/google-analytics/properties")).body.code).toBe("needs_reauth")
})

test("changes name and types of a mapping, keeps versions, and accepts the body of a GET", async () => {
  await using world = await desk()
  await world.connect()
  const mapping = await world.map()
  const path = `/integrations/${mapping.id}`
  const { body: shown } = await world.ask("GET", path)
  const renamed = await world.ask("PATCH", path, { ...shown, name: "Shop" })
  expect(renamed.body).toMatchObject({ name: "Shop", version: 2, config: { property: "sc-domain:shop.example", search_types: ["web"] } })
  const types = await world.ask("PATCH", path, { config: { search_types: ["news", "web"] } })
  expect(types.body.config).toEqual({ property: "sc-domain:shop.example", search_types: ["web", "news"] })
  const other = await world.ask("PATCH", path, { config: { property: "https://other.example/" } })
  expect(other.body.errors[0]).toMatchObject({ pointer: "/config/property", code: "read_only" })
  const stale = { integration_id: 1, property: "sc-domain:shop.example", version: 1 }
  const conflict = await world.ask("PUT", "/integrations/search-console/mapping", stale)
  expect([conflict.status, conflict.body.code, conflict.body.current.name]).toEqual([409, "version_conflict", "Shop"])
  expect((await world.ask("PUT", "/integrations/search-console/mapping", { ...stale, version: 3 })).body.version).toBe(4)
  const { catalog } = world.instance.app.instance
  const entries = await catalog.all<{ action: string }>(
    sql`select action from audit_log where target_id = ${String(mapping.id)} order by id`,
  )
  expect(entries.map(({ action }) => action)).toEqual([
    "integrations.integration.create",
    "integrations.integration.update",
    "integrations.integration.update",
    "integrations.integration.update",
  ])
})

test("connects nothing while outgoing requests are off", async () => {
  await using world = await desk({ settings: { outbound: "off" } })
  const refused = async (kind: string, body: object) => (await world.ask("POST", `/integrations/${kind}/connect`, body)).body.code
  expect(await refused("search-console", {})).toBe("outbound_disabled")
  expect(await refused("google-analytics", { service_account: world.google.serviceAccount() })).toBe("outbound_disabled")
  expect(await refused("bing-webmaster", { api_key: "0123456789abcdef0123456789abcdef" })).toBe("outbound_disabled")
})
