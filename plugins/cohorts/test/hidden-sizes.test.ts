import { expect, test } from "bun:test"
import type { EvaluationResponse } from "../responses.ts"
import { type Deed, type PeopleStage, startPeople } from "./kit.ts"

const bought = { type: "event", value: "purchase" }
const BUYERS = { conditions: [bought] }
const deeds = (names: string, did: string): Deed[] => [...names].map((user) => ({ user, at: "2026-10-18T10:00:00Z", did }))

/** Nine people, of whom seven bought something: two people did not, which is a small group. */
async function startNine(): Promise<PeopleStage> {
  const stage = await startPeople()
  await stage.record([...deeds("abcdefg", "purchase"), ...deeds("hi", "/")])
  await stage.post("/cohorts", { name: "Buyers", definition: BUYERS })
  return stage
}

const evaluated = async ({ post, viewer }: PeopleStage, body: object): Promise<EvaluationResponse> =>
  (await post("/cohorts/evaluate", { trend_days: 3, breakdown: ["device"], ...body }, viewer)).body as EvaluationResponse

test("a condition given twice, or as another cohort, does not show what it hides alone", async () => {
  await using stage = await startNine()
  const reference = { type: "cohort", cohort_id: 1 }
  for (const definition of [
    BUYERS,
    { match: "any", conditions: [bought] },
    { conditions: [bought, bought] },
    { conditions: [bought, { ...bought, operator: "starts_with" }] },
    { conditions: [reference] },
    { conditions: [reference, bought] },
  ]) {
    const { size, trend, breakdown } = await evaluated(stage, { definition })
    expect({ size, trend: trend.filter(({ size }) => size !== null && size > 0), rows: breakdown[0]!.rows }).toEqual({
      size: null,
      trend: [],
      rows: [],
    })
  }
})

test("a frozen copy hides the size that the original hides", async () => {
  await using stage = await startNine()
  expect(await stage.post("/cohorts/1/freeze", { name: "Frozen" })).toMatchObject({ status: 201, body: { size: 7 } })
  expect((await stage.get("/cohorts/2")).body).toMatchObject({ size: 7 })
  for (const path of ["/cohorts/2/refresh"]) expect((await stage.post(path, undefined, stage.viewer)).body).toMatchObject({ size: null })
  expect((await stage.get("/cohorts/2", stage.viewer)).body).toMatchObject({ size: null })
  expect(await evaluated(stage, { cohort_id: 2 })).toMatchObject({ size: null })
})

test("a comparison does not show the size of a cohort that is hidden", async () => {
  await using stage = await startNine()
  const everyone = { conditions: [{ type: "active_days" }] }
  expect((await evaluated(stage, { definition: everyone, compare_to: 1 })).compared).toEqual({ size: null, people: null })
})

test("reports on the people of a cohort are refused to those from whom its size is hidden", async () => {
  await using stage = await startNine()
  const refused = { status: 422, body: { errors: [{ pointer: "/cohort_id", code: "invalid_choice" }] } }
  expect(await stage.post("/retention", { cohort_id: 1 }, stage.viewer)).toMatchObject(refused)
  expect(await stage.get("/power-users/histogram?cohort_id=1", stage.viewer)).toMatchObject(refused)
  expect(await stage.get("/engagement?cohort_id=1", stage.viewer)).toMatchObject(refused)
  expect((await stage.get("/power-users/histogram?cohort_id=1")).status).toBe(200)
})

test("a changed definition has no size until it is computed", async () => {
  await using stage = await startNine()
  await stage.post("/cohorts/1/refresh")
  const changed = await stage.send("PATCH", "/cohorts/1", { definition: { conditions: [{ type: "active_days" }] } })
  expect(changed.body).toMatchObject({ size: null, computed_at: null })
  expect((await stage.post("/cohorts/1/refresh")).body).toMatchObject({ size: 9 })
})

test("without the permission for revenue, a cohort that looks at it shows no numbers and cannot be named", async () => {
  await using stage = await startNine()
  const spent = { conditions: [{ type: "revenue", operator: "lt", amount: "1", currency: "EUR" }] }
  await stage.post("/cohorts", { name: "Spent", definition: spent })
  await stage.post("/cohorts", { name: "Around", definition: { conditions: [{ type: "cohort", cohort_id: 2 }] } })
  const editor = { cookie: await stage.instance.signIn({ role: "editor" }) }
  await stage.instance.app.instance.catalog.script(
    `update memberships set denies_json = '["revenue:read"]' where id = (select max(id) from memberships)`,
  )
  const refused = { status: 403, body: { code: "forbidden", required_permission: "revenue:read" } }
  for (const [path, body] of [
    ["/cohorts", { name: "Mine", definition: spent }],
    ["/cohorts/evaluate", { cohort_id: 3 }],
    ["/cohorts/evaluate", { definition: BUYERS, compare_to: 2 }],
    ["/cohorts/2/refresh", undefined],
    ["/cohorts/2/freeze", { name: "Mine" }],
    ["/retention", { cohort_id: 3 }],
  ] as const)
    expect(await stage.post(path, body, editor)).toMatchObject(refused)
  expect(await stage.send("PATCH", "/cohorts/1", { definition: spent }, editor)).toMatchObject(refused)
  for (const path of ["/cohorts/2/members", "/power-users?cohort_id=3", "/power-users/histogram?cohort_id=2", "/engagement?cohort_id=2"])
    expect(await stage.get(path, editor)).toMatchObject(refused)
  const filters = encodeURIComponent(JSON.stringify([{ dimension: "cohort", operator: "is", values: [3] }]))
  const report = `/stats/summary?period=30d&filters=${filters}`
  expect(await stage.get(report, editor)).toMatchObject({ status: 400, body: { errors: [{ code: "invalid_choice" }] } })
  expect((await stage.get(report)).status).toBe(200)
})

test("a frozen cohort whose members were not stored frees its name", async () => {
  await using stage = await startNine()
  await stage.post("/cohorts/1/freeze", { name: "Frozen" })
  await stage.instance.app.instance.catalog.script("update cohorts_cohorts set computed_at = null where id = 2")
  expect(await stage.post("/cohorts", { name: "Frozen", definition: BUYERS })).toMatchObject({ status: 409 })
  await stage.instance.runJobs()
  stage.instance.clock.advance(2 * 86_400_000)
  await stage.instance.runJobs()
  expect((await stage.post("/cohorts", { name: "Frozen", definition: BUYERS })).status).toBe(201)
})
