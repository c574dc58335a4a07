import { afterAll, beforeAll, expect, test } from "bun:test"
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { placeFileBytes } from "../../../ingest/place-file.ts"
import { startInstance, type TestInstance, temporaryFolder } from "../../../kit.ts"
import { type Person, signedIn } from "../person.ts"

const folder = temporaryFolder()
let instance: TestInstance
let viewer: Person
/** Two visitors from Oakland, and one from a city for which the place file has only a name. */
beforeAll(async () => {
  const geo_db = join(folder.path, "places.mmdb")
  const oakland = {
    country: { iso_code: "US" },
    subdivisions: [{ iso_code: "CA", names: { en: "California" } }],
    city: { geoname_id: 5_378_538, names: { en: "Oakland" } },
  }
  const brest = { country: { iso_code: "FR" }, subdivisions: [{ names: { en: "Bretagne" } }], city: { names: { en: "Brest" } } }
  writeFileSync(geo_db, placeFileBytes({ "192.0.2.1": oakland, "192.0.2.2": oakland, "192.0.2.3": brest }))
  instance = await startInstance({ settings: { geo_db } })
  for (const host of [1, 2, 3]) await instance.collect({ n: "pageview", u: "https://shop.example/" }, { address: `192.0.2.${host}` })
  viewer = await signedIn(instance, { role: "viewer" })
})
afterAll(async () => {
  await instance[Symbol.asyncDispose]()
  folder[Symbol.dispose]()
})

const OAKLAND = { value: "5378538", label: "Oakland", visitors: 2 }
const BREST = { value: "Brest", visitors: 1 }

test.each([
  ["city", [OAKLAND, BREST]],
  [
    "region",
    [
      { value: "US-CA", label: "California", visitors: 2 },
      { value: "(none)", visitors: 1 },
    ],
  ],
])("a breakdown by %s uses the names of the place file, in the public and the private API", async (dimension, rows) => {
  const path = `/stats/breakdown?dimension=${dimension}&metrics=visitors&period=today`
  const expected = { status: 200, body: { rows: rows.map((row) => expect.objectContaining(row)) } }
  expect(await viewer.get(`/sites/1${path}`)).toMatchObject(expected)
  expect(await instance.api.get(`/api/public/v1/sites/1${path}`, instance.key)).toMatchObject(expected)
})

test.each([
  ["oak", [OAKLAND]],
  ["5378", [OAKLAND]],
  ["bre", [BREST]],
  ["", [OAKLAND, BREST]],
  ["nowhere", []],
])("finds cities by name and by code: %p", async (q, data) => {
  expect((await viewer.get(`/sites/1/stats/values?dimension=city&period=today&q=${q}`)).body).toEqual({ data })
})

test("the split of a funnel and an export use the names too", async () => {
  const steps = ["/", "/pricing"].map((value) => ({ type: "page", value }))
  const split = await viewer.post("/sites/1/stats/funnel", { period: "today", steps, breakdown: "city" })
  expect(split.body).toMatchObject({ breakdown: { rows: [{ value: "5378538", label: "Oakland" }, { value: "Brest" }] } })
  const { body } = await viewer.get("/sites/1/export?type=city&metrics=visitors&period=today")
  expect(String(body).split(/\r?\n/).slice(0, 3)).toEqual(["value,label,visitors,share", `"5378538","Oakland",2,66.7`, `"Brest",,1,33.3`])
})

test.each([
  ["oak", ["5378538"], [OAKLAND]],
  ["e", ["Brest"], [BREST]],
])("cities found by %p have their rows, names and lines in an export", async (q, values, rows) => {
  const found = await viewer.get(`/sites/1/stats/values?dimension=city&period=today&limit=51&q=${q}`)
  expect((found.body as { data: { value: string }[] }).data.map(({ value }) => value)).toEqual(values)
  const filters = encodeURIComponent(JSON.stringify([{ dimension: "city", operator: "is", values }]))
  const query = `metrics=visitors&period=today&filters=${filters}`
  const { body } = await viewer.get(`/sites/1/stats/breakdown?dimension=city&${query}`)
  expect(body).toMatchObject({ rows: rows.map((row) => expect.objectContaining(row)), total_rows: 1 })
  const lines = String((await viewer.get(`/sites/1/export?type=city&${query}`)).body).split(/\r?\n/)
  expect([lines.length, lines[1]!.split(",")[0]]).toEqual([3, `"${values[0]}"`])
})

test("a shared view finds cities by name too", async () => {
  const admin = await signedIn(instance, { role: "admin" })
  // Two people count as a group here.
  expect((await admin.patch("/sites/1/settings", { min_group: 2 })).status).toBe(200)
  const { slug } = (await admin.post("/sites/1/shares", { name: "For you" })).body as { slug: string }
  const { status, body } = await instance.api.get(`/api/share/s/${slug}/stats/values?dimension=city&period=today&q=oak`)
  expect([status, body]).toEqual([200, { data: [OAKLAND] }])
})
