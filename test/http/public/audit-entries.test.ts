import { afterAll, beforeAll, beforeEach, expect, test } from "bun:test"
import type { OpenApiDocument } from "../../../src/http/openapi/document.ts"
import { type AuditRow, listAuditRows } from "../../../src/store/catalog/audit.ts"
import { raw, sql } from "../../../src/store/sql.ts"
import { startInstance, type TestInstance } from "../../kit.ts"
import { type Declared, DOCUMENT_PATH, operationsIn } from "../openapi/document.ts"
import { fillSite, newMember } from "../openapi/filled-site.ts"
import { type Call, type Ids, workingCall } from "../openapi/good-call.ts"
import { stateOf } from "../private/proofs/state.ts"

/** Every change that the public API makes leaves an audit entry in its transaction, which names the key. */

const described = await startInstance()
const operations = operationsIn((await described.api.get(DOCUMENT_PATH)).body as OpenApiDocument)
await described[Symbol.asyncDispose]()

/** The actions of each operation, which are those of the dashboard. */
const ACTIONS: Readonly<Record<string, readonly string[]>> = {
  ...{ createSite: ["sites.site.create"], updateSite: ["sites.site.update"], deleteSite: ["sites.site.delete"] },
  ...{ createGoal: ["sites.goal.create"], updateGoal: ["sites.goal.update"], deleteGoal: ["sites.goal.delete"] },
  ...{ createFunnel: ["sites.funnel.create"], updateFunnel: ["sites.funnel.update"], deleteFunnel: ["sites.funnel.delete"] },
  createAnnotation: ["sites.annotation.create"],
  updateAnnotation: ["sites.annotation.update"],
  deleteAnnotation: ["sites.annotation.delete"],
  ...{ createSegment: ["sites.segment.create"], updateSegment: ["sites.segment.update"], deleteSegment: ["sites.segment.delete"] },
  ...{ createShare: ["sites.share.create"], updateShare: ["sites.share.update"], deleteShare: ["sites.share.delete"] },
  createApiKey: ["accounts.api_key.create"],
  rotateApiKey: ["accounts.api_key.rotate"],
  deleteApiKey: ["accounts.api_key.revoke"],
  ...{ createInvitation: ["accounts.invitation.create"], deleteInvitation: ["accounts.invitation.delete"] },
  ...{ putMember: ["accounts.site_member.put"], deleteMember: ["accounts.site_member.remove"] },
  updateSettings: ["sites.settings.update"],
  // The document of the example replaces the goal, the funnel and the segment of the site.
  putConfiguration: [
    "sites.settings.update",
    ...["sites.goal.delete", "sites.funnel.delete", "sites.segment.delete"],
    ...["sites.goal.create", "sites.funnel.create", "sites.segment.create"],
  ],
  createPlausibleSite: ["sites.site.create"],
  updatePlausibleSite: ["sites.site.update"],
  deletePlausibleSite: ["sites.site.delete"],
  ...{ putPlausibleGoal: ["sites.goal.create"], deletePlausibleGoal: ["sites.goal.delete"] },
  putPlausibleSharedLink: ["sites.share.create"],
  erasePerson: ["cohorts.person.erase"],
}

/** Operations that change what people manage. Sent events are data. */
const isChange = ({ method, scopes, name }: Declared): boolean =>
  method !== "GET" && !name.startsWith("preview") && scopes.some((scope) => /:(write|erase)$/.test(scope) && scope !== "events:write")
const changes = operations.filter(isChange)
const others = operations.filter((operation) => operation.method !== "GET" && !isChange(operation))
const named = (all: readonly Declared[]) => all.map((operation) => [operation.name, operation] as const)

let instance: TestInstance
let ids: Ids
beforeAll(async () => {
  instance = await startInstance({ settings: { api_rate_limit: "0" } })
})
afterAll(() => instance[Symbol.asyncDispose]())
let sites = 0
beforeEach(async () => {
  const name = `site-${++sites}`
  const { id } = await instance.app.instance.sites.create(1, { name, hosts: [`${name}.example`] })
  ids = { ...(await fillSite(instance, id, instance.key, name)), user_id: await newMember(instance, 1) }
})

const send = ({ method, path, body }: Call) => instance.api.send(method, path, body, instance.key, { "x-request-id": "same" })

/** Returns the entries after the call of an operation, oldest first. */
async function rowsOf(operation: Declared): Promise<{ rows: AuditRow[]; body: unknown }> {
  const { catalog } = instance.app.instance
  const call = await workingCall(operations, operation, ids, send)
  const { id } = (await catalog.get<{ id: number }>(sql`select max(id) as id from audit_log`))!
  const { status, body } = await send(call)
  expect({ status: status < 400, body: status < 400 ? "" : body }).toEqual({ status: true, body: "" })
  const rows = await listAuditRows(catalog, {}, { before: Number.MAX_SAFE_INTEGER, last: id + 1 }, 100)
  return { rows: rows.reverse(), body }
}

test("every operation that changes something has its actions here", () => {
  expect(Object.keys(ACTIONS).sort()).toEqual(changes.map(({ name }) => name).sort())
})

test.each(named(changes))("%s leaves the entries of the dashboard, by the key", async (name, operation) => {
  const { rows, body } = await rowsOf(operation)
  expect(rows.map(({ action }) => action).sort()).toEqual([...ACTIONS[name]!].sort())
  const { id } = (await instance.app.instance.catalog.get<{ id: number }>(
    sql`select id from api_keys where key_id = ${instance.key.split("_")[1]}`,
  ))!
  // Keys and invitations belong to the organization, and a deleted site is one that was created for it.
  const siteId = /ApiKey$|Invitation$/.test(name) ? null : name === "deleteSite" ? expect.any(Number) : ids.site_id
  for (const row of rows)
    expect(row).toMatchObject({
      ...{ actor_kind: "key", actor_id: id, organization_id: 1, outcome: "ok", request_id: "same" },
      ...(operation.ids.includes("site_id") && { site_id: siteId }),
    })
  for (const secret of secretsIn(body)) expect(JSON.stringify(rows)).not.toContain(secret)
})

/** Returns the key, and the ends of the links that open something, in a response. */
function secretsIn(body: unknown): string[] {
  if (typeof body !== "object") return []
  const { key, url, link } = body as { key?: string; url?: string; link?: string }
  return [key, url?.split("/").at(-1), link?.split("/").at(-1)].filter((secret) => secret !== undefined)
}

test.each(named(others))("%s leaves no entry", async (_, operation) => {
  expect((await rowsOf(operation)).rows).toEqual([])
})

const FAILING = raw("create trigger audit_fails before insert on audit_log begin select raise(abort, 'no room for the row'); end")

test.each(named(changes))("%s changes nothing if its entry cannot be written", async (_, operation) => {
  const { catalog } = instance.app.instance
  const call = await workingCall(operations, operation, ids, send)
  const before = await stateOf({ instance })
  await catalog.run(sql`${FAILING}`)
  const { status, body } = await send(call)
  await catalog.run(sql`drop trigger audit_fails`)
  expect({ status, code: (body as { code?: string }).code }).toEqual({ status: 500, code: "internal_error" })
  expect(await stateOf({ instance })).toEqual(before)
})
