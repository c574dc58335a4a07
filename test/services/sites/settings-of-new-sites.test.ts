import { expect, test } from "bun:test"
import { startInstance, type TestInstance } from "../../kit.ts"

const ADMIN = "/api/private/admin"
const change = async (instance: TestInstance, changes: object) => {
  const cookie = await instance.signIn({ isInstanceAdmin: true })
  expect((await instance.api.send("PATCH", `${ADMIN}/settings`, { changes }, undefined, { cookie })).status).toBe(200)
}

test("applies the instance's defaults to new sites only", async () => {
  await using instance = await startInstance()
  await change(instance, { share_min_group: 20, default_identity_mode: "weekly", default_respect_gpc: true })
  const { sites } = instance.app.instance
  const { id } = await sites.create(1, { name: "New", hosts: ["new.example"] })
  const owner = await instance.signIn({ role: "owner" })
  const settingsOf = async (site: number) =>
    (await instance.api.get(`/api/private/sites/${site}/settings`, undefined, { cookie: owner })).body
  expect(await settingsOf(id)).toMatchObject({ min_group: 20, identity_mode: "weekly", respect_gpc: true })
  expect(await settingsOf(1)).toMatchObject({ min_group: 5, identity_mode: "daily", respect_gpc: false })
})

test("allows a site to store person ids only if the instance does, except where it was already on", async () => {
  await using instance = await startInstance()
  const cookie = await instance.signIn({ role: "owner" })
  const put = (store_user_ids: boolean) =>
    instance.api.send("PATCH", "/api/private/sites/1/settings", { store_user_ids }, undefined, { cookie })
  expect(await put(true)).toMatchObject({ status: 422, body: { errors: [{ pointer: "/store_user_ids", code: "invalid_choice" }] } })
  await change(instance, { store_user_ids_allowed: true })
  expect(await put(true)).toMatchObject({ status: 200, body: { store_user_ids: true } })
  await change(instance, { store_user_ids_allowed: null })
  expect(await put(true)).toMatchObject({ status: 200 })
  expect(await put(false)).toMatchObject({ status: 200 })
  expect(await put(true)).toMatchObject({ status: 422 })
})

test("rejects enabling a drop rule that has no data", async () => {
  await using instance = await startInstance()
  const cookie = await instance.signIn({ role: "owner" })
  const put = (body: object) => instance.api.send("PATCH", "/api/private/sites/1/settings", body, undefined, { cookie })
  expect(await put({ drop_datacenters: true })).toMatchObject({ status: 422, body: { errors: [{ pointer: "/drop_datacenters" }] } })
  expect(await put({ drop_datacenters: false })).toMatchObject({ status: 200 })
})

test("the instance's rule on public links applies to every organization, including existing views", async () => {
  await using instance = await startInstance()
  const cookie = await instance.signIn({ role: "owner" })
  const share = (body: object) => instance.api.send("POST", "/api/private/sites/1/shares", body, undefined, { cookie })
  const made = await share({ name: "Open" })
  expect(made).toMatchObject({ status: 201 })
  const { slug } = made.body as { slug: string }
  const look = async () => (await instance.api.get(`/api/share/s/${slug}`)).status
  expect(await look()).toBe(200)
  await change(instance, { public_links: "password_required" })
  expect(await look()).toBe(404)
  expect(await share({ name: "Second" })).toMatchObject({ status: 422, body: { code: "password_required" } })
  expect(await share({ name: "Third", password: "a walk along the river" })).toMatchObject({ status: 201 })
  await change(instance, { public_links: "off" })
  expect(await share({ name: "Fourth", password: "a walk along the river" })).toMatchObject({ body: { code: "sharing_disabled" } })
  await change(instance, { public_links: null })
  expect(await look()).toBe(200)
})
