import { expect, test } from "bun:test"
import { signedIn } from "../http/private/person.ts"
import { startInstance } from "../kit.ts"

/** Threat `forged-events`: events sent from hosts that do not belong to the site. */

const HOSTS = 50
const EACH = 200

test("drops 10,000 events from 50 foreign hosts and lists them with their reason", async () => {
  await using instance = await startInstance({
    settings: { limit_visitor_events: "0", limit_site_events: "0", limit_instance_events: "0" },
  })
  const owner = await signedIn(instance, { role: "owner" })
  await instance.collect({ n: "pageview", u: "https://shop.example/", d: "shop.example" })
  for (let host = 0; host < HOSTS; host++) {
    // Includes names that a careless suffix or prefix comparison would accept.
    const name = [`evil-${host}.example`, `shop.example.evil-${host}.example`, `evilshop-${host}.example`][host % 3]
    const answers = await Promise.all(
      Array.from({ length: EACH }, (_, i) =>
        instance.collect({ n: "pageview", u: `https://${name}/${i}`, d: "shop.example" }, { address: `198.18.${host}.${i}` }),
      ),
    )
    // The response does not reveal which rule dropped the event.
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([202]))
  }
  const summary = await instance.api.get("/api/public/v1/sites/1/stats/summary?period=today&metrics=visitors,pageviews", instance.statsKey)
  expect(summary.body).toMatchObject({ metrics: { visitors: 1, pageviews: 1 } })
  const { rows } = (await owner.get("/sites/1/drops?period=today")).body as { rows: { reason: string; total: number }[] }
  expect(rows.filter(({ total }) => total > 0).map(({ reason, total }) => [reason, total])).toEqual([["host", HOSTS * EACH]])
})

test("a site with strict origin drops events without an origin or from a foreign one", async () => {
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
