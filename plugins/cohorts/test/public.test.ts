import { expect, test } from "bun:test"
import { runErasures, startPeople, THREE_BUYERS } from "./kit.ts"

const SITE = "/api/public/v1/sites/1"

test("a program previews and erases a person by user id or by pseudonym", async () => {
  await using stage = await startPeople()
  await stage.record([...THREE_BUYERS, { user: "ann", at: "2026-10-19T10:00:00Z", did: "/pricing" }])
  const { api, makeKey, signIn } = stage.instance
  const key = await makeKey(["people:erase", "export:read"])
  const ask = (body: unknown) => api.post(`${SITE}/people/erasure-preview`, body, key)

  const preview = await ask({ user_id: "ann" })
  const { visitors } = preview.body as { visitors: string[] }
  expect(preview).toMatchObject({ status: 200, body: { visits: 2, events: 2, last_seen: "2026-10-19T10:00:00Z" } })
  expect((await ask({ visitor: visitors[0] })).body).toEqual(preview.body)
  expect((await ask({ user_id: "nobody" })).body).toEqual({ visitors: [], visits: 0, events: 0 })
  const exported = async () => String((await api.get(`${SITE}/export?type=visits&period=all`, key)).body)
  expect(await exported()).toContain(visitors[0]!)

  expect(await api.post(`${SITE}/people/erasures`, { visitor: visitors[0], confirm: true }, key)).toMatchObject({
    status: 202,
    body: { id: 1, state: "queued" },
  })
  await runErasures(stage)
  expect(await api.get(`${SITE}/people/erasures/1`, key)).toMatchObject({
    status: 200,
    body: { state: "done", found: { visits: 2, events: 2 } },
  })
  expect(await exported()).not.toContain(visitors[0]!)
  expect((await ask({ visitor: visitors[0] })).body).toMatchObject({ visits: 0, events: 0 })

  const { data } = (await api.get("/api/private/organizations/1/audit?limit=2", undefined, { cookie: await signIn({ role: "owner" }) }))
    .body as {
    data: { action: string; actor_kind: string; actor_email: string }[]
  }
  expect(data[0]).toMatchObject({ action: "cohorts.person.erase", actor_kind: "key", actor_email: "2 scopes" })
})

test.each([
  ["without a person", { confirm: true }, [["/user_id", "required"]]],
  [
    "with both names of a person",
    { user_id: "ann", visitor: "0011223344556677", confirm: true },
    [["/visitor", "unsupported_combination"]],
  ],
  ["with the name that the dashboard uses", { person: "0011223344556677", confirm: true }, [["/person", "unknown_field"]]],
])("rejects an erasure %s", async (_, body, faults) => {
  await using stage = await startPeople()
  const key = await stage.instance.makeKey(["people:erase"])
  const { status, body: answer } = await stage.instance.api.post(`${SITE}/people/erasures`, body, key)
  const { errors } = answer as { errors: { pointer: string; code: string }[] }
  expect(status).toBe(422)
  expect(errors.map(({ pointer, code }) => [pointer, code])).toEqual(expect.arrayContaining(faults))
})

test("erasing needs its own scope, and no erasure is left in another site", async () => {
  await using stage = await startPeople()
  const { api, makeKey, app } = stage.instance
  const other = await app.instance.sites.create(1, { name: "Other", hosts: ["other.example"] })
  const [weak, limited] = [await makeKey(["sites:write", "stats:read", "export:read"]), await makeKey(["people:erase"], [other.id])]
  const body = { user_id: "ann", confirm: true }
  expect(await api.post(`${SITE}/people/erasures`, body, weak)).toMatchObject({
    status: 403,
    body: { code: "insufficient_scope", required_scopes: ["people:erase"] },
  })
  expect(await api.post(`${SITE}/people/erasures`, body, limited)).toMatchObject({ status: 404, body: { code: "site_not_found" } })
  const path = `/api/public/v1/sites/${other.id}/people/erasures`
  const { id } = (await api.post(path, body, limited)).body as { id: number }
  expect((await api.get(`${path}/${id}`, limited)).status).toBe(200)
  const wide = await makeKey(["people:erase"])
  expect(await api.get(`${SITE}/people/erasures/${id}`, wide)).toMatchObject({ status: 404, body: { code: "erasure_not_found" } })
})

test("retention and cohorts are what a viewer sees", async () => {
  await using stage = await startPeople()
  await stage.record([...THREE_BUYERS, { user: "ann", at: "2026-10-19T10:00:00Z", did: "/pricing" }])
  await stage.post("/cohorts", { name: "Buyers", definition: { conditions: [{ type: "event", value: "purchase" }] } })
  const { api, statsKey } = stage.instance
  const question = { cohort_by: "week", from: "2026-10-05", to: "2026-10-18", periods: 2 }
  const answer = await api.post(`${SITE}/retention`, question, statsKey)
  expect(answer.status).toBe(200)
  expect(answer.body).toEqual((await stage.post("/retention", question, stage.viewer)).body as object)
  expect((await api.get(`${SITE}/cohorts?limit=1`, statsKey)).body).toMatchObject({ data: [{ id: 1, name: "Buyers" }], has_more: false })
  expect(await api.post(`${SITE}/retention`, { periods: 0 }, statsKey)).toMatchObject({
    status: 422,
    body: { errors: [{ pointer: "/periods" }] },
  })
})
