import { expect, test } from "bun:test"
import { sql } from "#plugin"
import { openStage } from "./stage.ts"

test("searches, filters, sorts and pages the list", async () => {
  await using stage = await openStage()
  for (const [name, kind] of [
    ["Alpha", "email"],
    ["beta", "readme"],
    ["Gamma", "email"],
  ]) {
    await stage.make({ name, kind, slug: `s-${name}` })
    stage.clock.advance(1_000)
  }
  await stage.ask("/p/s-beta.gif")
  await stage.ask("/p/s-beta.gif", { headers: { "user-agent": "Mozilla/5.0" } })
  await stage.ask("/p/s-Alpha.gif")
  await stage.folded()
  await stage.send("PATCH", "/3", { archived: true })
  const names = async (query: string) => ((await stage.get(query)).body as { data: { name: string }[] }).data.map(({ name }) => name)
  expect(await names("")).toEqual(["Gamma", "beta", "Alpha"])
  expect(await names("?sort=name")).toEqual(["Alpha", "beta", "Gamma"])
  expect(await names("?sort=opens")).toEqual(["beta", "Alpha", "Gamma"])
  expect(await names("?sort=last_open")).toEqual(["beta", "Alpha", "Gamma"])
  expect(await names("?q=S-B")).toEqual(["beta"])
  expect(await names("?kind=email")).toEqual(["Gamma", "Alpha"])
  expect(await names("?state=active")).toEqual(["beta", "Alpha"])
  expect(await names("?state=archived")).toEqual(["Gamma"])
  expect((await stage.get("?q=beta")).body).toMatchObject({
    data: [{ recent: { opens_direct: 1, opens_prefetched: 1, opens_proxied: 0, bots: 0 } }],
  })
  const first = (await stage.get("?limit=2&sort=name&count=true")).body as { next_cursor: string }
  expect(first).toMatchObject({ data: [{ name: "Alpha" }, { name: "beta" }], has_more: true, total: 3 })
  await stage.make({ name: "Aaa" })
  expect(await names(`?limit=2&sort=name&cursor=${first.next_cursor}`)).toEqual(["Gamma"])
  expect(await stage.get(`?sort=opens&cursor=${first.next_cursor}`)).toMatchObject({ status: 400, body: { code: "invalid_cursor" } })
})

test("accepts the cursor of a long search sorted by name", async () => {
  await using stage = await openStage()
  for (let n = 0; n < 2; n++) await stage.make({ name: "😀".repeat(100) })
  const query = `?limit=1&sort=name&q=${encodeURIComponent("😀".repeat(100))}`
  const { next_cursor } = (await stage.get(query)).body as { next_cursor: string }
  expect((await stage.get(`${query}&cursor=${next_cursor}`)).body).toMatchObject({ has_more: false, data: [{ id: 2 }] })
})

test("limits a site to 1,000 pixels, and deleted pixels do not count", async () => {
  await using stage = await openStage()
  const { catalog } = stage.app.instance
  const { id } = await stage.make()
  await catalog.run(sql`
    with recursive numbers(n) as (select 1 union all select n + 1 from numbers where n < 999)
    insert into pixels_pixels (site_id, slug, slug_key, name, kind, allowed_params_json, recipient_mode, badge_public, created_at, updated_at)
    select 1, 's-' || n, 's-' || n, 'N', 'page', '[]', 'none', 0, 0, 0 from numbers`)
  const full = { status: 422, body: { code: "limit_reached", limit: 1_000, resource: "pixels" } }
  expect(await stage.send("POST", "", { name: "N", kind: "page" })).toMatchObject(full)
  await stage.send("DELETE", `/${id}`)
  expect(await stage.send("POST", "", { name: "N", kind: "page" })).toMatchObject({ status: 201 })
  expect(await stage.send("POST", `/${id}/restore`)).toMatchObject(full)
  expect((await stage.get("?limit=200&count=true")).body).toMatchObject({ has_more: true, total: 1_000 })
})
