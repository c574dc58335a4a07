import { expect, test } from "bun:test"
import { type Answer, startInstance, type TestInstance } from "../../../kit.ts"
import { ADA, browserOf, setUp } from "../browser.ts"
import { signedIn } from "../person.ts"
import { appCode, withApp } from "./authenticator-app.ts"

/** Makes every slow hash answer with 503, so that a test can see which requests compute one. */
const endHashing = ({ app }: TestInstance): void => app.instance.accounts.passwords.close()

const unlocking =
  (instance: TestInstance, password = "wrong horse") =>
  async (slug: string, address = "192.0.2.1"): Promise<number> => {
    const request = new Request(`http://localhost/api/share/s/${slug}/unlock`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ password }),
    })
    return (await instance.fetch(request, address)).status
  }

test("computes a hash for each attempt to unlock a shared view, also an unknown one or one without a password", async () => {
  await using instance = await startInstance()
  const editor = await signedIn(instance, { role: "editor" })
  const locked = (await editor.post("/sites/1/shares", { name: "Locked", password: "correct horse" })).body as { slug: string }
  const open = (await editor.post("/sites/1/shares", { name: "Open" })).body as { slug: string }
  endHashing(instance)
  const unlock = unlocking(instance)
  expect(await unlock("A".repeat(22))).toBe(503)
  expect(await unlock(open.slug)).toBe(503)
  expect(await unlocking(instance, "")(locked.slug)).toBe(503)
  expect(await unlock(locked.slug)).toBe(503)
})

test("allows 60 attempts per minute and network to unlock shared views, including unknown ones", async () => {
  await using instance = await startInstance()
  const editor = await signedIn(instance, { role: "editor" })
  const { slug } = (await editor.post("/sites/1/shares", { name: "Locked", password: "correct horse" })).body as { slug: string }
  const unlock = unlocking(instance, "correct horse")
  for (let i = 0; i < 60; i++) expect(await unlock(`unknown${i}`, `192.0.2.${i}`)).toBe(404)
  expect(await unlock("unknown", "192.0.2.99")).toBe(429)
  expect(await unlock(slug, "192.0.2.99")).toBe(429)
  expect(await unlock(slug, "192.0.3.99")).toBe(204)
  instance.clock.advance(60_000)
  expect(await unlock(slug, "192.0.2.99")).toBe(204)
})

test("limits wrong passwords of a shared view even if they arrive simultaneously", async () => {
  await using instance = await startInstance()
  const editor = await signedIn(instance, { role: "editor" })
  const { slug } = (await editor.post("/sites/1/shares", { name: "Locked", password: "correct horse" })).body as { slug: string }
  const statuses = await Promise.all(Array.from({ length: 12 }, () => unlocking(instance)(slug)))
  expect(statuses.sort()).toEqual([...Array(5).fill(401), ...Array(7).fill(429)])
})

test("lets many users of one network unlock a shared view with the right password", async () => {
  await using instance = await startInstance()
  const editor = await signedIn(instance, { role: "editor" })
  const { slug } = (await editor.post("/sites/1/shares", { name: "Locked", password: "correct horse" })).body as { slug: string }
  for (let i = 0; i < 8; i++) expect(await unlocking(instance, "correct horse")(slug)).toBe(204)
})

test("answers a sign-in before 20 queued attempts to unlock a shared view", async () => {
  await using instance = await startInstance()
  await setUp(instance)
  const editor = await signedIn(instance, { role: "editor" })
  const { slug } = (await editor.post("/sites/1/shares", { name: "Locked", password: "correct horse" })).body as { slug: string }
  const done: string[] = []
  const flood = Array.from({ length: 20 }, (_, i) => unlocking(instance)(slug, `192.0.${i}.1`).then(() => done.push("unlock")))
  await Bun.sleep(0)
  const { status } = await browserOf(instance).post("/auth/login", { email: ADA.email, password: ADA.password })
  done.push("sign-in")
  await Promise.all(flood)
  expect(status).toBe(200)
  expect(done.indexOf("sign-in")).toBeLessThan(10)
})

test.each<[string, string, unknown, number, string]>([
  ["recovery codes without a second factor", "/me/recovery-codes", undefined, 409, "invalid_state"],
  ["an app with an unknown ticket", "/me/totp/confirm", { ticket: "x", code: "000000" }, 401, "ticket_invalid"],
  ["a common password", "/me/password", { current: ADA.password, password: "password1234" }, 422, "validation_failed"],
])("computes no hash for %s", async (_, path, body, status, code) => {
  await using instance = await startInstance()
  const ada = await setUp(instance)
  endHashing(instance)
  expect(await ada.post(path, body)).toMatchObject({ status, code })
})

test("computes the hashes of recovery codes only after the first code of an app is correct", async () => {
  await using instance = await startInstance()
  const ada = await setUp(instance)
  const { body: start } = await ada.post("/me/totp/start")
  endHashing(instance)
  const right = appCode(start.secret, instance.clock.now())
  const wrong = String((Number(right) + 1) % 1_000_000).padStart(6, "0")
  expect(await ada.post("/me/totp/confirm", { ticket: start.ticket, code: wrong })).toMatchObject({ status: 401, code: "invalid_code" })
  expect((await ada.post("/me/totp/confirm", { ticket: start.ticket, code: right })).status).toBe(503)
})

test("creates at most five sets of recovery codes per hour and user", async () => {
  await using instance = await startInstance()
  const { ada } = await withApp(instance)
  for (let i = 0; i < 4; i++) expect((await ada.post("/me/recovery-codes")).status).toBe(200)
  const refused = await ada.post("/me/recovery-codes")
  expect(refused).toMatchObject({ status: 429, code: "rate_limited" })
  expect(Number(refused.headers.get("retry-after"))).toBeLessThanOrEqual(3_600)
})

test("computes no hash for a shared view that is rejected for another reason", async () => {
  await using instance = await startInstance()
  const owner = await signedIn(instance, { role: "owner" })
  const path = "/sites/1/shares"
  const { id } = (await owner.post(path, { name: "Open" })).body as { id: number }
  endHashing(instance)
  const password = "correct horse"
  const codeOf = async (answer: Promise<Answer>) => ((await answer).body as { code: string }).code
  expect(await codeOf(owner.post(path, { name: "x", password, embed_origins: ["https://blog.example"] }))).toBe("embed_needs_no_password")
  expect(await codeOf(owner.patch(`${path}/${id}`, { password, version: 7 }))).toBe("version_conflict")
  expect(await codeOf(owner.patch(`${path}/${id}`, { password }, { "if-match": '"7"' }))).toBe("precondition_failed")
  for (let made = 1; made < 20; made++) await owner.post(path, { name: "Open" })
  expect(await codeOf(owner.post(path, { name: "x", password }))).toBe("limit_reached")
  await owner.patch("/organizations/1", { policy: { public_links: "off" } })
  expect(await codeOf(owner.post(path, { name: "x", password }))).toBe("sharing_disabled")
})

test("computes no hash for an invitation to a full organization", async () => {
  await using instance = await startInstance()
  const owner = await signedIn(instance, { role: "owner" })
  const invited = await owner.post("/organizations/1/members/invite", { email: "new@example.org", role: "viewer" })
  const token = (invited.body as { link: string }).link.split("/").at(-1)
  await instance.app.instance.catalog.script(`
    with recursive numbers (n) as (select 1 union all select n + 1 from numbers where n < 500)
    insert into users (email, email_key, name, is_instance_admin, status, created_at)
    select 'm' || n || '@example.org', 'm' || n || '@example.org', 'Member', 0, 'active', 0 from numbers;
    insert into memberships (organization_id, user_id, role, grants_json, denies_json, created_at)
    select 1, id, 'viewer', '[]', '[]', 0 from users where name = 'Member'`)
  endHashing(instance)
  const body = { name: "New", password: "correct horse battery" }
  expect(await instance.api.post(`/api/private/invitations/${token}/accept`, body)).toMatchObject({
    status: 422,
    body: { code: "limit_reached" },
  })
})

test("computes no hash for a user whose address is already in use", async () => {
  await using instance = await startInstance()
  const admin = await signedIn(instance, { isInstanceAdmin: true, role: "owner" })
  const user = { email: "taken@example.org", name: "Taken" }
  expect((await admin.post("/admin/users", { ...user, send_invitation: false })).status).toBe(201)
  endHashing(instance)
  const body = { ...user, password: "correct horse battery" }
  expect(await admin.post("/admin/users", body)).toMatchObject({ status: 409, body: { code: "email_taken" } })
})

test("allows 20 requests per minute and address to set a password through a link", async () => {
  await using instance = await startInstance()
  await setUp(instance)
  const body = { token: "x", password: "correct horse battery" }
  const stranger = browserOf(instance, "203.0.113.9")
  for (let i = 0; i < 20; i++) expect(await stranger.post("/auth/reset", body)).toMatchObject({ status: 422, code: "token_invalid" })
  expect(await stranger.post("/auth/reset", body)).toMatchObject({ status: 429, code: "rate_limited" })
  expect((await browserOf(instance, "203.0.113.10").post("/auth/reset", body)).status).toBe(422)
})

test("allows 20 requests per minute and address to sign up through an invitation", async () => {
  await using instance = await startInstance()
  const owner = await signedIn(instance, { role: "owner" })
  const invited = await owner.post("/organizations/1/members/invite", { email: "new@example.org", role: "viewer" })
  const path = `/invitations/${(invited.body as { link: string }).link.split("/").at(-1)}/accept`
  const body = { name: "New", password: "short" }
  const stranger = browserOf(instance, "203.0.113.9")
  for (let i = 0; i < 20; i++) expect(await stranger.post(path, body)).toMatchObject({ status: 422, code: "validation_failed" })
  expect(await stranger.post(path, body)).toMatchObject({ status: 429, code: "rate_limited" })
  expect((await browserOf(instance, "203.0.113.10").post(path, body)).status).toBe(422)
})
