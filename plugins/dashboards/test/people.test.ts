import { afterAll, beforeAll, describe, expect, test } from "bun:test"
import { raw, sql } from "#plugin"
import { type Member, type Stage, startStage, text } from "./kit.ts"

let stage: Stage
beforeAll(async () => {
  stage = await startStage()
})
afterAll(() => stage[Symbol.asyncDispose]())

const idOf = async (who: Member) => ((await stage.get("/api/private/me", who)).body as { user: { id: number } }).user.id
const ownerOf = async (id: number, as = stage.owner) =>
  ((await stage.get(`/dashboards/${id}`, as)).body as { owner?: { id: number } }).owner?.id

describe("when a member leaves", () => {
  /** A member with a private dashboard, one of the site, and a deleted private one. */
  async function leaver() {
    const who = await stage.signIn({ role: "editor" })
    const deleted = await stage.make({ name: "Deleted" }, who)
    await stage.send("DELETE", `/dashboards/${deleted}`, undefined, who)
    return {
      who,
      id: await idOf(who),
      own: await stage.make({ name: "Private plans" }, who),
      shared: await stage.make({ name: "Team", visibility: "site" }, who),
    }
  }
  const remove = (id: number, body: object) => stage.send("DELETE", `/api/private/organizations/1/members/${id}`, body)

  test("private dashboards go to the person named in the removal, the others to who removes", async () => {
    const { id, own, shared } = await leaver()
    const heir = await stage.signIn({ role: "viewer" })
    expect((await remove(id, { transfer_to: await idOf(heir) })).status).toBe(204)
    expect(await ownerOf(own, heir)).toBe(await idOf(heir))
    expect(await ownerOf(shared)).toBe(await idOf(stage.owner))
    expect((await stage.get(`/dashboards/${own}`)).status).toBe(404)
  })

  test("private dashboards are deleted without such a person, and the audit entry has counts only", async () => {
    const { id, own, shared } = await leaver()
    expect((await remove(id, {})).status).toBe(204)
    expect(await ownerOf(shared)).toBe(await idOf(stage.owner))
    expect((await stage.get(`/dashboards/${own}`)).status).toBe(404)
    const { body } = (await stage.get("/api/private/organizations/1/audit?action=dashboards.dashboard.hand-over")) as {
      body: { data: { action: string; target_id: string; changes: object }[] }
    }
    const entry = body.data.find(({ action, target_id }) => action === "dashboards.dashboard.hand-over" && target_id === String(id))
    expect(entry?.changes).toEqual({
      site_dashboards: [1, await idOf(stage.owner)],
      private_dashboards: [1, "deleted"],
      shares: [0, await idOf(stage.owner)],
    })
    expect(JSON.stringify(body)).not.toContain("Private plans")
  })

  test("of their own accord, dashboards of the site go to an owner", async () => {
    const { who, shared } = await leaver()
    expect((await stage.send("POST", "/api/private/me/leave", { organization_id: 1 }, who)).status).toBe(204)
    expect(await ownerOf(shared)).toBe(await idOf(stage.owner))
  })
})

test("a transfer of the site hands over the dashboards of those who lose it", async () => {
  await using own = await startStage()
  const { organizations } = own.instance.app.instance
  const shared = await own.make({ name: "Team", visibility: "site" }, own.editor)
  const secret = await own.make({ name: "Private" }, own.editor)
  const kept = await own.make({ name: "Of the owner" })
  const created = await own.post("/api/private/organizations", { name: "Second" })
  const second = created.status === 201 ? (created.body as { id: number }).id : (await organizations.create({ name: "Second" })).id
  expect(created.status).toBe(201)
  expect((await own.post("/transfer", { organization_id: second })).status).toBe(200)
  expect((await own.get(`/dashboards/${shared}`)).body).toMatchObject({ owner: { id: 1 }, visibility: "site" })
  expect((await own.get(`/dashboards/${kept}`)).body).toMatchObject({ owner: { id: 1 } })
  expect((await own.get(`/dashboards/${secret}`)).status).toBe(404)
  expect((await own.get("/dashboards", own.editor)).status).toBe(404)
})

test("a change of role holds from the next request on", async () => {
  const member = await stage.signIn({ role: "editor" })
  const shared = await stage.make({ name: "Team", visibility: "site" })
  const rename = (name: string) => stage.send("PATCH", `/dashboards/${shared}`, { name }, member)
  expect((await rename("By an editor")).status).toBe(200)
  const id = await idOf(member)
  expect((await stage.send("PATCH", `/api/private/organizations/1/members/${id}`, { role: "viewer" })).status).toBe(200)
  const answer = await rename("By a viewer")
  expect([401, 403]).toContain(answer.status)
  expect((await stage.get(`/dashboards/${shared}`)).body).toMatchObject({ name: "By an editor" })
})

test("deleting a site deletes its dashboards and settings", async () => {
  await using own = await startStage()
  await own.instance.runJobs()
  const { sites, catalog } = own.instance.app.instance
  const { id } = await sites.create(1, { name: "Short-lived", hosts: ["short.example"] })
  const base = `/api/private/sites/${id}`
  const board = ((await own.post(`${base}/dashboards`, { name: "Board", visibility: "site", widgets: [text()] })).body as { id: number }).id
  await own.send("PUT", `${base}/dashboards/default`, { dashboard_id: board, scope: "site" })
  await own.send("PUT", `${base}/dashboards/order`, { ids: [board] })
  await sites.remove(id)
  own.instance.clock.advance(31 * 86_400_000)
  await own.instance.runJobs()
  for (const table of ["dashboards", "widgets", "preferences", "site_defaults"] as const) {
    expect({ table, rows: await catalog.all(sql`select 1 from ${raw(`dashboards_${table}`)}`) }).toEqual({ table, rows: [] })
  }
})

test("a deleted dashboard is removed after 30 days, with its widgets", async () => {
  await using own = await startStage()
  // The first run creates the schedules.
  await own.instance.runJobs()
  const id = await own.make({ name: "Old", widgets: [text()] })
  await own.send("DELETE", `/dashboards/${id}`)
  own.instance.clock.advance(31 * 86_400_000)
  await own.instance.runJobs()
  const again = await own.signIn({ role: "owner" })
  expect((await own.post(`/dashboards/${id}/restore`, {}, again)).status).toBe(404)
  expect(await own.instance.app.instance.catalog.all(sql`select id from dashboards_widgets`)).toEqual([])
})
