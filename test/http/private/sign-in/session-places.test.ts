import { expect, test } from "bun:test"
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { sql } from "../../../../src/store/sql.ts"
import { placeFileBytes } from "../../../ingest/place-file.ts"
import { startInstance, temporaryFolder } from "../../../kit.ts"
import { ADA, browserOf, setUp } from "../browser.ts"

const ADDRESS = "192.0.2.77"

test("a session shows the city and country where it started, and stores no address", async () => {
  using folder = temporaryFolder()
  const geo_db = join(folder.path, "places.mmdb")
  // One file without ids for cities and one with; names are shown in both cases.
  const berlin = { country: { iso_code: "DE" }, city: { geoname_id: 2950159, names: { en: "Berlin" } } }
  writeFileSync(geo_db, placeFileBytes({ [ADDRESS]: berlin, "203.0.113.5": { country: { iso_code: "FR" } } }))
  await using instance = await startInstance({ settings: { geo_db, geo_header: "cf-ipcountry" }, plugins: [] })
  await setUp(instance)
  const { email, password } = ADA
  const placeOf = async (address: string, headers: Record<string, string> = {}) => {
    const browser = browserOf(instance, address)
    expect((await browser.post("/auth/login", { email, password }, headers)).status).toBe(200)
    return (await browser.get("/me/sessions")).body.data.find(({ current }: { current: boolean }) => current).place
  }
  expect(await placeOf(ADDRESS)).toBe("Berlin, Germany")
  expect(await placeOf("203.0.113.5")).toBe("France")
  expect(await placeOf("198.51.100.1")).toBe("")
  // The header is accepted only from a trusted proxy.
  expect(await placeOf("127.0.0.1", { "cf-ipcountry": "se", "x-forwarded-for": "198.51.100.1" })).toBe("Sweden")
  expect(await placeOf("198.51.100.1", { "cf-ipcountry": "se" })).toBe("")
  const stored = JSON.stringify(await instance.app.instance.catalog.all(sql`select * from sessions`))
  expect(stored).toContain('"ip_prefix":"192.0.2.0/24"')
  expect(stored).not.toContain(ADDRESS)
})
