import { afterAll, beforeAll, expect, test } from "bun:test"
import { expireInvitations } from "../../../../src/store/catalog/organizations.ts"
import { sql } from "../../../../src/store/sql.ts"
import { startInstance, type TestInstance } from "../../../kit.ts"
import { openMailbox } from "../../../mailbox.ts"
import { faultsIn, newestEntries, newUser, ORGANIZATION, type SignedInUser, signedIn, type UntypedResponse } from "../people.ts"

let instance: TestInstance
let owner: SignedInUser
beforeAll(async () => {
  instance = await startInstance({ settings: { base_url: "http://localhost" } })
  owner = await newUser(instance, { role: "owner" })
})
afterAll(() => instance[Symbol.asyncDispose]())

const INVITE = `${ORGANIZATION}/members/invite`
const INVITATIONS = `${ORGANIZATION}/invitations`
const DAY = 86_400_000
const PASSWORD = "correct horse battery staple"

let count = 0
const newAddress = () => `new-${count++}@example.com`
const tokenOf = ({ body }: UntypedResponse): string => body.link.split("/").at(-1)
const offer = ({ api }: TestInstance, token: string) => api.get(`/api/private/invitations/${token}`) as Promise<UntypedResponse>
const accept = ({ api }: TestInstance, token: string, body: unknown, cookie?: string) =>
  api.send("POST", `/api/private/invitations/${token}/accept`, body, undefined, cookie ? { cookie } : {}) as Promise<UntypedResponse>
const newcomer = { name: "Newcomer", password: PASSWORD }

/** Returns the session cookie that a response sets. */
const sessionIn = (instance: TestInstance, { headers }: UntypedResponse) => signedIn(instance, headers.get("set-cookie")!.split(";")[0]!)

test("without a mail server, the link is shown once to the inviter", async () => {
  const email = newAddress()
  const made = await owner.send("POST", INVITE, { email: ` ${email.toUpperCase()} `, role: "editor" })
  expect(made).toMatchObject({
    status: 201,
    body: {
      email: email.toUpperCase(),
      role: "editor",
      site_ids: [],
      invited_by: owner.id,
      created_at: "2026-11-21T12:00:00Z",
      expires_at: "2026-11-28T12:00:00Z",
      sent_at: null,
      state: "open",
    },
  })
  expect(made.body.link).toMatch(/^http:\/\/localhost\/invite\/[\w-]{43}$/)
  const { link: _, ...listed } = made.body
  expect((await owner.get(INVITATIONS)).body.data).toEqual([listed])
  expect(await newestEntries(instance)).toMatchObject([
    { action: "accounts.invitation.create", target_label: email.toUpperCase(), organization_id: 1, actor_id: owner.id },
  ])
  // The token is neither in the list nor in the log nor in the catalog.
  const rows = await instance.app.instance.catalog.all(sql`select * from invitations`)
  const log = await newestEntries(instance, 10)
  expect(JSON.stringify([rows, log])).not.toContain(tokenOf(made))
})

test("an invited person sees the invitation and signs up", async () => {
  const email = newAddress()
  const token = tokenOf(await owner.send("POST", INVITE, { email, role: "editor" }))
  expect(await offer(instance, token)).toMatchObject({
    status: 200,
    body: {
      organization: { id: 1, name: "Shop" },
      role: "editor",
      email,
      sites: [],
      expires_at: "2026-11-28T12:00:00Z",
      has_account: false,
    },
  })
  for (const [body, faults] of [
    [{}, ["/name required", "/password required"]],
    [{ ...newcomer, password: "short" }, ["/password too_short"]],
    [{ ...newcomer, password: email.toUpperCase() }, ["/password password_too_common"]],
    [{ ...newcomer, role: "owner" }, ["/role unknown_field"]],
    [{ ...newcomer, name: "" }, ["/name too_short"]],
  ] as const)
    expect(faultsIn(await accept(instance, token, body))).toEqual([...faults])

  const joined = await accept(instance, token, newcomer)
  expect(joined).toMatchObject({ status: 200, body: { organization: { id: 1, name: "Shop" } } })
  const member = await sessionIn(instance, joined)
  const me = (await member.get("/api/private/me")).body
  expect(me).toMatchObject({
    // The link was passed on by hand, so it does not verify the address.
    user: { email, email_verified: false, name: "Newcomer", is_instance_admin: false },
    organizations: [{ id: 1, role: "editor" }],
    sites: [{ id: 1, role: "editor" }],
  })
  const deeds = await newestEntries(instance, 2)
  expect(deeds.map(({ action, actor_email }) => [action, actor_email])).toEqual([
    ["accounts.session.create", email],
    ["accounts.invitation.accept", email],
  ])
  const login = await instance.api.post("/api/private/auth/login", { email, password: PASSWORD })
  expect(login.status).toBe(200)
  // The link works only once.
  expect((await offer(instance, token)).body.code).toBe("invitation_not_found")
  expect((await accept(instance, token, newcomer)).body.code).toBe("invitation_not_found")
})

test("an existing user signs in with the invited address to accept", async () => {
  const user = await newUser(instance)
  const other = await newUser(instance)
  const made = await owner.send("POST", INVITE, { email: user.email.toUpperCase(), role: "viewer" })
  const token = tokenOf(made)
  expect((await offer(instance, token)).body.has_account).toBe(true)
  expect(await accept(instance, token, newcomer)).toMatchObject({ status: 401, body: { code: "session_required" } })
  expect(await accept(instance, token, {}, other.cookie)).toMatchObject({ status: 403, body: { code: "invitation_for_other_email" } })
  expect(faultsIn(await accept(instance, token, newcomer, user.cookie))).toEqual(["/name unknown_field", "/password unknown_field"])
  expect(await accept(instance, token, {}, user.cookie)).toMatchObject({ status: 200, body: { organization: { id: 1 } } })
  expect((await user.get(ORGANIZATION)).body.role).toBe("viewer")
  expect(await newestEntries(instance)).toMatchObject([
    { action: "accounts.invitation.accept", actor_id: user.id, changes: { role: [null, "viewer"], user: [null, user.email] } },
  ])
})

test("only one of simultaneous acceptances creates a member", async () => {
  const user = await newUser(instance)
  const token = tokenOf(await owner.send("POST", INVITE, { email: user.email, role: "viewer" }))
  const known = await Promise.all(Array.from({ length: 5 }, () => accept(instance, token, {}, user.cookie)))
  expect(known.map(({ status }) => status).sort()).toEqual([200, 404, 404, 404, 404])

  const email = newAddress()
  const fresh = tokenOf(await owner.send("POST", INVITE, { email, role: "viewer" }))
  const unknown = await Promise.all(Array.from({ length: 4 }, () => accept(instance, fresh, newcomer)))
  expect(unknown.map(({ status }) => status).sort()).toEqual([200, 404, 404, 404])
  const { catalog } = instance.app.instance
  expect(await catalog.all(sql`select count(*) as n from users where email_key = ${email}`)).toEqual([{ n: 1 }])
  expect(await catalog.all(sql`select count(*) as n from memberships where user_id = ${user.id}`)).toEqual([{ n: 1 }])
})

test("a guest is invited to sites and sees only these", async () => {
  const second = await instance.app.instance.sites.create(1, { name: "Second", hosts: ["second.example"] })
  const third = await instance.app.instance.sites.create(1, { name: "Third", hosts: ["third.example"] })
  const email = newAddress()
  const token = tokenOf(await owner.send("POST", INVITE, { email, role: "guest", site_ids: [second.id, third.id] }))
  await instance.app.instance.sites.remove(third.id)
  expect((await offer(instance, token)).body.sites).toEqual([{ id: second.id, name: "Second" }])
  const guest = await sessionIn(instance, await accept(instance, token, newcomer))
  expect((await guest.get("/api/private/me")).body.sites).toMatchObject([{ id: second.id, role: "viewer" }])
  expect((await guest.get("/api/private/sites/1/members")).body.code).toBe("site_not_found")
})

test.each<[string, object, string[]]>([
  ["nothing", {}, ["/email required", "/role required"]],
  ["an invalid address", { email: "nobody", role: "viewer" }, ["/email invalid_email"]],
  ["an unknown role", { email: "a@example.com", role: "boss" }, ["/role invalid_choice"]],
  ["a guest without a list of sites", { email: "a@example.com", role: "guest" }, ["/site_ids required"]],
  ["a guest with an empty list of sites", { email: "a@example.com", role: "guest", site_ids: [] }, ["/site_ids too_few"]],
  ["a guest of a foreign site", { email: "a@example.com", role: "guest", site_ids: [1, 99] }, ["/site_ids/1 invalid_choice"]],
  ["a guest of a site given as text", { email: "a@example.com", role: "guest", site_ids: ["1"] }, ["/site_ids/0 invalid_type"]],
  ["sites for an editor", { email: "a@example.com", role: "editor", site_ids: [1] }, ["/site_ids unknown_field"]],
  ["two addresses", { email: "a@example.com, b@example.com", role: "viewer" }, ["/email invalid_email"]],
])("rejects an invitation with %s", async (_, body, faults) => {
  const answer = await owner.send("POST", INVITE, body)
  expect([answer.status, faultsIn(answer)]).toEqual([422, faults])
})

test("a role is at most the inviter's, on invitation and on acceptance", async () => {
  const admin = await newUser(instance, { role: "admin" })
  const helper = await newUser(instance, { role: "editor" })
  const member = (who: SignedInUser) => `${ORGANIZATION}/members/${who.id}`
  await owner.send("PATCH", member(helper), { grants: ["members:write"] })
  expect((await admin.send("POST", INVITE, { email: newAddress(), role: "owner" })).body.code).toBe("forbidden")
  expect((await helper.send("POST", INVITE, { email: newAddress(), role: "admin" })).body.code).toBe("forbidden")

  const byAdmin = tokenOf(await admin.send("POST", INVITE, { email: newAddress(), role: "admin" }))
  const byHelper = tokenOf(await helper.send("POST", INVITE, { email: newAddress(), role: "viewer" }))
  await owner.send("PATCH", member(admin), { role: "editor", grants: ["members:write"] })
  await owner.send("PATCH", member(helper), { grants: [] })
  for (const token of [byAdmin, byHelper]) {
    expect((await offer(instance, token)).status).toBe(404)
    expect((await accept(instance, token, newcomer)).body.code).toBe("invitation_not_found")
  }
  await owner.send("PATCH", member(admin), { role: "admin" })
  expect((await offer(instance, byAdmin)).status).toBe(200)
  await instance.app.instance.catalog.run(sql`update users set status = 'disabled' where id = ${admin.id}`)
  expect((await offer(instance, byAdmin)).status).toBe(404)
})

test("a new invitation to an address invalidates the previous one, and members cannot be invited", async () => {
  const email = newAddress()
  const first = await owner.send("POST", INVITE, { email, role: "viewer" })
  const second = await owner.send("POST", INVITE, { email: email.toUpperCase(), role: "editor" })
  expect((await offer(instance, tokenOf(first))).status).toBe(404)
  expect((await offer(instance, tokenOf(second))).body.role).toBe("editor")
  const member = await newUser(instance, { role: "viewer" })
  expect(await owner.send("POST", INVITE, { email: member.email.toUpperCase(), role: "viewer" })).toMatchObject({
    status: 409,
    body: { code: "already_member" },
  })
  // A user who joined by another way does not join twice.
  const user = await newUser(instance)
  const token = tokenOf(await owner.send("POST", INVITE, { email: user.email, role: "admin" }))
  const { catalog } = instance.app.instance
  await catalog.run(sql`insert into memberships (organization_id, user_id, role, created_at) values (1, ${user.id}, 'viewer', 0)`)
  expect((await accept(instance, token, {}, user.cookie)).body.code).toBe("already_member")
  expect((await user.get(ORGANIZATION)).body.role).toBe("viewer")
})

test("unknown, withdrawn, foreign and expired invitations receive the same response", async () => {
  await using own = await startInstance()
  const { clock } = own
  const boss = await newUser(own, { role: "owner" })
  const made = async () => boss.send("POST", INVITE, { email: newAddress(), role: "viewer" })
  const [withdrawn, over] = [await made(), await made()]
  expect((await boss.send("DELETE", `${INVITATIONS}/${withdrawn.body.id}`)).status).toBe(204)
  expect(await newestEntries(own)).toMatchObject([{ action: "accounts.invitation.delete", target_id: String(withdrawn.body.id) }])
  expect((await boss.send("DELETE", `${INVITATIONS}/${withdrawn.body.id}`)).body.code).toBe("invitation_not_found")
  const withoutId = ({ status, body: { request_id: _, ...body } }: UntypedResponse) => ({ status, body })
  const unknown = withoutId(await offer(own, "x"))
  expect(unknown).toMatchObject({ status: 404, body: { code: "invitation_not_found" } })
  clock.advance(7 * DAY - 1)
  expect((await offer(own, tokenOf(over))).status).toBe(200)
  clock.advance(1)
  for (const token of [tokenOf(withdrawn), tokenOf(over), "A".repeat(43), "%00", "'--"]) {
    if (token !== "%00") expect(withoutId(await offer(own, token))).toEqual(unknown)
    expect((await accept(own, token, newcomer)).status).toBe(404)
  }
  const listed = await newUser(own, { role: "owner" })
  expect((await listed.get(INVITATIONS)).body.data).toMatchObject([{ id: over.body.id, state: "expired" }])
})

test("an expired invitation stays expired when the clock goes back", async () => {
  await using own = await startInstance()
  const { clock, app } = own
  const boss = await newUser(own, { role: "owner" })
  const made = await boss.send("POST", INVITE, { email: newAddress(), role: "viewer" })
  clock.advance(7 * DAY)
  await expireInvitations(app.instance.catalog, clock.now())
  clock.advance(-3 * DAY)
  expect((await offer(own, tokenOf(made))).status).toBe(404)
  expect((await accept(own, tokenOf(made), newcomer)).status).toBe(404)
  // Resending creates a new link.
  const again = await boss.send("POST", `${INVITATIONS}/${made.body.id}/resend`)
  expect((await offer(own, tokenOf(again))).status).toBe(200)
})

test("resending an invitation creates a new link that is valid for another week", async () => {
  const made = await owner.send("POST", INVITE, { email: newAddress(), role: "viewer" })
  const again = await owner.send("POST", `${INVITATIONS}/${made.body.id}/resend`)
  expect(again).toMatchObject({ status: 200, body: { id: made.body.id, state: "open" } })
  expect((await offer(instance, tokenOf(made))).status).toBe(404)
  expect((await offer(instance, tokenOf(again))).status).toBe(200)
  for (const id of [0, 999_999, "x"]) {
    expect((await owner.send("POST", `${INVITATIONS}/${id}/resend`)).body.code).toBe("invitation_not_found")
    expect((await owner.send("DELETE", `${INVITATIONS}/${id}`)).body.code).toBe("invitation_not_found")
  }
  const editor = await newUser(instance, { role: "editor" })
  expect((await editor.get(INVITATIONS)).body).toMatchObject({ code: "forbidden", required_permission: "members:read" })
})

test("an organization has at most 50 open invitations and sends at most 50 a day", async () => {
  await using own = await startInstance()
  const { clock } = own
  const boss = await newUser(own, { role: "owner" })
  const invite = () => boss.send("POST", INVITE, { email: newAddress(), role: "viewer" })
  const made: UntypedResponse[] = []
  for (let i = 0; i < 50; i++) made.push(await invite())
  const limit = { status: 422, body: { code: "limit_reached", limit: 50, resource: "invitations" } }
  expect(await invite()).toMatchObject(limit)
  // Withdrawing one does not raise the daily limit.
  await boss.send("DELETE", `${INVITATIONS}/${made[0]!.body.id}`)
  expect(await invite()).toMatchObject(limit)
  clock.advance(DAY)
  expect((await invite()).status).toBe(201)
  expect(await invite()).toMatchObject(limit)
})

test("a repeated request creates one invitation and shows its link again", async () => {
  const body = { email: newAddress(), role: "viewer" }
  const first = await owner.send("POST", INVITE, body, { "idempotency-key": "i-1" })
  const second = await owner.send("POST", INVITE, body, { "idempotency-key": "i-1" })
  expect(second.body).toEqual(first.body)
  expect((await offer(instance, tokenOf(second))).status).toBe(200)
  // The stored response is sealed.
  const kept = await instance.app.instance.catalog.all(sql`select * from idempotent_answers`)
  expect(JSON.stringify(kept)).not.toContain(tokenOf(first))
})

test("no one signs up while sign-ups are closed; existing users can accept", async () => {
  const { settings } = instance.app.instance
  await settings.change({ registration: "closed" }, null)
  const token = tokenOf(await owner.send("POST", INVITE, { email: newAddress(), role: "viewer" }))
  expect(await accept(instance, token, newcomer)).toMatchObject({ status: 403, body: { code: "forbidden" } })
  const user = await newUser(instance)
  const known = tokenOf(await owner.send("POST", INVITE, { email: user.email, role: "viewer" }))
  expect((await accept(instance, known, {}, user.cookie)).status).toBe(200)
  await settings.change({ registration: null }, null)
})

test("with a mail server, the link is sent by email and not shown", async () => {
  await using mailbox = await openMailbox()
  await using own = await startInstance({ settings: { ...mailbox.settings, base_url: "http://localhost" } })
  const boss = await newUser(own, { role: "owner" })
  const email = newAddress()
  const made = await boss.send("POST", INVITE, { email, role: "admin" })
  expect(made.body).toMatchObject({ email, sent_at: "2026-11-21T12:00:00Z" })
  expect(made.body).not.toHaveProperty("link")
  await own.app.instance.accounts.mail.deliver()
  expect(mailbox.emails.map(({ to }) => to)).toEqual([email])
  const token = /http:\/\/localhost\/invite\/([\w-]{43})/.exec(mailbox.emails[0]!.text)?.[1] ?? ""
  expect((await offer(own, token)).body).toMatchObject({ email, role: "admin" })

  const resend = () => boss.send("POST", `${INVITATIONS}/${made.body.id}/resend`)
  const early = await resend()
  expect(early).toMatchObject({ status: 429, body: { code: "rate_limited" } })
  expect(early.headers.get("retry-after")).toBe("300")
  own.clock.advance(5 * 60_000)
  expect((await resend()).status).toBe(200)
  await own.app.instance.accounts.mail.deliver()
  expect(mailbox.emails).toHaveLength(2)
  expect((await offer(own, token)).status).toBe(404)
  const fresh = /http:\/\/localhost\/invite\/([\w-]{43})/.exec(mailbox.emails[1]!.text)?.[1] ?? ""
  const member = await sessionIn(own, await accept(own, fresh, newcomer))
  expect((await member.get("/api/private/me")).body.user).toMatchObject({ email, email_verified: true })
})
