import { afterAll, beforeAll, expect, test } from "bun:test"
import { sql } from "../../../../src/store/sql.ts"
import type { Declared } from "../../openapi/document.ts"
import { codeOf, impersonating, openWorld, type Person, send, signedIn, type World } from "../scene.ts"
import { named, shortName } from "./recipes.ts"
import { rowsWritten } from "./state.ts"

/** The conditions beside the permission, for every route: recent proof of identity, impersonation, maintenance, second factor, disabled features. */

const world: World = await openWorld()
const { operations } = world
afterAll(() => world[Symbol.asyncDispose]())

const isOwn = ({ gate }: Declared) => gate.ask === "open" || gate.ask === "self"
const isWrite = ({ method, gate }: Declared) => method !== "GET" && !gate.reads
const addressOf = ({ path, gate }: Declared) =>
  path.replaceAll(/\{(\w+)\}/g, (_, name: string) => String(name === "site" && gate.deleted ? deletedSite : 1))
const call = (operation: Declared, cookie: string) =>
  send(world, operation.method, addressOf(operation), { cookie, ...(operation.method !== "GET" && { body: {} }) })

let deletedSite = 0
/** Owner of the organization and instance admin at once: has every permission. */
let master: Person
let staleSession: Person
let owner: Person
beforeAll(async () => {
  const { sites } = world.instance.app.instance
  deletedSite = (await sites.create(1, { name: "Late", hosts: ["late.example"] })).id
  await sites.remove(deletedSite)
  master = await signedIn(world, { role: "owner", isInstanceAdmin: true })
  const provedAt = world.instance.clock.now() - 10 * 60_000 - 1
  staleSession = await signedIn(world, { role: "owner", isInstanceAdmin: true, provedAt })
  owner = await signedIn(world, { role: "owner" })
})

// Written by hand from areas/01 section 3 and areas/09: password, email, second factor, passkeys, API keys (create, rotate), role
// changes, ownership, deletion of organization or site, restore, impersonation, user deletion, backups that leave or enter the machine.
const SUDO = `
POST /me/email · POST /me/password · DELETE /me · POST /me/totp/start · POST /me/totp/confirm · POST /me/totp/disable ·
POST /me/recovery-codes · POST /me/passkeys · PATCH /me/passkeys/{passkey_id} · DELETE /me/passkeys/{passkey_id} ·
DELETE /organizations/{organization} · PATCH /organizations/{organization}/members/{user} ·
POST /organizations/{organization}/transfer-ownership · POST /organizations/{organization}/api-keys ·
POST /organizations/{organization}/api-keys/{api_key_id}/rotate · POST /sites/{site}/api-keys ·
POST /organizations/{organization}/providers · PATCH /organizations/{organization}/providers/{provider_id} ·
DELETE /organizations/{organization}/providers/{provider_id} · PUT /sites/{site}/members/{user} · DELETE /sites/{site}/members/{user} · POST /sites/{site}/erase ·
DELETE /sites/{site} · POST /sites/{site}/restore · POST /sites/{site}/transfer · POST /sites/{site}/reset ·
DELETE /admin/users/{user_id} · POST /admin/users/{user_id}/reset-password · POST /admin/users/{user_id}/reset-mfa · POST /admin/users/{user_id}/impersonate ·
DELETE /admin/organizations/{organization_id} · PUT /admin/organizations/{organization_id}/members/{user} ·
DELETE /admin/organizations/{organization_id}/members/{user} · POST /admin/sites/{site_id}/transfer ·
POST /admin/sites/{site_id}/purge · DELETE /admin/sites/{site_id} ·
GET /admin/backups/{backup_id}/download · POST /admin/backups/upload · POST /admin/backups/{backup_id}/restore ·
DELETE /admin/backups/{backup_id}`
  .split("·")
  .map((name) => name.trim())

test("exactly the sensitive actions need a recent proof of identity", () => {
  expect(
    operations
      .filter(({ gate }) => gate.sudo)
      .map(shortName)
      .sort(),
  ).toEqual([...SUDO].sort())
})

test.each(named(operations.filter(({ gate }) => gate.sudo)))("%s needs a recent proof of identity", async (_, operation) => {
  const answer = await call(operation, staleSession.cookie)
  expect({ status: answer.status, code: codeOf(answer) }).toEqual({ status: 403, code: "reauth_required" })
})

test.each(named(operations.filter(({ gate }) => gate.ask !== "open" && gate.ask !== "instance_admin")))(
  "%s during an impersonation",
  async (_, operation) => {
    const cookie = {
      read_only: await impersonating(world, master, owner, "read_only"),
      full: await impersonating(world, master, owner, "full"),
    }
    const { personal } = operation.gate
    const isShut = { read_only: personal || (isWrite(operation) && !isOwn(operation)), full: personal }
    for (const mode of ["read_only", "full"] as const) {
      // An allowed write would take effect.
      if (!isShut[mode] && operation.method !== "GET") continue
      const written = await rowsWritten(world)
      const answer = await call(operation, cookie[mode])
      const isRefused = codeOf(answer) === "impersonation_read_only" && answer.status === 403
      expect({ mode, isRefused, code: codeOf(answer) }).toMatchObject({ mode, isRefused: isShut[mode] ?? false })
      expect(await rowsWritten(world)).toBe(written)
    }
  },
)

test("the console is closed during an impersonation, and admins cannot be impersonated", async () => {
  const cookies = { user: await impersonating(world, master, owner, "full"), admin: await impersonating(world, master, master, "full") }
  const written = await rowsWritten(world)
  for (const operation of operations.filter(({ gate }) => gate.ask === "instance_admin")) {
    const codes = [codeOf(await call(operation, cookies.user)), codeOf(await call(operation, cookies.admin))]
    expect({ name: shortName(operation), codes }).toEqual({ name: shortName(operation), codes: ["forbidden", "session_required"] })
  }
  expect(await rowsWritten(world)).toBe(written)
})

test("in maintenance mode, only instance admins can write, and everyone can read", async () => {
  const { catalog } = world.instance.app.instance
  const change = (enabled: boolean) => send(world, "POST", "/api/private/admin/maintenance", { cookie: master.cookie, body: { enabled } })
  expect((await change(true)).status).toBe(200)
  const written = await rowsWritten(world)
  for (const operation of operations.filter((one) => one.gate.ask !== "instance_admin" && one.method !== "GET")) {
    const { gate } = operation
    const isSigningIn = operation.path.startsWith("/api/private/auth/")
    const waits = gate.waits === true || (isWrite(operation) && gate.ask !== "open" && !isSigningIn)
    if (!waits && isOwn(operation)) continue
    const answer = await call(operation, owner.cookie)
    const name = shortName(operation)
    expect({ name, waits: codeOf(answer) === "maintenance", status: answer.status === 503 }).toEqual({ name, waits, status: waits })
    if (waits) expect(Number(answer.headers.get("retry-after"))).toBeGreaterThan(0)
  }
  expect(await rowsWritten(world)).toBe(written)
  for (const operation of operations.filter((one) => one.method === "GET" && one.gate.ask !== "instance_admin"))
    expect({ name: shortName(operation), code: codeOf(await call(operation, owner.cookie)) }).not.toMatchObject({ code: "maintenance" })
  // Instance admins can still write.
  const goal = { kind: "event", value: "in maintenance" }
  expect((await send(world, "POST", "/api/private/sites/1/goals", { cookie: master.cookie, body: goal })).status).toBe(201)
  expect((await change(false)).status).toBe(200)
  expect((await send(world, "POST", "/api/private/sites/1/pin", { cookie: owner.cookie })).status).toBe(405)
  await catalog.run(sql`delete from goals where value = 'in maintenance'`)
})

test("without the second factor that a policy requires, only the user's own account is accessible", async () => {
  const policy = (require_mfa: boolean) =>
    world.instance.app.instance.organizations.update(1, { policy: { require_mfa } }, { current: (organization) => organization })
  await policy(true)
  const member = await signedIn(world, { role: "owner" })
  const written = await rowsWritten(world)
  for (const operation of operations.filter((one) => !isOwn(one))) {
    const answer = await call(operation, member.cookie)
    const name = shortName(operation)
    expect({ name, status: answer.status, code: codeOf(answer) }).toEqual({ name, status: 403, code: "mfa_enrollment_required" })
  }
  expect(await rowsWritten(world)).toBe(written)
  expect((await send(world, "GET", "/api/private/me", { cookie: member.cookie })).status).toBe(200)
  await policy(false)
})

test("routes of a disabled area do not exist for anyone", async () => {
  const { plugins } = world.instance.app.instance
  const ofAreas = operations.filter(({ gate }) => gate.feature !== undefined)
  expect(ofAreas.length).toBeGreaterThan(20)
  for (const feature of new Set(ofAreas.map(({ gate }) => gate.feature!))) {
    await plugins.turn(feature, false, null, {})
    const written = await rowsWritten(world)
    for (const operation of ofAreas.filter(({ gate }) => gate.feature === feature)) {
      const name = shortName(operation)
      const known = await call(operation, master.cookie)
      expect({ name, status: known.status, code: codeOf(known) }).toEqual({ name, status: 404, code: "feature_disabled" })
      const stranger = await call(operation, "")
      const isOpen = operation.gate.ask === "open"
      expect({ name, code: codeOf(stranger) }).toEqual({ name, code: isOpen ? "feature_disabled" : "session_required" })
    }
    expect(await rowsWritten(world)).toBe(written)
    await plugins.turn(feature, true, null, {})
  }
})
