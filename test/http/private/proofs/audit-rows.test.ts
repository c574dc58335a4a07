import { afterAll, expect, test } from "bun:test"
import { type AuditRow, listAuditRows } from "../../../../src/store/catalog/audit.ts"
import { raw, sql } from "../../../../src/store/sql.ts"
import type { Declared } from "../../openapi/document.ts"
import { type Json, type Kind, openWorld, type Person, type Scene, sceneOf, type World } from "../scene.ts"
import { type ExpectedAuditEntry, makeCall, named, type Prepared, preparedCall, shortName } from "./recipes.ts"
import { stateOf } from "./state.ts"

/** Every write in the document leaves one audit entry in its transaction: actor, action, target, place, and no secret. */

const world: World = await openWorld()
afterAll(() => world[Symbol.asyncDispose]())
const { catalog, audit, accounts } = world.instance.app.instance

const writes = world.operations.filter((operation) => operation.method !== "GET" && shortName(operation) !== "POST /setup")
const kindFor = ({ permission }: Declared): Kind => (permission === "instance_admin" ? "instance admin" : "owner")

async function rowsAfter(id: number): Promise<AuditRow[]> {
  await accounts.background.settled()
  return listAuditRows(catalog, {}, { before: Number.MAX_SAFE_INTEGER, last: id + 1 }, 100)
}
const lastId = async (): Promise<number> => (await catalog.get<{ id: number | null }>(sql`select max(id) as id from audit_log`))!.id ?? 0

/** The expected entry, except for its changes. */
async function expectedRow(
  operation: Declared,
  scene: Scene,
  { auditEntry, ids = {} }: Prepared & { auditEntry: ExpectedAuditEntry },
  answer: Json,
) {
  const { action, target, organization, site, actor } = auditEntry
  const [type, id = "201" in operation.answers ? answer.id : ids[operation.ids.at(-1)!]] = target
  const named = (name: string) => operation.ids.includes(name) && operation.gate.ask === name
  const hasSite = named("site")
  return {
    actor_kind: "user",
    actor_id: actor ?? (await scene.caller()).id,
    impersonator_id: action === "admin.user.impersonate-end" ? expect.any(Number) : null,
    action,
    target_type: type,
    target_id: id === "*" ? expect.any(String) : String(id),
    organization_id:
      organization === "made"
        ? answer.id
        : organization !== undefined
          ? organization
          : hasSite || named("organization")
            ? scene.organization
            : null,
    site_id: site === "made" ? answer.id : site !== undefined ? site : hasSite ? scene.site : null,
    outcome: "ok",
    request_id: "same",
  }
}

test.each(named(writes))(
  "%s leaves one audit entry",
  async (_, operation) => {
    const scene = sceneOf(world, kindFor(operation))
    // Runs jobs that are due, so that they are not mistaken for the requested work.
    if ("202" in operation.answers) await world.instance.runJobs()
    const prepared = await preparedCall(operation, scene)
    if (prepared.refused) return
    await accounts.background.settled()
    const before = await lastId()
    const { status, body, text } = await makeCall(operation, scene, prepared)
    expect({ status: status < 400, text: status < 400 ? "" : text }).toEqual({ status: true, text: "" })
    if (!prepared.auditEntry) {
      expect(prepared.silent).toBeString()
      return
    }
    const { auditEntry } = prepared
    const rows = await rowsAfter(before)
    const others = rows.filter(({ action }) => auditEntry.beside?.includes(action))
    expect(others.map(({ action }) => action)).toEqual([...(auditEntry.beside ?? [])])
    const own = rows.filter((row) => !others.includes(row))
    expect(own).toMatchObject([await expectedRow(operation, scene, { ...prepared, auditEntry }, body)])
    const [row] = own
    expect(row!.action).toMatch(/^[a-z]+(\.[a-z_-]+){2}$/)
    expect(row!.actor_email).toContain("@")
    const written = JSON.stringify(rows)
    for (const secret of auditEntry.secrets?.(body) ?? []) {
      expect(secret.length).toBeGreaterThanOrEqual(6)
      expect(written).not.toContain(secret)
    }
    if (auditEntry.work) await expectWork(await lastId(), auditEntry.work, await scene.caller())
  },
  60_000,
)

/** Expects the audit entries of a job, attributed to the user who requested it. */
async function expectWork(before: number, actions: readonly string[], { id }: Person): Promise<void> {
  await world.instance.runJobs()
  const rows = (await rowsAfter(before)).reverse()
  expect(rows.map(({ action, actor_id, outcome }) => [action, actor_id, outcome])).toEqual(actions.map((action) => [action, id, "ok"]))
}

/** Waits for emails first. Tickets are excluded, because an attempt uses them up. */
async function settledState(): Promise<Record<string, string>> {
  await accounts.background.settled()
  await accounts.mail.deliver()
  const { login_tickets: _, ...state } = await stateOf(world)
  return state
}

const FAILING = raw("create trigger audit_fails before insert on audit_log begin select raise(abort, 'no room for the row'); end")

test.each(named(writes))(
  "%s changes nothing if its audit entry cannot be written",
  async (_, operation) => {
    const scene = sceneOf(world, kindFor(operation))
    const prepared = await preparedCall(operation, scene)
    if (!prepared.auditEntry) return
    await scene.caller()
    const before = await settledState()
    await catalog.run(sql`${FAILING}`)
    const { status, text } = await makeCall(operation, scene, prepared)
    await accounts.background.settled()
    await catalog.run(sql`drop trigger audit_fails`)
    if (!prepared.auditEntry.later) expect({ failed: status >= 500, text: status >= 500 ? "" : text }).toEqual({ failed: true, text: "" })
    expect(text).not.toContain("no room")
    expect(await settledState()).toEqual(before)
  },
  60_000,
)

test("the hash chain covers all entries, and a changed entry is detected", async () => {
  const rows = await lastId()
  expect(rows).toBeGreaterThan(writes.length)
  expect(await audit.verify()).toEqual({ ok: true, rows })
  const middle = Math.floor(rows / 2)
  const { action } = (await catalog.get<{ action: string }>(sql`select action from audit_log where id = ${middle}`))!
  await catalog.run(sql`update audit_log set action = 'sites.site.nothing' where id = ${middle}`)
  expect(await audit.verify()).toMatchObject({ ok: false, first_broken_id: middle })
  await catalog.run(sql`update audit_log set action = ${action} where id = ${middle}`)
  expect(await audit.verify()).toMatchObject({ ok: true })
  await catalog.run(sql`delete from audit_log where id = ${middle}`)
  expect(await audit.verify()).toMatchObject({ ok: false, first_broken_id: middle + 1 })
})
