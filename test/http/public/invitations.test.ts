import { afterAll, beforeAll, expect, test } from "bun:test"
import type { Scope } from "../../../src/domain/key.ts"
import { startInstance, type TestInstance } from "../../kit.ts"
import { openMailbox } from "../../mailbox.ts"
import { newUser, type SignedInUser, signedIn } from "../private/people.ts"

/** Invitations to a site with an API key, from the request to the guest who has accepted. */

const INVITATIONS = "/api/public/v1/sites/1/invitations"
/** The scopes that a viewer of a site could give to a key. */
const OF_VIEWERS: Scope[] = ["stats:read", "annotations:read", "settings:read", "segments:read", "configuration:read"]
let instance: TestInstance
let owner: SignedInUser
let otherSite: number
beforeAll(async () => {
  instance = await startInstance({ settings: { base_url: "http://localhost" } })
  owner = await newUser(instance, { role: "owner" })
  otherSite = (await instance.app.instance.sites.create(1, { name: "Outlet", hosts: ["outlet.example"] })).id
})
afterAll(() => instance[Symbol.asyncDispose]())

interface Invitation {
  id: number
  link: string
}

let count = 0
const newAddress = () => `guest-${count++}@example.com`
const invite = (body: object, key = instance.key, headers?: Record<string, string>) =>
  instance.api.send("POST", INVITATIONS, body, key, headers)
const listed = async (key = instance.key) =>
  ((await instance.api.get(INVITATIONS, key)).body as { data: Invitation[] }).data.map(({ id }) => id)

/** Accepts an invitation with a new account. */
async function accept(link: string) {
  const path = `/api/private/invitations/${link.split("/").at(-1)}/accept`
  const answer = await instance.api.post(path, { name: "Guest", password: "correct horse battery staple" })
  if (answer.status !== 200) return { ...answer, user: undefined }
  return { ...answer, user: await signedIn(instance, answer.headers.get("set-cookie")!.split(";")[0]!) }
}

test("an invited person becomes a guest with the role, on this site only", async () => {
  const email = newAddress()
  const made = await invite({ email, role: "editor" })
  const { link, ...shown } = made.body as Invitation
  expect(made).toMatchObject({
    status: 201,
    body: { email, role: "editor", site_ids: [1], state: "open", sent_at: null, expires_at: "2026-11-28T12:00:00Z" },
  })
  const path = `${INVITATIONS}/${shown.id}`
  expect(made.headers.get("location")).toBe(path)
  // The link is shown once.
  expect((await instance.api.get(path, instance.key)).body).toEqual(shown)
  expect(await listed()).toContain(shown.id)

  const { user } = await accept(link)
  expect(await user!.get("/api/private/sites/1")).toMatchObject({ status: 200, body: { role: "editor" } })
  expect((await user!.get(`/api/private/sites/${otherSite}`)).status).toBe(404)
  expect((await user!.send("POST", "/api/private/sites/1/goals", { kind: "event", value: "by a guest" })).status).toBe(201)
  expect(await listed()).not.toContain(shown.id)
  const { data } = (await instance.api.get("/api/public/v1/sites/1/members", instance.key)).body as { data: object[] }
  expect(data).toMatchObject([{ email, role: "editor" }])
  expect((await instance.api.get(path, instance.key)).body).toMatchObject({ code: "invitation_not_found" })
})

test("the invitation is emailed if the instance can, and the response then has no link", async () => {
  await using mailbox = await openMailbox()
  await using mailing = await startInstance({ settings: { base_url: "http://localhost", ...mailbox.settings } })
  const made = await mailing.api.post(INVITATIONS, { email: "ann@example.com", role: "viewer" }, mailing.key)
  expect(made).toMatchObject({ status: 201, body: { sent_at: "2026-11-21T12:00:00Z" } })
  expect(made.body).not.toHaveProperty("link")
  await mailing.app.instance.accounts.mail.deliver()
  expect(mailbox.emails).toMatchObject([{ to: "ann@example.com", text: expect.stringContaining("http://localhost/invite/") }])
})

test("members are named instead of invited", async () => {
  const { email, id } = await newUser(instance, { role: "viewer" })
  const refused = await invite({ email: email.toUpperCase(), role: "viewer" })
  expect(refused).toMatchObject({ status: 409, body: { code: "already_member", existing_id: id } })
  expect(await instance.api.send("PUT", `/api/public/v1/sites/1/members/${id}`, { role: "editor" }, instance.key)).toMatchObject({
    status: 200,
    body: { email, role: "editor" },
  })
})

test("all faults of an invitation are found at once", async () => {
  const { status, body } = await invite({ email: "nobody", role: "owner", site_ids: [otherSite] })
  const { errors } = body as { errors: { pointer: string; code: string }[] }
  expect({ status, faults: errors.map(({ pointer, code }) => `${pointer} ${code}`) }).toEqual({
    status: 422,
    faults: ["/email invalid_email", "/role invalid_choice", "/site_ids unknown_field"],
  })
})

test("a key invites only to roles whose rights it and its creator have", async () => {
  const key = await instance.makeKey(["members:write", ...OF_VIEWERS], [1])
  expect((await invite({ email: newAddress(), role: "viewer" }, key)).status).toBe(201)
  for (const role of ["editor", "admin"])
    expect(await invite({ email: newAddress(), role }, key)).toMatchObject({ status: 403, body: { code: "forbidden" } })

  // The creator may manage the roles of the site, but not invite to the organization.
  const { keys, catalog } = instance.app.instance
  const creator = await newUser(instance, { role: "viewer", siteRole: "admin" })
  const sent = { name: "Roles", scopes: ["members:write", ...OF_VIEWERS], site_access: "list", site_ids: [1] }
  const { secret } = await keys.create(1, sent, { by: creator.id })
  expect(await invite({ email: newAddress(), role: "viewer" }, secret)).toMatchObject({
    status: 403,
    body: { code: "forbidden", required_permission: "members:write" },
  })
  expect((await invite({ email: newAddress(), role: "viewer" }, await instance.makeKey(["members:read"]))).status).toBe(403)

  // An invitation ends with the right of the creator to send it.
  const admin = await newUser(instance, { role: "admin" })
  const { secret: own } = await keys.create(1, { ...sent, scopes: [...SCOPES_OF_EDITORS, ...sent.scopes] }, { by: admin.id })
  const { link } = (await invite({ email: newAddress(), role: "editor" }, own)).body as Invitation
  const { link: asViewer } = (await invite({ email: newAddress(), role: "viewer" }, own)).body as Invitation
  await catalog.script(`update memberships set denies_json = '["goals:write"]' where user_id = ${admin.id}`)
  expect(await accept(link)).toMatchObject({ status: 404, body: { code: "invitation_not_found" } })
  expect((await accept(asViewer)).status).toBe(200)
  const { link: later } = (await invite({ email: newAddress(), role: "viewer" }, own)).body as Invitation
  await catalog.script(`update memberships set role = 'viewer' where user_id = ${admin.id}`)
  expect((await accept(later)).status).toBe(404)
})

/** What an editor could give beyond a viewer. */
const SCOPES_OF_EDITORS: Scope[] = [
  ...(["goals:write", "funnels:write", "annotations:write", "segments:write", "events:write", "export:read", "shares:write"] as const),
]

test("a second invitation to the same address replaces the first, and a repeated request gets the first response", async () => {
  const email = newAddress()
  const first = (await invite({ email, role: "viewer" })).body as Invitation
  const again = await invite({ email, role: "admin" }, instance.key, { "idempotency-key": "second" })
  expect((await accept(first.link)).status).toBe(404)
  const repeated = await invite({ email, role: "admin" }, instance.key, { "idempotency-key": "second" })
  expect(repeated).toMatchObject({ status: 201, body: again.body as object })
  const { user } = await accept((again.body as Invitation).link)
  expect(await user!.get("/api/private/sites/1")).toMatchObject({ body: { role: "admin" } })
})

test("a key sees and withdraws the invitations whose sites it all reaches", async () => {
  const guest = (site_ids: number[]) =>
    owner.send("POST", "/api/private/organizations/1/members/invite", { email: newAddress(), role: "guest", site_ids })
  const [both, one, member] = [
    (await guest([1, otherSite])).body as Invitation,
    (await guest([1])).body as Invitation,
    (await owner.send("POST", "/api/private/organizations/1/members/invite", { email: newAddress(), role: "viewer" })).body as Invitation,
  ]
  const limited = await instance.makeKey(["members:write"], [1])
  const seen = await listed(limited)
  expect(seen).toContain(one.id)
  expect(await listed()).toContain(both.id)
  for (const { id } of [both, member]) {
    expect(seen).not.toContain(id)
    for (const method of ["GET", "DELETE"])
      expect(await instance.api.send(method, `${INVITATIONS}/${id}`, undefined, limited)).toMatchObject({
        status: 404,
        body: { code: "invitation_not_found" },
      })
  }
  expect((await instance.api.send("DELETE", `${INVITATIONS}/${one.id}`, undefined, limited)).status).toBe(204)
  expect((await accept(one.link)).status).toBe(404)
  expect(await listed(limited)).not.toContain(one.id)
})

test("an organization has 50 open invitations, however they were sent", async () => {
  await using full = await startInstance({ settings: { base_url: "http://localhost" } })
  const sendOne = (i: number) => full.api.post(INVITATIONS, { email: `full-${i}@example.com`, role: "viewer" }, full.key)
  for (let i = 0; i < 50; i++) expect((await sendOne(i)).status).toBe(201)
  expect(await sendOne(50)).toMatchObject({ status: 422, body: { code: "limit_reached", limit: 50, resource: "invitations" } })
})
