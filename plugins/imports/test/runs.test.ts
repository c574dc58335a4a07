import { expect, test } from "bun:test"
import { file, PATH, simpleAnalytics, startImports } from "./kit.ts"

const EXPORT = simpleAnalytics([
  { at: "2026-10-01T10:00:00Z", path: "/", session: "a" },
  { at: "2026-10-01T10:05:00Z", path: "/pricing", session: "a" },
  { at: "2026-10-02T09:00:00Z", path: "/", session: "b", country: "FR" },
])

test("imports one file and shows it in reports once it is completed", async () => {
  await using stage = await startImports()
  const { post, get, instance, headers } = stage
  const preview = await post("/preview", file(EXPORT))
  expect(preview).toMatchObject({ status: 200 })
  console.log(JSON.stringify(preview.body, null, 1))
  const started = await post("", file(EXPORT))
  expect(started).toMatchObject({ status: 202 })
  expect(await get("/1")).toMatchObject({ body: { state: "pending" } })
  await instance.runJobs()
  const done = await get("/1")
  console.log(JSON.stringify(done.body, null, 1), instance.log.lines)
  expect(done).toMatchObject({ status: 200, body: { state: "completed" } })
  const stats = await instance.api.get(`/api/public/v1/sites/${instance.site.id}/stats/summary?period=all`, instance.key)
  console.log(JSON.stringify(stats.body), headers, PATH)
})
