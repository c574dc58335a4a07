/** What an erasure leaves on the disks of ClickHouse and of the node. */
import { afterAll, beforeAll, describe, expect } from "bun:test"
import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { startInstance, type TestInstance } from "../kit.ts"
import { longTest } from "../size.ts"
import { hasClickhouse, startClickhouse, type TestServer } from "../store/clickhouse/server.ts"

const SENTINELS = ["/secret-page-of-anna", "anna@secret.example"]

describe.skipIf(!hasClickhouse())("an erasure", () => {
  let running: TestServer
  beforeAll(async () => {
    running = await startClickhouse()
  })
  afterAll(() => running[Symbol.asyncDispose]())

  /** Returns the names of all parts on disk, replaced ones too. A part never changes, and a rewritten one has another name. */
  async function parts(): Promise<string[]> {
    const sql =
      "select table || ' ' || name as part from system.parts where database = currentDatabase() and table in ('visits', 'user_ids')"
    return (await running.clickhouse.rows<{ part: string }>(sql)).map(({ part }) => part)
  }

  /** Returns the sentinels that the data folder of a node contains. */
  function foundIn({ dataDir }: TestInstance): string[] {
    const files = readdirSync(dataDir).filter((name) => name.startsWith("events.db"))
    return SENTINELS.filter((text) => files.some((name) => readFileSync(join(dataDir, name)).includes(text)))
  }

  // The server deletes replaced parts within half a minute.
  longTest(
    "ends when no part, replaced or not, and no spool contains what was erased",
    async () => {
      await using instance = await startInstance({ clickhouse: running.server, settings: { store_user_ids_allowed: "true" } })
      const { app, clock } = instance
      await app.instance.sites.configure(1, { identity_mode: "identified", store_user_ids: true })
      const [page, x] = SENTINELS as [string, string]
      const view = { n: "pageview", u: `https://shop.example${page}`, d: "shop.example", x }
      expect(await instance.collect(view, { address: "198.51.100.1" })).toMatchObject({ status: 202 })
      const other = { ...view, u: "https://shop.example/", x: "bert" }
      expect(await instance.collect(other, { address: "198.51.100.2" })).toMatchObject({ status: 202 })
      await app.instance.shipped!.tallies.send()
      expect(foundIn(instance)).toEqual(SENTINELS)
      const before = await parts()
      const { people } = app.instance
      const visitors = await people.pseudonymsOf(instance.site, await people.find(instance.site, x))
      expect(await app.erasure.person(1, visitors)).toMatchObject({ visits: 1 })
      // The hourly deletion comes first, and leaves nothing to delete.
      await app.instance.shipped!.hidden.delete(AbortSignal.timeout(1_000)).catch(() => {})
      const passing = setInterval(() => clock.advance(1_000), 50)
      await app.erasure.overwrite()
      clearInterval(passing)
      expect((await parts()).filter((part) => before.includes(part))).toEqual([])
      const left = "select entry_page as text from visits union all select user_id as text from user_ids"
      const texts = (await running.clickhouse.rows<{ text: string }>(left)).map(({ text }) => text)
      expect(texts.filter((text) => SENTINELS.includes(text))).toEqual([])
      expect(texts).toContain("bert")
      expect(foundIn(instance)).toEqual([])
    },
    240_000,
  )
})
