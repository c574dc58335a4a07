import { expect, test } from "bun:test"
import { ADA, browserOf, setUp } from "../http/private/browser.ts"
import { startInstance } from "../kit.ts"

/** Threat `address-spoofing`: headers that name a client address are ignored unless the peer is a trusted proxy. */

const SPOOFS: readonly Record<string, string>[] = [
  { "x-forwarded-for": "203.0.113.9" },
  { "x-forwarded-for": "203.0.113.9, 127.0.0.1" },
  { "x-forwarded-for": "127.0.0.1" },
  { "x-real-ip": "203.0.113.9" },
  { forwarded: "for=203.0.113.9;proto=https" },
  { "cf-connecting-ip": "203.0.113.9" },
  { "cf-ipcountry": "JP" },
  { "true-client-ip": "203.0.113.9" },
  { "x-client-ip": "203.0.113.9", "x-cluster-client-ip": "203.0.113.9" },
  { "x-forwarded-for": "2001:db8::9", "x-forwarded-host": "evil.example", via: "1.1 evil" },
]

test("forwarding headers from an untrusted peer change neither visitor nor country", async () => {
  await using instance = await startInstance({ settings: { geo_header: "cf-ipcountry" } })
  const view = { n: "pageview", u: "https://shop.example/", d: "shop.example" }
  expect((await instance.collect(view)).status).toBe(202)
  for (const headers of SPOOFS) expect((await instance.collect(view, { headers })).status).toBe(202)
  const ask = (report: string) => instance.api.get(`/api/public/v1/sites/1/stats/${report}`, instance.statsKey)
  expect((await ask("summary?period=today&metrics=visitors,visits,pageviews")).body).toMatchObject({
    metrics: { visitors: 1, visits: 1, pageviews: 11 },
  })
  const { rows } = (await ask("breakdown?period=today&dimension=country")).body as { rows: { value: string }[] }
  expect(rows.map(({ value }) => value)).not.toContain("JP")
})

test("forwarding headers do not reset the sign-in limit", async () => {
  await using instance = await startInstance()
  await setUp(instance)
  const guesser = browserOf(instance, "198.51.100.77")
  let account = 0
  const guess = (headers: Record<string, string>) =>
    guesser.post("/auth/login", { email: `x${account++}@example.org`, password: "wrong" }, headers)
  for (let i = 0; i < 20; i++) expect((await guess(SPOOFS[i % SPOOFS.length]!)).status).toBe(401)
  for (const headers of SPOOFS) expect(await guess(headers)).toMatchObject({ status: 429, code: "rate_limited" })
  // Another client is not affected.
  expect((await browserOf(instance, "203.0.113.9").post("/auth/login", { email: ADA.email, password: ADA.password })).status).toBe(200)
})
