import { expect, test } from "bun:test"
import { signedIn } from "../http/private/person.ts"
import { startInstance } from "../kit.ts"

/** Row `forged-events` of the table of threats. */

const HOSTS = 50
const EACH = 200

test("10,000 events from 50 hosts that are not the site's are counted nowhere, and shown with their reason", async () => {
  await using instance = await startInstance({
    settings: { limit_visitor_events: "0", limit_site_events: "0", limit_instance_events: "0" },
  })
  const owner = await signedIn(instance, { role: "owner" })
  await instance.collect({ n: "pageview", u: "https://shop.example/", d: "shop.example" })
  for (let host = 0; host < HOSTS; host++) {
    // Spellings that a careless comparison would let pass stand among them.
    const name = [`evil-${host}.example`, `shop.example.evil-${host}.example`, `evilshop-${host}.example`][host % 3]
    const answers = await Promise.all(
      Array.from({ length: EACH }, (_, i) =>
        instance.collect({ n: "pageview", u: `https://${name}/${i}`, d: "shop.example" }, { address: `198.18.${host}.${i}` }),
      ),
    )
    // Told nothing: whoever forges does not learn which rule caught it.
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([202]))
  }
  const summary = await instance.api.get("/api/public/v1/sites/1/stats/summary?period=today&metrics=visitors,pageviews", instance.statsKey)
  expect(summary.body).toMatchObject({ metrics: { visitors: 1, pageviews: 1 } })
  const { rows } = (await owner.get("/sites/1/drops?period=today")).body as { rows: { reason: string; total: number }[] }
  expect(rows.filter(({ total }) => total > 0).map(({ reason, total }) => [reason, total])).toEqual([["host", HOSTS * EACH]])
})

test("a strict site takes nothing from a page that names no origin, or another one", async () => {
  await using instance = await startInstance()
  const owner = await signedIn(instance, { role: "owner" })
  expect((await owner.patch("/sites/1/settings", { strict_origin: true })).status).toBe(200)
  const view = { n: "pageview", u: "https://shop.example/", d: "shop.example" }
  const heads: Record<string, string>[] = [
    {},
    { origin: "https://evil.example" },
    { origin: "null" },
    { referer: "https://evil.example/shop.example" },
    { origin: "https://shop.example.evil.example" },
  ]
  for (const headers of heads) await instance.collect(view, { headers })
  await instance.collect(view, { headers: { origin: "https://shop.example" } })
  const summary = await instance.api.get("/api/public/v1/sites/1/stats/summary?period=today&metrics=pageviews", instance.statsKey)
  expect(summary.body).toMatchObject({ metrics: { pageviews: 1 } })
})
