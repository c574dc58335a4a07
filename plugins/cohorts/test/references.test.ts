import { expect, test } from "bun:test"
import { startPeople } from "./kit.ts"

const referring = (id: number) => ({ conditions: Array.from({ length: 3 }, () => ({ type: "cohort", cohort_id: id })) })
const REFUSED = { status: 422, body: { code: "too_many_conditions" } }

test("references to cohorts that refer to others are bounded, because each level multiplies them", async () => {
  await using stage = await startPeople()
  await stage.post("/cohorts", { name: "1", definition: { conditions: [{ type: "event", value: "purchase" }] } })
  for (const id of [1, 2]) expect((await stage.post("/cohorts", { name: `${id + 1}`, definition: referring(id) })).status).toBe(201)
  expect(await stage.post("/cohorts", { name: "4", definition: referring(3) })).toMatchObject(REFUSED)
})

test("a change is refused if it multiplies the references of another cohort", async () => {
  await using stage = await startPeople()
  for (const name of ["1", "2", "3", "4"])
    await stage.post("/cohorts", { name, definition: { conditions: [{ type: "event", value: "purchase" }] } })
  const refer = (from: number, to: number) => stage.send("PATCH", `/cohorts/${from}`, { definition: referring(to) })
  expect([(await refer(4, 3)).status, (await refer(3, 2)).status]).toEqual([200, 200])
  expect(await refer(2, 1)).toMatchObject(REFUSED)
  expect((await stage.send("DELETE", "/cohorts/2?force=true")).status).toBe(204)
  expect((await stage.post("/cohorts/2/restore")).status).toBe(200)
})
