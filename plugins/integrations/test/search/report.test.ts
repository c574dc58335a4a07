import { expect, test } from "bun:test"
import { type AnyPlugin, sql } from "#plugin"
import { archiveLines, archiveOf, programPlugins } from "#plugin/test"
import { type Desk, desk } from "./kit.ts"

const RANGE = "from=2026-11-01&to=2026-11-21"

/** Connects the site, fetches the records of a few days and ends the back-fill. */
async function filled(records: Desk["console"]["records"], options: Parameters<typeof desk>[0] = {}): Promise<Desk> {
  const world = await desk(options)
  world.console.records = records
  world.console.onQuery = ({ startDate }) => {
    if (startDate < "2026-11-17") world.console.scenario = "500"
  }
  await world.connect()
  await world.map()
  await world.work()
  return world
}
const many = Array.from({ length: 25 }, (_, i) => ({
  ...{ day: "2026-11-20", query: `query ${i}`, page: `https://shop.example/${i % 7}` },
  ...{ clicks: i % 4, impressions: 4 + (i % 5), position: 1 + i },
}))

test.each([
  ["in the event store", false],
  ["on a server", true],
])("pages through all rows %s in every order, without gaps or duplicates", async (_, hasRowServer) => {
  await using world = await filled(many, { hasRowServer })
  for (const [group, sort] of [
    ["query", "clicks"],
    ["query", "ctr"],
    ["query", "position&order=desc"],
    ["page", "impressions&order=asc"],
    ["device", "key"],
    ["date", "clicks"],
  ] as const) {
    const keys: string[] = []
    const query = `${RANGE}&group_by=${group}&sort=${sort}`
    const whole = (await world.ask("GET", `/search-console/report?${query}`)).body
    let cursor: string | null = ""
    while (cursor !== null) {
      const { body } = await world.ask("GET", `/search-console/report?${query}&limit=4${cursor && `&cursor=${cursor}`}`)
      expect(body.totals).toEqual(whole.totals)
      keys.push(...body.rows.map(({ key }: { key: string }) => key))
      cursor = body.next_cursor
    }
    expect(keys).toEqual(whole.rows.map(({ key }: { key: string }) => key))
  }
  const { body } = await world.ask("GET", `/search-console/report?${RANGE}&limit=4`)
  const other = await world.ask("GET", `/search-console/report?${RANGE}&limit=4&sort=ctr&cursor=${body.next_cursor}`)
  expect([other.status, other.body.code]).toEqual([400, "invalid_cursor"])
})

test("refuses what search engines do not report together, and unknown arguments", async () => {
  await using world = await filled([])
  const refused = async (query: string) => {
    const { status, body } = await world.ask("GET", `/search-console/report?${query}`)
    return [status, body.code, body.errors?.map(({ pointer, code }: Record<string, string>) => `${pointer} ${code}`)]
  }
  expect(await refused("group_by=query&country=de")).toEqual([400, "invalid_query", ["/country unsupported_combination"]])
  expect(await refused("group_by=device&page=https://shop.example/")).toEqual([400, "invalid_query", ["/group_by unsupported_combination"]])
  expect(await refused("group_by=query&sort=key")).toEqual([400, "invalid_query", ["/sort unsupported_combination"]])
  expect(await refused("group_by=browser&limit=0&engine=ask&from=2026-11-01")).toEqual([
    400,
    "invalid_query",
    expect.arrayContaining(["/group_by invalid_choice", "/limit out_of_range", "/engine invalid_choice", "/to invalid_range"]),
  ])
  expect((await refused("filters=[]"))[0]).toBe(400)
})

test("counts the visits from search that entered on a page", async () => {
  await using world = await filled([
    { day: "2026-11-20", page: "https://shop.example/a", clicks: 3, impressions: 9, position: 1 },
    { day: "2026-11-20", page: "https://shop.example/caf%C3%A9", clicks: 1, impressions: 9, position: 1 },
  ])
  const visit = (url: string, referrer: string, address: string) =>
    world.instance.collect({ name: "pageview", url, domain: "shop.example", referrer }, { address })
  await visit("https://shop.example/a", "https://www.google.com/", "198.51.100.1")
  await visit("https://shop.example/a", "https://duckduckgo.com/", "198.51.100.2")
  await visit("https://shop.example/a", "https://news.example/", "198.51.100.3")
  await visit("https://shop.example/caf%C3%A9", "https://www.google.com/", "198.51.100.4")
  const { body } = await world.ask("GET", `/search-console/report?${RANGE}&group_by=page`)
  expect(body.rows.map(({ key, visits }: Record<string, unknown>) => [key, visits])).toEqual([
    ["https://shop.example/a", 2],
    ["https://shop.example/caf%C3%A9", 1],
  ])
})

test("writes CSV in which search queries can't act as formulas", async () => {
  await using world = await filled([{ day: "2026-11-20", query: "=cmd|' /c calc'!A1", clicks: 3, impressions: 9, position: 1 }, ...many])
  const { body, headers } = await world.ask("GET", `/search-console/report.csv?${RANGE}`)
  const lines = String(body).split("\r\n")
  expect([lines[0], lines[1], lines.length]).toEqual(["key,clicks,impressions,ctr,position", `"'=cmd|' /c calc'!A1",3,9,33.3,1`, 28])
  expect(headers.get("content-disposition")).toContain("attachment")
})

test("shows search queries on a dashboard, and exports the rows of a site", async () => {
  await using world = await filled(
    [{ day: "2026-11-20", query: "shoes", page: "https://shop.example/a", clicks: 3, impressions: 9, position: 2 }],
    {
      plugins: programPlugins as readonly AnyPlugin[],
    },
  )
  const placed = { type: "search_queries", title: "", x: 0, y: 0, w: 4, h: 4, config: { group_by: "query", limit: 5 } }
  const board = await world.ask("POST", "/dashboards", { name: "Search", widgets: [placed] })
  expect([board.status, board.body]).toEqual([201, expect.anything()])
  const { body } = await world.ask("POST", `/dashboards/${board.body.id}/data`, {})
  expect(Object.values(body.results)).toMatchObject([{ status: "ok", data: { rows: [{ key: "shoes", clicks: 3 }], status: "degraded" } }])
  const lines = archiveLines((await archiveOf(world.instance))["integrations_search.ndjson"])
  expect(lines).toContainEqual({
    ...{ engine: "google", property: "sc-domain:shop.example", search_type: "web", day: "2026-11-20", detail: "query" },
    ...{ query: "shoes", page: "https://shop.example/a", clicks: 3, impressions: 9, position_sum: 18 },
  })
}, 30_000)

test("ends a mapping with the transfer of its site, and leaves nothing of a deleted site", async () => {
  await using world = await filled(many)
  const { catalog, sites, organizations } = world.instance.app.instance
  const stored = () =>
    world.instance.rows(
      (rows) =>
        rows.all(sql`select 1 from integrations_search_terms union all select 2 from integrations_search_rows
          union all select 3 from integrations_search_totals union all select 4 from integrations_search_sync`).length,
    )
  const mappings = () => catalog.all(sql`select id from integrations_integrations where site_id = 1`)
  const other = await organizations.create({ name: "Other" })
  expect([(await stored()) > 0, (await mappings()).length]).toEqual([true, 1])
  await sites.transfer(1, other.id, 1)
  expect([(await stored()) > 0, await mappings()]).toEqual([true, []])
  await sites.remove(1)
  world.instance.clock.advance(31 * 86_400_000)
  for (let round = 0; round < 3; round++) await world.work()
  expect(await stored()).toBe(0)
}, 30_000)

test("stops a run whose mapping was changed, and fetches the new property", async () => {
  await using world = await desk()
  world.console.properties.push({ siteUrl: "https://shop.example/", permissionLevel: "siteOwner" })
  await world.connect()
  await world.map()
  let isChanged = false
  world.console.rows = ({ startDate }) => {
    if (startDate < "2026-11-10") world.console.scenario = "500"
    return []
  }
  world.console.onQuery = ({ startDate }) => {
    if (startDate !== "2026-11-16" || isChanged) return undefined
    isChanged = true
    return world.ask("PUT", "/integrations/search-console/mapping", { integration_id: 1, property: "https://shop.example/" })
  }
  await world.work()
  await world.after(5 * 60_000)
  const asked = (property: string) => world.console.queries.filter((query) => query.property === property).map(({ startDate }) => startDate)
  expect(asked("sc-domain:shop.example").at(-1)).toBe("2026-11-16")
  expect(asked("https://shop.example/")[0]).toBe("2026-11-21")
})

test("keeps secrets out of answers, audit, log and emails", async () => {
  await using world = await filled(many)
  world.google.scenario = "invalid_grant"
  await world.after(2 * 3_600_000)
  const key = world.google.serviceAccount("reader@project.iam.example")
  await world.ask("POST", "/integrations/search-console/connect", { service_account: key })
  const { catalog } = world.instance.app.instance
  const audit = await catalog.all(sql`select * from audit_log order by id limit 1000`)
  const outbox = await catalog.all(sql`select * from outbox order by id limit 1000`)
  const states = await catalog.all(sql`select * from integrations_oauth_states order by id limit 1000`)
  const list = await world.ask("GET", "/integrations")
  const everything = JSON.stringify([audit, outbox, states, list.body, world.instance.log.lines, world.emails])
  expect(everything).toContain("ann@example.org")
  for (const secret of ["1//", "ya29.", "BEGIN PRIVATE", "client secret that"])
    expect([secret, everything.includes(secret)]).toEqual([secret, false])
})
