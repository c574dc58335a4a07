import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test"
import { type Actor, definePlugin, type MemberLeave, type SiteTransfer, sql } from "#plugin"
import { insertMembership } from "../../src/store/catalog/members.ts"
import { newUser, ORGANIZATION, type SignedInUser } from "../http/private/people.ts"
import { startInstance, type TestInstance } from "../kit.ts"

const heard: ({ left: MemberLeave } | { moved: SiteTransfer })[] = []
const fails = { next: false }

const things = definePlugin({
  id: "things",
  title: "Things",
  migrations: [{ name: "0001_things", sql: "create table things_owned (user_id integer not null) strict;" }],
  setup: (host) => ({
    async onMemberLeave(statements, leave) {
      heard.push({ left: leave })
      await statements.run(sql`insert into things_owned (user_id) values (${leave.successor})`)
      if (fails.next) throw new Error("made up")
    },
    async onSiteTransfer(statements, transfer) {
      heard.push({ moved: transfer })
      await host.audit.write(statements, host.audit.system, {
        action: "things.site.move",
        target: { type: "site", id: transfer.siteId, label: "" },
      })
    },
  }),
})

let instance: TestInstance
let owner: SignedInUser

beforeAll(async () => {
  instance = await startInstance({ plugins: [things] })
  owner = await newUser(instance, { role: "owner", isInstanceAdmin: true })
})
afterAll(() => instance[Symbol.asyncDispose]())
beforeEach(() => {
  heard.length = 0
  fails.next = false
})

const owned = async () =>
  (await instance.app.instance.catalog.all<{ user_id: number }>(sql`select user_id from things_owned order by rowid`)).map(
    ({ user_id }) => user_id,
  )
const actorOf = ({ id, email }: SignedInUser): Actor => ({ kind: "user", id, email, ipPrefix: "", userAgent: "", requestId: "" })
const remove = (by: SignedInUser, user: SignedInUser, body?: object) => by.send("DELETE", `${ORGANIZATION}/members/${user.id}`, body)

describe("when a member leaves, areas hear who takes over", () => {
  test("after a removal: the member named in it, and the member who carried it out", async () => {
    const [admin, editor] = [await newUser(instance, { role: "admin" }), await newUser(instance, { role: "editor" })]
    expect((await remove(admin, editor, { transfer_to: owner.id })).status).toBe(204)
    expect(heard).toEqual([{ left: { organizationId: 1, siteIds: [1], userId: editor.id, transferTo: owner.id, successor: admin.id } }])
  })

  test("after leaving at their own request, or deleting their account: an owner", async () => {
    const [leaver, deleter] = [await newUser(instance, { role: "admin" }), await newUser(instance, { role: "viewer" })]
    expect((await leaver.send("POST", "/api/private/me/leave", { organization_id: 1 })).status).toBe(204)
    expect((await deleter.send("DELETE", "/api/private/me", {})).status).toBe(204)
    expect(heard).toEqual(
      [leaver, deleter].map(({ id }) => ({
        left: { organizationId: 1, siteIds: [1], userId: id, transferTo: undefined, successor: owner.id },
      })),
    )
  })

  test("after the instance admin deletes the account: the admin if they are a member, otherwise an owner", async () => {
    const [member, stranger] = [
      await newUser(instance, { role: "viewer", isInstanceAdmin: true }),
      await newUser(instance, { isInstanceAdmin: true }),
    ]
    for (const [admin, expected] of [
      [member, member.id],
      [stranger, owner.id],
    ] as const) {
      const user = await newUser(instance, { role: "viewer" })
      heard.length = 0
      await instance.app.console.users.remove(actorOf(admin), String(user.id), {})
      expect(heard).toMatchObject([{ left: { userId: user.id, successor: expected } }])
    }
  })

  test("within the change, which a failure undoes", async () => {
    const before = await owned()
    const viewer = await newUser(instance, { role: "viewer" })
    fails.next = true
    expect((await remove(owner, viewer)).status).toBe(500)
    expect(heard).toHaveLength(1)
    expect(await owned()).toEqual(before)
    expect((await viewer.get("/api/private/sites/1")).status).toBe(200)
  })

  test("also while they are disabled", async () => {
    const viewer = await newUser(instance, { role: "viewer" })
    await instance.app.instance.plugins.turn("things", false, null)
    expect((await remove(owner, viewer)).status).toBe(204)
    await instance.app.instance.plugins.turn("things", true, null)
    expect(heard).toHaveLength(1)
  })

  test("but not when the last owner may not leave", async () => {
    expect((await owner.send("POST", "/api/private/me/leave", { organization_id: 1 })).body.code).toBe("last_owner")
    expect(heard).toEqual([])
  })
})

test("when a site moves, areas hear which members lose it and who moved it", async () => {
  const { organizations, catalog } = instance.app.instance
  const { id: to } = await organizations.create({ name: "Other" }, { owner: owner.id })
  const [both, loser, guest] = [
    await newUser(instance, { role: "editor" }),
    await newUser(instance, { role: "viewer" }),
    await newUser(instance, { role: "viewer" }),
  ]
  const now = Date.parse("2026-11-21T12:00:00Z")
  await insertMembership(catalog, { organizationId: to, userId: both.id, role: "viewer", now })
  await insertMembership(catalog, { organizationId: to, userId: guest.id, role: "guest", now })
  expect((await owner.send("POST", "/api/private/sites/1/transfer", { organization_id: to })).status).toBe(200)
  expect(heard).toEqual([{ moved: { siteId: 1, from: 1, to, leaverIds: expect.any(Array), successor: owner.id } }])
  const { leaverIds } = (heard[0] as { moved: SiteTransfer }).moved
  expect(leaverIds).toContain(loser.id)
  expect(leaverIds).toContain(guest.id)
  expect(leaverIds).not.toContain(both.id)
  expect(leaverIds).not.toContain(owner.id)
  const actions = await catalog.all<{ action: string }>(sql`select action from audit_log order by id desc limit 2`)
  expect(actions.map(({ action }) => action)).toContain("things.site.move")
})

test("a user's present access to a site is known without a session", async () => {
  const { access, organizations } = instance.app.instance
  const { id: organizationId } = await organizations.create({ name: "Third" }, { owner: owner.id })
  const site = await instance.app.instance.sites.create(organizationId, { name: "Third", hosts: ["third.example"] })
  const viewer = await newUser(instance, { role: "viewer", organizationId })
  expect(await access.ofUser(viewer.id, site.id)).toMatchObject({ site: { id: site.id }, role: "viewer" })
  expect((await access.ofUser(viewer.id, site.id))!.permissions.has("site:write")).toBe(false)
  for (const [userId, siteId] of [
    [viewer.id, 99],
    [99_999, site.id],
    [(await newUser(instance, { role: "viewer" })).id, site.id],
  ] as const)
    expect(await access.ofUser(userId, siteId)).toBeUndefined()
  await instance.app.console.users.disable(actorOf(owner), String(viewer.id))
  expect(await access.ofUser(viewer.id, site.id)).toBeUndefined()
})
