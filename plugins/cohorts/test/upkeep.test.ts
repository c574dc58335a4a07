import { expect, test } from "bun:test"
import { unzipSync } from "fflate"
import { sql } from "#plugin"
import { startPeople } from "./kit.ts"

const SIGNED_UP = { conditions: [{ type: "event", value: "signup" }] }

test("the archive of a site contains its cohorts, and a deleted site leaves none", async () => {
  await using stage = await startPeople()
  const { instance, admin } = stage
  await stage.record(["ann", "bob"].map((user) => ({ user, at: "2026-10-10T10:00:00Z", did: "signup" })))
  await stage.post("/cohorts", { name: "Signed up", description: "People to greet", definition: SIGNED_UP, restrict: "identified" })
  expect(await stage.post("/cohorts/1/freeze", { name: "Frozen" })).toMatchObject({ status: 201, body: { size: 2 } })

  const begun = await stage.post("/takeout")
  await instance.runJobs()
  const file = new Request(`http://localhost${begun.headers.get("location")}/file`, { headers: admin })
  const files = unzipSync(await (await instance.fetch(file)).bytes())
  const [name] = Object.keys(files).filter((one) => one.startsWith("cohorts"))
  const exported = JSON.parse(new TextDecoder().decode(files[name!]).split("\n")[0]!)
  expect(Array.isArray(exported) ? exported[0] : exported).toMatchObject({
    ...{ name: "Signed up", description: "People to greet", kind: "dynamic", restrict: "identified", definition: SIGNED_UP },
  })
  expect(JSON.stringify(exported)).not.toContain("created_by")

  expect(await stage.post("/people/erase", { user_id: "bob", confirm: true })).toMatchObject({ status: 202 })
  const { catalog } = instance.app.instance
  await instance.app.erasure.site(1)
  expect(await catalog.all(sql`select id from cohorts_cohorts`)).toEqual([])
  expect(await catalog.all(sql`select id from cohorts_erasures`)).toEqual([])
})
