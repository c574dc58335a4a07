import { expect, test } from "bun:test"
import { archiveLines, archiveOf } from "#plugin/test"
import { openStage } from "./stage.ts"

test("an archive contains the site's pixels and their opens, but nothing deleted, specific to the instance or about a recipient", async () => {
  await using stage = await openStage({ base_url: "http://pixels.example:9000" })
  const news = await stage.make({ slug: "news", recipient_mode: "hashed", allowed_params: ["issue"] })
  const old = await stage.make({ slug: "old", kind: "readme", name: "Badge" })
  await stage.send("PATCH", `/${old.id}`, { archived: true })
  const gone = await stage.make({ slug: "gone", kind: "readme", name: "Badge" })
  await stage.ask("/p/news.gif?issue=7&r=anna@example.com")
  await stage.ask("/p/gone/badge.svg", { headers: { "user-agent": "github-camo (876de43e)" } })
  await stage.folded()
  await stage.send("DELETE", `/${gone.id}`)
  await stage.app.instance.plugins.turn("pixels", false, null)
  const files = await archiveOf(stage)

  const usual = { badge_public: false, archived: false, archived_at: null, created_at: "2026-11-21T12:00:00Z", opens_total: 1 }
  const opened = { last_open_at: "2026-11-21T12:00:00Z" }
  expect(archiveLines(files["pixels_pixels.ndjson"])).toEqual([
    {
      ...{
        ...usual,
        ...opened,
        id: news.id,
        slug: "news",
        name: "News",
        kind: "email",
        updated_at: "2026-11-21T12:00:00Z",
      },
      ...{ recipient_mode: "hashed", allowed_params: ["issue"], opens_direct: 1 },
    },
    {
      ...{ ...usual, id: old.id, slug: "old", name: "Badge", kind: "readme", archived: true, archived_at: expect.any(String) },
      ...{
        recipient_mode: "none",
        allowed_params: [],
        opens_total: 0,
        opens_direct: 0,
        last_open_at: null,
        updated_at: expect.any(String),
      },
    },
  ])
  const opens = archiveLines(files["opens.ndjson"]).map(({ events: [{ name, props }] }) => [name, new Map(props)])
  expect(opens.map(([name, props]) => [name, props.get("pixel_id"), props.get("via")])).toEqual([
    ["pixel_open", String(news.id), "direct"],
    ["pixel_open", String(gone.id), "github_camo"],
  ])
  expect(JSON.parse(files["manifest.json"]!).counts).toMatchObject({ opens: 2, pixels_pixels: 2 })
  for (const text of Object.values(files)) expect(text).not.toMatch(/pixels\.example|anna/)
})
