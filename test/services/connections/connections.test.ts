import { describe, expect, test } from "bun:test"
import { generateKeyPairSync } from "node:crypto"
import { readServiceAccount } from "../../../src/services/connections/service-account.ts"
import { listOutbox } from "../../../src/store/catalog/outbox.ts"
import { sql } from "../../../src/store/sql.ts"
import { operatorActor } from "../../../src/wiring/account-settings.ts"
import { type Google, google } from "../../fakes/google.ts"
import { type StartOptions, startInstance, type TestInstance } from "../../kit.ts"
import { openMailbox } from "../../mailbox.ts"

const READ = "https://www.googleapis.com/auth/webmasters.readonly"
const ANALYTICS = "https://www.googleapis.com/auth/analytics.readonly"
const BACK = "https://stats.example.org/api/private/integrations/oauth/callback"
const HOUR = 3_600_000

interface World extends AsyncDisposable {
  instance: TestInstance
  fake: Google
}

async function start(options: StartOptions = {}): Promise<World> {
  const clock = { now: () => Date.parse("2026-11-21T12:00:00Z") }
  const fake = await google({ now: () => clock.now() })
  const instance = await startInstance({ ...options, plugins: [], settings: { ...fake.settings, ...options.settings } })
  clock.now = instance.clock.now
  return {
    instance,
    fake,
    async [Symbol.asyncDispose]() {
      await instance[Symbol.asyncDispose]()
      await fake[Symbol.asyncDispose]()
    },
  }
}

const terms = (scopes: string[] = [READ]) => ({ organizationId: 1, userId: null, scopes })

/** Connects an account as a person does: from the sign-in page back to the instance. */
async function connect({ instance, fake }: World, scopes = [READ]) {
  const { connections } = instance.app.instance
  const { url, checks } = await connections.begin("google", scopes, BACK)
  return connections.finish("google", await fake.consent(url), checks, terms(scopes))
}

const failure = (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    (result) => result,
    (error: { name: string; code: string }) => (error.name === "ConnectionFailure" ? error.code : error),
  )

const tokenCalls = ({ fake }: World, grant: string): number => fake.requests.filter((request) => request.grant === grant).length

test("connects an account and gives valid access tokens, one refresh per hour", async () => {
  await using world = await start()
  const { connections } = world.instance.app.instance
  const connection = await connect(world)
  expect(connection).toMatchObject({
    id: 1,
    organization_id: 1,
    provider: "google",
    method: "oauth",
    account_id: "1001",
    account_label: "ann@example.org",
    scopes: ["openid", "email", READ],
    status: "ok",
  })
  const token = await connections.accessToken(1, READ)
  expect(await connections.accessToken(1, READ)).toBe(token)
  const request = new Request("http://google.example", { headers: { authorization: `Bearer ${token}` } })
  expect(world.fake.scopesOf(request)).toContain(READ)
  world.instance.clock.advance(HOUR)
  expect(await connections.accessToken(1, READ)).not.toBe(token)
  expect(tokenCalls(world, "refresh_token")).toBe(2)
  expect(await connections.get(1, 1)).toMatchObject({ refreshed_at: Date.parse("2026-11-21T13:00:00Z") })
  expect([await connections.get(2, 1), await connections.list(2)]).toEqual([undefined, []])
})

test("shares one refresh between any number of parallel callers", async () => {
  await using world = await start()
  const { connections } = world.instance.app.instance
  await connect(world)
  world.fake.delayMs = 50
  const tokens = await Promise.all(Array.from({ length: 50 }, () => connections.accessToken(1, READ)))
  expect(new Set(tokens).size).toBe(1)
  // All of them meet a refusal of that token at the same time.
  const later = await Promise.all(Array.from({ length: 50 }, () => connections.accessToken(1, READ, { rejected: tokens[0]! })))
  expect(new Set(later).size).toBe(1)
  // A caller that learns of the refusal late gets the token that the others have fetched.
  expect(await connections.accessToken(1, READ, { rejected: tokens[0]! })).toBe(later[0]!)
  expect(tokenCalls(world, "refresh_token")).toBe(2)
})

test("keeps one connection per account, which a further scope extends", async () => {
  await using world = await start()
  const { connections } = world.instance.app.instance
  await connect(world)
  await connections.accessToken(1, READ)
  world.fake.account = { sub: "1001", email: "ann.new@example.org" }
  const again = await connect(world, [ANALYTICS])
  expect(again).toMatchObject({ id: 1, account_label: "ann.new@example.org", scopes: ["openid", "email", READ, ANALYTICS], version: 3 })
  expect(await connections.accessToken(1, ANALYTICS)).toBe(await connections.accessToken(1, READ))
  world.fake.account = { sub: "1002", email: "bob@example.org" }
  expect(await connect(world)).toMatchObject({ id: 2, account_label: "bob@example.org" })
  expect(await failure(connections.accessToken(2, ANALYTICS))).toBe("scope_not_granted")
  expect((await connections.list(1)).map(({ id }) => id)).toEqual([1, 2])
  const { catalog } = world.instance.app.instance
  expect(await catalog.get(sql`select count(*) as n from secrets where place_table = 'connections'`)).toEqual({ n: 2 })
})

test("stores nothing when a scope is missing, and revokes the grant only of an account without a connection", async () => {
  await using world = await start()
  const { connections } = world.instance.app.instance
  world.fake.droppedScopes.add(READ)
  expect(await failure(connect(world))).toBe("scope_not_granted")
  expect([await connections.list(1), world.fake.revoked.length]).toEqual([[], 1])
  world.fake.droppedScopes.clear()
  await connect(world)
  world.fake.droppedScopes.add(ANALYTICS)
  expect(await failure(connect(world, [ANALYTICS]))).toBe("scope_not_granted")
  expect(world.fake.revoked).toHaveLength(1)
  expect(await connections.accessToken(1, READ)).toBeString()
})

test("stores nothing when the person refuses, another state comes back or the code is used twice", async () => {
  await using world = await start()
  const { connections } = world.instance.app.instance
  const { url, checks } = await connections.begin("google", [READ], BACK)
  world.fake.scenario = "denied"
  expect(await failure(connections.finish("google", await world.fake.consent(url), checks, terms()))).toBe("denied")
  world.fake.scenario = "ok"
  const answer = await world.fake.consent(url)
  expect(await failure(connections.finish("google", answer, { ...checks, state: "other" }, terms()))).toBe("unavailable")
  expect(await failure(connections.finish("google", answer, { ...checks, verifier: "v".repeat(43) }, terms()))).toBe("needs_reauth")
  const fresh = await world.fake.consent(url)
  expect(await failure(connections.finish("google", fresh, { ...checks, nonce: "other" }, terms()))).toBe("unavailable")
  expect(await failure(connections.finish("google", fresh, checks, terms()))).toBe("needs_reauth")
  expect(await connections.list(1)).toEqual([])
})

test("keeps the refresh token of a provider that rotates it, and the earlier one of a provider that sends none", async () => {
  await using world = await start()
  const { connections } = world.instance.app.instance
  world.fake.scenario = "no_refresh_token"
  expect(await failure(connect(world))).toBe("unavailable")
  expect(await connections.list(1)).toEqual([])
  world.fake.scenario = "rotates"
  await connect(world)
  for (let hour = 0; hour < 3; hour++) {
    await connections.accessToken(1, READ)
    world.instance.clock.advance(HOUR)
  }
  world.fake.scenario = "no_refresh_token"
  await connect(world)
  expect(await connections.accessToken(1, READ)).toBeString()
})

test("a revoked grant ends the connection once: one status, one event, one email per admin, no further request", async () => {
  await using mailbox = await openMailbox()
  await using world = await start({ settings: mailbox.settings })
  const { instance, fake } = world
  const { connections, catalog, accounts } = instance.app.instance
  for (const role of ["owner", "admin", "editor"] as const) await instance.signIn({ role })
  await connect(world)
  const before = (await listOutbox(catalog, { after: 0, limit: 100 })).length
  fake.scenario = "invalid_grant"
  const failures = await Promise.all(Array.from({ length: 5 }, () => failure(connections.accessToken(1, READ))))
  failures.push(await failure(connections.accessToken(1, READ)))
  expect(failures).toEqual(Array(6).fill("needs_reauth"))
  expect(tokenCalls(world, "refresh_token")).toBe(1)
  expect(await connections.get(1, 1)).toMatchObject({ status: "needs_reauth", error_code: "invalid_grant", error_at: instance.clock.now() })
  const events = (await listOutbox(catalog, { after: 0, limit: 100 })).slice(before)
  expect(events.map(({ event, payload }) => [event, payload])).toEqual([
    ["integration.needs_reauth", { connection_id: 1, provider: "google", status: "needs_reauth", code: "invalid_grant" }],
  ])
  await accounts.mail.deliver()
  expect(mailbox.emails).toHaveLength(2)
  expect(mailbox.emails[0]!.text).toContain("Connect the Google account again")
  // Connecting the account again makes the connection work for every area that uses it.
  fake.scenario = "ok"
  expect(await connect(world)).toMatchObject({ id: 1, status: "ok", error_code: null })
  expect(await connections.accessToken(1, READ)).toBeString()
})

test.each([
  ["500", "unavailable", undefined, "ok"],
  ["malformed", "unavailable", undefined, "ok"],
  ["quota_429", "quota", 120_000, "ok"],
] as const)("keeps a connection while the provider fails: %s", async (scenario, code, retryAfterMs, status) => {
  await using world = await start()
  const { connections } = world.instance.app.instance
  await connect(world)
  world.fake.scenario = scenario
  const error = await connections.accessToken(1, READ).catch((thrown: unknown) => thrown)
  expect(error).toMatchObject({ name: "ConnectionFailure", code, ...(retryAfterMs !== undefined && { retryAfterMs }) })
  expect(await connections.get(1, 1)).toMatchObject({ status })
  world.fake.scenario = "ok"
  expect(await connections.accessToken(1, READ)).toBeString()
})

test("marks a connection when the provider rejects the client of the instance, until it accepts it again", async () => {
  await using world = await start()
  const { connections, catalog } = world.instance.app.instance
  await connect(world)
  world.fake.scenario = "client_rejected"
  for (let i = 0; i < 2; i++) expect(await failure(connections.accessToken(1, READ))).toBe("client_rejected")
  expect(await connections.get(1, 1)).toMatchObject({ status: "error", error_code: "client_rejected" })
  const events = (await listOutbox(catalog, { after: 0, limit: 100 })).filter(({ event }) => event === "integration.needs_reauth")
  expect(events).toHaveLength(1)
  world.fake.scenario = "ok"
  await connections.accessToken(1, READ)
  expect(await connections.get(1, 1)).toMatchObject({ status: "ok", error_code: null })
})

describe("a service account", () => {
  test("gets an access token per scope for its signed assertion", async () => {
    await using world = await start()
    const { connections } = world.instance.app.instance
    const key = world.fake.serviceAccount()
    expect(await connections.connectServiceAccount("google", key, terms())).toMatchObject({
      method: "service_account",
      account_label: "reader@project.iam.example",
      scopes: [READ],
    })
    const token = await connections.accessToken(1, READ)
    expect(await connections.accessToken(1, READ)).toBe(token)
    expect(await failure(connections.accessToken(1, ANALYTICS))).toBe("scope_not_granted")
    expect(await connections.connectServiceAccount("google", key, terms([ANALYTICS]))).toMatchObject({ id: 1, scopes: [READ, ANALYTICS] })
    expect(await connections.accessToken(1, ANALYTICS)).not.toBe(await connections.accessToken(1, READ))
    expect(world.fake.requests.filter(({ path }) => path === "/canary")).toEqual([])
  })

  const rsa = (bits: number) =>
    generateKeyPairSync("rsa", { modulusLength: bits }).privateKey.export({ type: "pkcs8", format: "pem" }).toString()
  const ec = generateKeyPairSync("ec", { namedCurve: "P-256" }).privateKey.export({ type: "pkcs8", format: "pem" }).toString()
  const valid = { type: "service_account", client_email: "a@b.example", private_key_id: "1", private_key: rsa(2048) }
  test.each([
    ["nothing", undefined],
    ["a text", "{}"],
    ["another type of key", { ...valid, type: "authorized_user" }],
    ["no address", { ...valid, client_email: undefined }],
    ["an address with a line break", { ...valid, client_email: "a@b.example\r\nx: y" }],
    ["no key", { ...valid, private_key: "none" }],
    ["a short key", { ...valid, private_key: rsa(1024) }],
    ["a key of another algorithm", { ...valid, private_key: ec }],
    ["a very long key", { ...valid, private_key: `${valid.private_key}${" ".repeat(20_000)}` }],
  ])("is refused with %s, before any request", (_, key) => {
    expect(() => readServiceAccount(key)).toThrow("invalid_service_account")
  })

  test("is refused if the provider doesn't know its key", async () => {
    await using world = await start()
    const { connections } = world.instance.app.instance
    const key = { ...world.fake.serviceAccount(), private_key: rsa(2048) }
    expect(await failure(connections.connectServiceAccount("google", key, terms()))).toBe("needs_reauth")
    expect(await connections.list(1)).toEqual([])
  })
})

test("removing a connection deletes its tokens and revokes the grant, even if the provider is down", async () => {
  await using world = await start()
  const { connections, catalog } = world.instance.app.instance
  await connect(world)
  expect(await failure(connections.remove(2, 1))).toBe("not_connected")
  const undone = connections.remove(1, 1, () => Promise.reject(new Error("no")))
  await expect(undone).rejects.toThrow("no")
  expect(await connections.list(1)).toHaveLength(1)
  await connections.remove(1, 1)
  expect(world.fake.revoked).toHaveLength(1)
  await connect(world)
  await world.fake[Symbol.asyncDispose]()
  await connections.remove(1, 2)
  expect(await catalog.all(sql`select id from secrets`)).toEqual([])
  expect(await failure(connections.accessToken(2, READ))).toBe("not_connected")
})

test("deleting the organization erases its connections and their tokens, and ends their grants", async () => {
  await using world = await start()
  const { catalog, organizations, connections } = world.instance.app.instance
  await connect(world)
  world.fake.account = { sub: "1002", email: "bob@example.org" }
  await connect(world)
  await expect(organizations.remove(1, { confirm: "Other" }, null)).rejects.toThrow()
  expect(world.fake.revoked).toEqual([])
  await organizations.remove(1, { confirm: "Shop" }, null)
  expect(await catalog.all(sql`select id from secrets union all select id from connections`)).toEqual([])
  expect(await failure(connections.accessToken(1, READ))).toBe("not_connected")
  // The answer does not wait for the provider.
  while (world.fake.revoked.length < 2) await Bun.sleep(5)
  expect(new Set(world.fake.revoked).size).toBe(2)
})

test("an account that two organizations have connected keeps its grant until both connections are gone", async () => {
  await using world = await start()
  const { organizations, connections } = world.instance.app.instance
  await connect(world)
  const other = await organizations.create({ name: "Other" })
  const { url, checks } = await connections.begin("google", [READ], BACK)
  await connections.finish("google", await world.fake.consent(url), checks, { ...terms(), organizationId: other.id })
  await organizations.remove(1, { confirm: "Shop" }, null)
  expect(await connections.accessToken(2, READ)).toBeString()
  expect(world.fake.revoked).toEqual([])
  await connections.remove(other.id, 2)
  expect(world.fake.revoked).toHaveLength(1)
})

test("survives a rotation of the secret key, and needs a new grant when the key is lost", async () => {
  await using world = await start()
  const { connections, keyRotation, catalog } = world.instance.app.instance
  await connect(world)
  const before = await catalog.get<{ sealed: Uint8Array }>(sql`select sealed from secrets`)
  await keyRotation.rotate(operatorActor("test"))
  expect((await catalog.get<{ sealed: Uint8Array }>(sql`select sealed from secrets`))!.sealed).not.toEqual(before!.sealed)
  expect(await connections.accessToken(1, READ)).toBeString()
  world.instance.clock.advance(HOUR)
  await catalog.run(sql`update secrets set sealed = ${new Uint8Array(60)}`)
  expect(await failure(connections.accessToken(1, READ))).toBe("needs_reauth")
  expect(await connections.get(1, 1)).toMatchObject({ status: "needs_reauth", error_code: "secret_unreadable" })
})

test("no token and no key is readable in the catalog or the log", async () => {
  await using world = await start()
  const { instance, fake } = world
  const { connections, catalog } = instance.app.instance
  await connect(world)
  const key = fake.serviceAccount()
  await connections.connectServiceAccount("google", key, terms())
  const token = await connections.accessToken(1, READ)
  fake.scenario = "500"
  instance.clock.advance(HOUR)
  await failure(connections.accessToken(1, READ))
  await connections.remove(1, 1)
  const [refreshToken] = fake.revoked
  await connect(world).catch(() => {})
  await catalog.checkpoint()
  await catalog.copyTo(`${instance.dataDir}/copy.db`)
  const files = [`${instance.dataDir}/copy.db`, `${instance.dataDir}/catalog.db`]
  const bytes = await Promise.all(files.map(async (file) => Buffer.from(await Bun.file(file).arrayBuffer())))
  bytes.push(Buffer.from(JSON.stringify(instance.log.lines)))
  const secrets = [token, refreshToken!, key.private_key!.slice(40, 120), fake.settings.google_client_secret!]
  for (const secret of secrets) for (const text of bytes) expect(text.includes(secret)).toBe(false)
})

test("offers only what the operator has configured", async () => {
  await using instance = await startInstance({ plugins: [] })
  const { connections } = instance.app.instance
  expect(connections.methods("google")).toEqual({ oauth: false, serviceAccount: true })
  expect(connections.methods("microsoft")).toEqual({ oauth: false, serviceAccount: false })
  expect(await failure(connections.begin("google", [READ], BACK))).toBe("not_configured")
  await using off = await start({ settings: { outbound: "off" } })
  const { url, checks } = await off.instance.app.instance.connections.begin("google", [READ], BACK)
  const back = await off.fake.consent(url)
  expect(await failure(off.instance.app.instance.connections.finish("google", back, checks, terms()))).toBe("outbound_disabled")
})
