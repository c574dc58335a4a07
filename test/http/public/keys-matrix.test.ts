import { afterAll, beforeAll, expect, test } from "bun:test"
import { SCOPES, type Scope } from "../../../src/domain/key.ts"
import type { OpenApiDocument } from "../../../src/http/openapi/document.ts"
import { raw, sql } from "../../../src/store/sql.ts"
import { startInstance, type TestInstance } from "../../kit.ts"
import { type Declared, DOCUMENT_PATH, operationsIn } from "../openapi/document.ts"
import { fillSite, invited, newMember } from "../openapi/filled-site.ts"
import { type Call, goodCall, type Ids, workingCall } from "../openapi/good-call.ts"

/** Calls every operation of the document with every kind of key: which are accepted, how the others are rejected, and that no key reads or changes data of another organization. */

const described = await startInstance()
const operations = operationsIn((await described.api.get(DOCUMENT_PATH)).body as OpenApiDocument)
await described[Symbol.asyncDispose]()

/** Appear in every text of the other organization and of our own one. */
const SENTINEL = "zzforeignzz"
const OWN = "zzownzz"

type KeyKind =
  | "none"
  | "malformed"
  | "revoked"
  | "expired"
  | "this site"
  | "another site"
  | "no site"
  | "another organization"
  | `only ${Scope}`

let instance: TestInstance
let keys: Readonly<Record<KeyKind, string | undefined>>
let own: Ids
let sibling: Ids
let foreign: Ids

beforeAll(async () => {
  instance = await startInstance({ settings: { api_rate_limit: "0" } })
  const { app, makeKey, key, site, clock } = instance
  const { organizations, sites, keys: service } = app.instance
  const { id: other } = await organizations.create({ name: SENTINEL })
  const second = await sites.create(1, { name: "Second", hosts: ["second.example"] })
  const theirs = await sites.create(other, { name: SENTINEL, hosts: [`${SENTINEL}.example`] })
  const theirKey = (await service.create(other, { name: SENTINEL, scopes: SCOPES, site_access: "all" })).secret
  const expired = await service.create(1, {
    name: "expired",
    scopes: SCOPES,
    site_access: "all",
    expires_at: new Date(clock.now() + 1).toISOString(),
  })
  const revoked = await service.create(1, { name: "revoked", scopes: SCOPES, site_access: "all" })
  await service.revoke(1, revoked.key.id)
  clock.advance(1)
  const single = await Promise.all(SCOPES.map(async (scope) => [`only ${scope}`, await makeKey([scope])] as const))
  keys = {
    none: undefined,
    malformed: "ff_x",
    revoked: revoked.secret,
    expired: expired.secret,
    "this site": await makeKey(SCOPES, [site.id]),
    "another site": await makeKey(SCOPES, [second.id]),
    "no site": await makeKey(SCOPES, []),
    "another organization": theirKey,
    ...(Object.fromEntries(single) as Record<`only ${Scope}`, string>),
  }
  const ids = async (site: number, key: string, text: string, user_id: number) => ({
    ...(await fillSite(instance, site, key, text)),
    ...{ invitation_id: await invited(instance, site, key, text), user_id },
  })
  const [member, stranger] = [await newMember(instance, 1), await newMember(instance, other)]
  own = await ids(site.id, key, OWN, member)
  sibling = await ids(second.id, key, `${OWN} too`, stranger)
  foreign = await ids(theirs.id, theirKey, SENTINEL, stranger)
  for (const { tracking_id, hosts } of [site, theirs])
    await instance.collect({ n: "pageview", u: `https://${hosts[0]}/${SENTINEL.repeat(Number(hosts !== site.hosts))}`, d: tracking_id })
})
afterAll(() => instance[Symbol.asyncDispose]())

let callers = 0
/** Repeated failures are throttled by address, which this test does not cover. */
const newAddress = () => `10.0.${++callers >> 8}.${callers & 255}`

/** Sends a call and returns the response unparsed. */
async function send({ method, path, body }: Call, key: string | undefined): Promise<{ status: number; headers: Headers; text: string }> {
  const headers = {
    "x-request-id": "same",
    ...(key !== undefined && { authorization: `Bearer ${key}` }),
    ...(body !== undefined && { "content-type": "application/json" }),
  }
  const answer = await instance.fetch(
    new Request(`http://localhost${path}`, { method, headers, ...(body !== undefined && { body: JSON.stringify(body) }) }),
    newAddress(),
  )
  return { status: answer.status, headers: answer.headers, text: await answer.text() }
}

const codeOf = (text: string): string | undefined => (text.startsWith('{"type"') ? (JSON.parse(text) as { code: string }).code : undefined)

/** Written by hand from the rules of the specification. */
const IMPLIED: Partial<Record<Scope, readonly Scope[]>> = {
  "sites:write": ["sites:read"],
  "goals:write": ["goals:read"],
  "funnels:write": ["funnels:read"],
  "annotations:write": ["annotations:read"],
  "settings:write": ["settings:read"],
  "segments:write": ["segments:read"],
  "configuration:write": ["configuration:read"],
  "shares:write": ["shares:read"],
  "keys:write": ["keys:read"],
  "members:write": ["members:read"],
}
const SITE_IN_BODY = ["query", "queryPlausible", "putPlausibleGoal", "deletePlausibleGoal", "putPlausibleSharedLink"]
const SITE_IN_QUERY = [
  "getPlausibleVisitors",
  "getPlausibleAggregate",
  "getPlausibleTimeseries",
  "getPlausibleBreakdown",
  "listPlausibleGoals",
  "countGoatCounter",
]
const namesItsSite = ({ ids, name }: Declared): boolean => ids.length > 0 || [...SITE_IN_BODY, ...SITE_IN_QUERY].includes(name)

/** The status of success, or the code of the error. */
function expected(operation: Declared, kind: KeyKind): string {
  const { scopes, needsUnrestricted, answers } = operation
  const good = Object.keys(answers)[0]!
  if (scopes.length === 0) return good
  if (kind === "none") return "missing_api_key"
  if (["malformed", "revoked", "expired"].includes(kind)) return "invalid_api_key"
  if (kind.startsWith("only ")) {
    const scope = kind.slice("only ".length) as Scope
    // A key gives only roles whose rights it has.
    if (scope === "members:write" && ["putMember", "deleteMember", "createInvitation"].includes(operation.name)) return "forbidden"
    return [scope, ...(IMPLIED[scope] ?? [])].some((held) => scopes.includes(held)) ? good : "insufficient_scope"
  }
  if (needsUnrestricted && kind !== "another organization") return "unrestricted_key_required"
  return namesItsSite(operation) && kind !== "this site" ? "site_not_found" : good
}

/** Returns a call; for DELETE, of a newly created resource. */
async function callFor(operation: Declared, isAllowed: boolean): Promise<Call> {
  if (!isAllowed) return goodCall(operation, own)
  return workingCall(operations, operation, own, async (call) => ({ body: JSON.parse((await send(call, instance.key)).text) as unknown }))
}

/** All stored definitions and figures of both organizations. */
async function state(): Promise<string> {
  const tables = ["organizations", "sites", "goals", "funnels", "annotations", "idempotent_answers"].map((table) =>
    instance.app.instance.catalog.all(sql`select * from ${raw(table)}`),
  )
  const counted = await send(
    { method: "GET", path: "/api/public/v1/sites/1/stats/summary?period=all&metrics=events", body: undefined },
    instance.key,
  )
  return JSON.stringify([await Promise.all(tables), counted.text])
}

test.each(operations.map((operation) => [operation.name, operation] as const))("%s accepts the right keys", async (_, operation) => {
  const before = await state()
  const kinds = (Object.keys(keys) as KeyKind[]).map((kind) => ({ kind, wanted: expected(operation, kind) }))
  const isRefusal = ({ wanted }: { wanted: string }) => !/^2/.test(wanted)
  for (const { kind, wanted } of kinds.filter(isRefusal)) {
    const { status, text } = await send(await callFor(operation, false), keys[kind])
    expect({ kind, status: String(status), code: codeOf(text) }).toEqual({ kind, status: STATUS[wanted]!, code: wanted })
    expect(Object.keys(operation.answers)).toContain(String(status))
    expect(text).not.toContain(SENTINEL)
    if (keys[kind]) expect(text).not.toContain(keys[kind])
  }
  // Rejected calls have changed nothing.
  expect(await state()).toBe(before)
  for (const { kind, wanted } of kinds.filter((one) => !isRefusal(one))) {
    const { status, text } = await send(await callFor(operation, true), keys[kind])
    expect({ kind, status: String(status), text: status < 300 ? "" : text }).toEqual({ kind, status: wanted, text: "" })
    // The document is public; its examples mention a shop as well.
    if (operation.scopes.length === 0) continue
    // The key of the other organization reads its own texts and no others.
    if (kind === "another organization") expect(text).not.toMatch(new RegExp(`${OWN}|${instance.site.tracking_id}`))
    else expect(text).not.toContain(SENTINEL)
  }
})

const STATUS: Readonly<Record<string, string>> = {
  missing_api_key: "401",
  invalid_api_key: "401",
  insufficient_scope: "403",
  forbidden: "403",
  unrestricted_key_required: "403",
  site_not_found: "404",
}

/** Everything by which a caller could distinguish two responses. */
function observable({ status, headers, text }: Awaited<ReturnType<typeof send>>): object {
  return { status, text, headers: [...headers].sort() }
}

const named = (operation: Declared, ids: Ids): Call => {
  const call = goodCall(operation, ids)
  return SITE_IN_BODY.includes(operation.name) ? { ...call, body: { ...(call.body as object), site_id: ids.site_id } } : call
}
const ABSENT = 999_999
const withSite = operations.filter(namesItsSite)

test.each(withSite.map((operation) => [operation.name, operation] as const))(
  "%s responds identically for a foreign site, a site outside the key and one that does not exist",
  async (_, operation) => {
    const absent = await send(named(operation, { ...own, site_id: ABSENT }), instance.key)
    expect({ status: absent.status, code: codeOf(absent.text) }).toEqual({ status: 404, code: "site_not_found" })
    expect(observable(await send(named(operation, foreign), instance.key))).toEqual(observable(absent))
    expect(observable(await send(named(operation, { ...own, site_id: foreign.site_id! }), instance.key))).toEqual(observable(absent))
    if (operation.needsUnrestricted) return
    const limited = keys["this site"]
    expect(observable(await send(named(operation, sibling), limited))).toEqual(
      observable(await send(named(operation, { ...own, site_id: ABSENT }), limited)),
    )
  },
)

const withThing = operations.filter(({ ids }) => ids.length > 1)

test.each(withThing.map((operation) => [operation.name, operation] as const))(
  "%s responds identically for a resource of another site, of another organization and one that does not exist",
  async (_, operation) => {
    const id = operation.ids.at(-1)!
    const absent = await send(named(operation, { ...own, [id]: ABSENT }), instance.key)
    expect({ status: absent.status, code: codeOf(absent.text) }).toEqual({ status: 404, code: id.replace("_id", "_not_found") })
    for (const { [id]: theirs } of [sibling, foreign])
      expect(observable(await send(named(operation, { ...own, [id]: theirs! }), instance.key))).toEqual(observable(absent))
  },
)
