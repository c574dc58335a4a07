import { expect, test } from "bun:test"
import { BROWSER } from "#plugin/test"
import { refusal, startStage, widget } from "./kit.ts"

test("links_top and pixel_opens show clicks and opens, name things on export, and check what they name", async () => {
  await using stage = await startStage({ areas: ["links", "pixels"] })
  const { instance } = stage
  const made = async (path: string, body: object) => {
    const answer = await stage.post(path, body)
    if (answer.status !== 201) throw new Error(JSON.stringify(answer.body))
    return answer.body as { id: number; slug: string; url: string; short_url: string }
  }
  const one = await made("/links", { destination: "https://example.com/one", slug: "one", title: "First" })
  const two = await made("/links", { destination: "https://example.com/two", slug: "two" })
  const pixel = await made("/pixels", { name: "News", kind: "email" })
  const visit = (path: string, address: string, agent = BROWSER) =>
    instance.fetch(new Request(`http://localhost${path}`, { headers: { host: "localhost", "user-agent": agent } }), address)
  for (const [slug, address] of [
    ["one", "203.0.113.1"],
    ["one", "203.0.113.1"],
    ["one", "203.0.113.2"],
    ["two", "203.0.113.3"],
  ] as const)
    expect((await visit(`/l/${slug}`, address)).status).toBe(302)
  await visit("/l/one", "203.0.113.9", "Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)")
  await visit(new URL(pixel.url).pathname, "203.0.113.4")
  await instance.app.collector.recorded()

  const id = await stage.make({
    name: "Areas",
    widgets: [
      widget("links_top"),
      widget("links_top", { link_ids: [two.id] }, { y: 2 }),
      widget("pixel_opens", { pixel_ids: [pixel.id], limit: 3 }, { y: 4 }),
    ],
  })
  const { results } = (await stage.post(`/dashboards/${id}/data`)).body as { results: Record<string, { data: object }> }
  const first = { link_id: one.id, slug: "one", title: "First", human: 3, bot: 1, total: 4, unique: 2 }
  const second = { link_id: two.id, slug: "two", title: "", human: 1, bot: 0, total: 1, unique: 1 }
  expect(Object.values(results).map(({ data }) => data)).toEqual([
    { rows: [first, second], total_rows: 2, has_more: false },
    { rows: [second], total_rows: 1, has_more: false },
    {
      rows: [{ pixel_id: pixel.id, name: "News", opens_total: 1, opens_direct: 1, opens_proxied: 0, opens_prefetched: 0, bots: 0 }],
      total_rows: 1,
      has_more: false,
    },
  ])
  expect((await stage.get(`/dashboards/${id}/export`)).body).toMatchObject({
    widgets: [{ config: {} }, { config: { link_ids: [{ name: "two" }] } }, { config: { pixel_ids: [{ name: "News" }], limit: 3 } }],
  })
  expect(refusal(await stage.post("/dashboards", { name: "a", widgets: [widget("links_top", { link_ids: [999] })] }))).toEqual({
    status: 422,
    code: "broken_reference",
    errors: ["/widgets/0/config/link_ids/0 broken_reference"],
  })
  // A country of a click is known, a page is not.
  const filtered = async (dimension: string) =>
    (await stage.post(`/dashboards/${id}/data`, { filters: [{ dimension, values: ["x"] }] })).body as { results: Record<string, object> }
  expect(Object.values((await filtered("source")).results)).toMatchObject([{ status: "ok" }, { status: "ok" }, { status: "ok" }])
  expect(Object.values((await filtered("page")).results)).toMatchObject(
    new Array(3).fill({ status: "error", error: { code: "unsupported_combination" } }),
  )
})
