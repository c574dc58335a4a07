import { Database } from "bun:sqlite"
import { expect, test } from "bun:test"
import { join } from "node:path"
import { groupRow } from "../../src/store/events/bytes/columns.ts"
import { startInstance, type TestInstance } from "../kit.ts"

const VIEW = { name: "pageview", d: "shop.example", url: "https://shop.example/", r: "https://www.google.com/" }

/** A second browser, so that the visits differ. */
const FIREFOX = "Mozilla/5.0 (X11; Linux x86_64; rv:144.0) Gecko/20100101 Firefox/144.0"

/** Starts an instance with two visits in a columnar segment whose columns of devices and browsers were altered on disk. */
async function damagedInstance(): Promise<TestInstance> {
  const instance = await startInstance()
  expect((await instance.collect(VIEW)).status).toBe(202)
  expect((await instance.collect(VIEW, { headers: { "user-agent": FIREFOX } })).status).toBe(202)
  instance.clock.advance(3 * 3_600_000)
  await instance.app.instance.events.seal(instance.clock.now(), true)
  const db = new Database(join(instance.dataDir, "events.db"))
  const spoil = db.query("update segment_columns set data = cast(substr(data, 1, length(data) - 1) || x'00' as blob) where id % 128 = ?")
  expect(spoil.run(groupRow(0, "clients")).changes).toBe(1)
  db.close()
  return instance
}

const health = async (instance: TestInstance) => {
  const answer = await instance.fetch(new Request("http://localhost/health"))
  return { status: answer.status, codes: ((await answer.json()) as { reasons?: { code: string }[] }).reasons?.map(({ code }) => code) }
}

test("a report that finds damage is rejected, and so are events from then on; reports on intact columns still work", async () => {
  await using instance = await damagedInstance()
  const ask = (query: string) => instance.api.get(`/api/public/v1/sites/1/stats/${query}`, instance.key)
  expect((await ask("breakdown?dimension=source&period=today")).status).toBe(200)
  expect((await instance.collect(VIEW)).status).toBe(202)
  expect(await health(instance)).toMatchObject({ status: 200 })

  expect(await ask("breakdown?dimension=browser&period=today")).toMatchObject({ status: 503, body: { code: "storage_damaged" } })
  expect(await health(instance)).toEqual({ status: 503, codes: ["storage_damaged"] })
  expect(await instance.collect(VIEW)).toMatchObject({ status: 503, body: { code: "unavailable" } })
  expect((await ask("breakdown?dimension=source&period=today")).status).toBe(200)
})
