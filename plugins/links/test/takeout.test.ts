import { expect, test } from "bun:test"
import { archiveLines, archiveOf, nameServer } from "#plugin/test"
import { linkStand, PATH } from "./kit.ts"

const SITE = "/api/private/sites/1"

test("an archive contains the site's links, their clicks and the templates, but no secret and nothing specific to the instance", async () => {
  const records: Record<string, string[][]> = {}
  using names = await nameServer(records)
  await using stand = await linkStand({ nameServers: [names.address], settings: { base_url: "http://short.example:9000" } })
  const domain = (await stand.ask("POST", `${SITE}/link-domains`, { host: "go.shop.example" })).body
  records["go.shop.example"] = [[domain.txt_record]]
  await stand.ask("POST", `${SITE}/link-domains/${domain.id}/verify`)
  const fields = { title: "Spring", tags: ["a"], utm: { utm_source: "news" }, max_clicks: 9, password: "open sesame" }
  const locked = await stand.make({ destination: "https://example.com/a", slug: "spring", domain_id: domain.id, ...fields })
  const rules = [{ when: { device: ["Mobile"] }, destination: "https://example.com/m" }]
  const open = await stand.make({ destination: "https://example.com/b", slug: "open", rules })
  const deleted = await stand.make({ destination: "https://example.com/gone", slug: "gone" })
  await stand.ask("DELETE", `${PATH}/${deleted.id}`)
  await stand.ask("POST", `${SITE}/utm-templates`, { name: "News", fields: { utm_source: "news" }, required: ["utm_campaign"] })
  await stand.visit("/l/open?qr=1")
  await stand.visit("/l/open", { method: "HEAD" })
  await stand.recorded()
  stand.instance.clock.advance(60_000)
  await stand.instance.runJobs()
  // Also while the plugin is disabled, because its data is kept.
  await stand.instance.app.instance.plugins.turn("links", false, null)
  const files = await archiveOf(stand.instance)

  const usual = { notes: "", redirect_status: 302, forward_query: true, forward_path: false, utm_mode: "fill", noindex: true }
  const never = { starts_at: null, expires_at: null, expired_destination: null, archived_at: null }
  const times = { state: "active", created_at: "2026-11-21T12:00:00Z", updated_at: "2026-11-21T12:00:00Z" }
  expect(archiveLines(files["links_links.ndjson"])).toEqual([
    {
      ...{ ...usual, ...never, ...times, id: locked.id, slug: "spring", domain: "go.shop.example", destination: "https://example.com/a" },
      ...{ title: "Spring", tags: ["a"], utm: { utm_source: "news" }, max_clicks: 9, has_password: true, rules: [] },
      ...{ clicks: { total: 0, human: 0, bot: 0, qr: 0 }, last_click_at: null },
    },
    {
      ...{ ...usual, ...never, ...times, id: open.id, slug: "open", domain: null, destination: "https://example.com/b" },
      ...{ title: "", tags: [], utm: {}, max_clicks: null, has_password: false, rules },
      ...{ clicks: { total: 2, human: 1, bot: 1, qr: 1 }, last_click_at: "2026-11-21T12:00:00Z" },
    },
  ])
  expect(archiveLines(files["links_utm_templates.ndjson"])).toEqual([
    { name: "News", fields: { utm_source: "news" }, required: ["utm_campaign"] },
  ])
  const clicks = archiveLines(files["clicks.ndjson"]).map(({ events: [{ name, props }] }) => [name, new Map(props)])
  expect(clicks.map(([name, props]) => [name, props.get("link_id"), props.get("human")])).toEqual([
    ["link_click", String(open.id), "1"],
    ["link_click", String(open.id), "0"],
  ])
  expect(JSON.parse(files["manifest.json"]!).counts).toMatchObject({ clicks: 2, links_links: 2, links_utm_templates: 1 })
  for (const text of Object.values(files)) expect(text).not.toMatch(/argon2|footfall-verify|open sesame|short\.example/)
})
