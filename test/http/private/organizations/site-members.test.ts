import { afterAll, beforeAll, expect, test } from "bun:test"
import { startInstance, type TestInstance } from "../../../kit.ts"
import { faultsIn, newestEntries, newUser, ORGANIZATION, type SignedInUser } from "../people.ts"

let instance: TestInstance
let owner: SignedInUser
beforeAll(async () => {
  instance = await startInstance()
  owner = await newUser(instance, { role: "owner" })
})
afterAll(() => instance[Symbol.asyncDispose]())

const ROWS = "/api/private/sites/1/members"
const put = (who: SignedInUser, whom: SignedInUser, role: string) => who.send("PUT", `${ROWS}/${whom.id}`, { role })
const roleOf = async (who: SignedInUser) => (await who.get("/api/private/me")).body.sites[0]?.role as string | undefined

test("a site role raises or limits a member, but does not lower owners and admins", async () => {
  const editor = await newUser(instance, { role: "editor" })
  const admin = await newUser(instance, { role: "admin" })
  expect(await put(owner, editor, "viewer")).toMatchObject({
    status: 200,
    body: { user: { id: editor.id, email: editor.email }, role: "viewer", created_at: "2026-11-21T12:00:00Z" },
  })
  expect(await newestEntries(instance)).toMatchObject([
    { action: "accounts.site_member.put", target_id: String(editor.id), site_id: 1, organization_id: 1, actor_id: owner.id },
  ])
  expect(await roleOf(editor)).toBe("viewer")
  await put(owner, editor, "admin")
  expect(await roleOf(editor)).toBe("admin")
  await put(owner, admin, "viewer")
  expect(await roleOf(admin)).toBe("admin")
  expect((await owner.get(`${ORGANIZATION}/members?q=${editor.email}`)).body.data[0].site_roles).toEqual([{ site_id: 1, role: "admin" }])
  expect((await owner.get(ROWS)).body.data.map(({ user, role }: { user: { id: number }; role: string }) => [user.id, role])).toEqual([
    [editor.id, "admin"],
    [admin.id, "viewer"],
  ])
  expect((await owner.send("DELETE", `${ROWS}/${editor.id}`)).status).toBe(204)
  expect(await newestEntries(instance)).toMatchObject([{ action: "accounts.site_member.remove", target_id: String(editor.id) }])
  expect(await roleOf(editor)).toBe("editor")
  expect((await owner.send("DELETE", `${ROWS}/${editor.id}`)).body.code).toBe("user_not_found")
})

test("a guest has exactly the rights of the site role", async () => {
  const guest = await newUser(instance, { role: "guest" })
  expect((await guest.get("/api/private/me")).body.sites).toEqual([])
  expect((await guest.get(ROWS)).body.code).toBe("site_not_found")
  await put(owner, guest, "editor")
  expect(await roleOf(guest)).toBe("editor")
  // Grants of a membership do not apply to guests.
  expect(faultsIn(await owner.send("PATCH", `${ORGANIZATION}/members/${guest.id}`, { grants: ["people:read"] }))).toEqual([
    "/grants/0 invalid_choice",
  ])
  expect((await guest.get(ROWS)).body).toMatchObject({ code: "forbidden", required_permission: "members:read" })
  expect((await guest.get(ORGANIZATION)).body.code).toBe("organization_not_found")
  await owner.send("DELETE", `${ROWS}/${guest.id}`)
  expect(await roleOf(guest)).toBeUndefined()
})

test("an admin of the site by site role edits its site roles, and nothing else of the organization", async () => {
  const chief = await newUser(instance, { role: "guest", siteRole: "admin" })
  const viewer = await newUser(instance, { role: "viewer" })
  const stranger = await newUser(instance)
  expect((await chief.get(ROWS)).status).toBe(200)
  expect((await put(chief, viewer, "admin")).status).toBe(200)
  expect((await put(chief, viewer, "editor")).status).toBe(200)
  for (const id of [stranger.id, 999_999, "x"])
    expect(await chief.send("PUT", `${ROWS}/${id}`, "{")).toMatchObject({ status: 404, body: { code: "user_not_found" } })
  expect((await chief.send("DELETE", `${ROWS}/${viewer.id}`)).status).toBe(204)
  expect((await chief.get("/api/private/sites/1/api-keys")).body).toMatchObject({ code: "forbidden", required_permission: "keys:write" })
  for (const path of ["", "/members", "/audit", "/invitations"]) expect((await chief.get(ORGANIZATION + path)).status).toBe(404)
  // A role on one site gives no access to another.
  const second = await instance.app.instance.sites.create(1, { name: "Second", hosts: ["second.example"] })
  expect((await chief.get(`/api/private/sites/${second.id}/members`)).body.code).toBe("site_not_found")
  // The same holds for a member with such a role, unless it is denied.
  const lifted = await newUser(instance, { role: "viewer", siteRole: "admin" })
  expect((await put(lifted, viewer, "editor")).status).toBe(200)
  expect((await lifted.get(`${ORGANIZATION}/members`)).status).toBe(403)
  await owner.send("PATCH", `${ORGANIZATION}/members/${lifted.id}`, { denies: ["members:write"] })
  expect((await put(lifted, viewer, "viewer")).body).toMatchObject({ code: "forbidden", required_permission: "members:write" })
})

test("no one assigns a site role above their own", async () => {
  const helper = await newUser(instance, { role: "editor" })
  const viewer = await newUser(instance, { role: "viewer" })
  const chief = await newUser(instance, { role: "viewer", siteRole: "admin" })
  await owner.send("PATCH", `${ORGANIZATION}/members/${helper.id}`, { grants: ["members:write"] })
  expect((await put(helper, viewer, "editor")).status).toBe(200)
  expect((await put(helper, viewer, "admin")).body.code).toBe("forbidden")
  expect((await put(helper, chief, "viewer")).body.code).toBe("forbidden")
  expect((await helper.send("DELETE", `${ROWS}/${chief.id}`)).body.code).toBe("forbidden")
  expect((await put(viewer, viewer, "admin")).body).toMatchObject({ code: "forbidden", required_permission: "members:write" })
})

test.each<[unknown, string[]]>([
  [{}, ["/role required"]],
  [{ role: "owner" }, ["/role invalid_choice"]],
  [{ role: "guest" }, ["/role invalid_choice"]],
  [{ role: 1 }, ["/role invalid_type"]],
  [{ role: "viewer", site_id: 2 }, []],
  [{ role: "viewer", colour: 2 }, ["/colour unknown_field"]],
])("validates a site role of %j", async (body, faults) => {
  const viewer = await newUser(instance, { role: "viewer" })
  const answer = await owner.send("PUT", `${ROWS}/${viewer.id}`, body)
  expect([answer.status, faultsIn(answer)]).toEqual([faults.length === 0 ? 200 : 422, faults])
})

test("a site has at most 100 guests", async () => {
  await using own = await startInstance()
  const boss = await newUser(own, { role: "owner" })
  for (let i = 0; i < 100; i++) await own.signIn({ role: "guest", siteRole: "viewer" })
  const [guest, viewer] = [await newUser(own, { role: "guest" }), await newUser(own, { role: "viewer" })]
  expect(await put(boss, guest, "viewer")).toMatchObject({ status: 422, body: { code: "limit_reached", limit: 100, resource: "guests" } })
  expect((await put(boss, viewer, "viewer")).status).toBe(200)
  // A user with a site role cannot become a guest beyond the limit either.
  expect(await boss.send("PATCH", `${ORGANIZATION}/members/${viewer.id}`, { role: "guest" })).toMatchObject({
    status: 422,
    body: { code: "limit_reached", resource: "guests" },
  })
})

test("a member limited by a site role cannot remove it, or that of a member above them", async () => {
  const limited = await newUser(instance, { role: "editor", siteRole: "viewer" })
  const other = await newUser(instance, { role: "editor", siteRole: "viewer" })
  await owner.send("PATCH", `${ORGANIZATION}/members/${limited.id}`, { grants: ["members:write"] })
  for (const whom of [limited, other])
    expect(await limited.send("DELETE", `${ROWS}/${whom.id}`)).toMatchObject({ status: 403, body: { code: "forbidden" } })
  expect(await roleOf(limited)).toBe("viewer")
  const guest = await newUser(instance, { role: "guest", siteRole: "viewer" })
  expect((await limited.send("DELETE", `${ROWS}/${guest.id}`)).status).toBe(204)
  // A site role that changes nothing for an admin can be removed.
  const admin = await newUser(instance, { role: "admin", siteRole: "viewer" })
  const chief = await newUser(instance, { role: "guest", siteRole: "admin" })
  expect((await chief.send("DELETE", `${ROWS}/${admin.id}`)).status).toBe(204)
})
