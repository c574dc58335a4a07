import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test"

import { noBrowser } from "../browser/browser.ts"
import { openStand, type Stand, type Visit, type VisitOptions } from "./stand.ts"

setDefaultTimeout(20_000)

let stand: Stand
beforeAll(async () => {
  if (noBrowser) return
  stand = openStand()
}, 30_000)
afterAll(() => stand?.[Symbol.asyncDispose]())

/** A page with GoatCounter's snippet, pointed at the test server. */
const visit = (options: VisitOptions & { settings?: string; endpoint?: string } = {}): Promise<Visit> => {
  const { settings, endpoint = `http://stats.example:${stand.statsPort}/count`, ...more } = options
  const attributes = `data-goatcounter="${endpoint}"${settings === undefined ? "" : ` data-goatcounter-settings='${settings}'`}`
  return stand.visit({ script: "/count.js", attributes, ...more })
}
const counted = ({ sent }: Visit) => sent.filter(({ body }) => body.n !== "engagement" && body.n !== "last").map(({ body }) => body)
const count = (visit: Visit, vars: object) => visit.page.evaluate((given) => window.goatcounter?.count(given), vars)

test.skipIf(noBrowser)("counts a page once on load, and afterwards through its own calls", async () => {
  await using page = await visit({ path: "/a?utm_source=x#b" })
  await page.page.evaluate(() => history.pushState(null, "", "/spa"))
  await count(page, { path: "/b", title: "Second", referrer: "https://from.example/" })
  await page.names()
  expect(counted(page)).toMatchObject([
    { n: "pageview", u: `${page.origin}/a?utm_source=x`, t: "First", r: "", w: 1_000 },
    { n: "pageview", u: `${page.origin}/b`, t: "Second", r: "https://from.example/" },
  ])
})

test.skipIf(noBrowser)("sends events from calls and from marked elements", async () => {
  const body = `<button id=buy data-goatcounter-click="buy" data-goatcounter-title="Buy it" data-goatcounter-referrer="ad"><b>Now</b></button>
    <button id=plain name=named data-goatcounter-click title="Titled">x</button> <button id=unmarked>y</button>`
  await using page = await visit({ body })
  await count(page, { event: true, path: "signup", title: "Sign up" })
  for (const id of ["#buy b", "#plain", "#unmarked"]) await page.page.click(id)
  await page.names()
  expect(counted(page).slice(1)).toMatchObject([
    { n: "signup", t: "Sign up", u: `${page.origin}/` },
    { n: "buy", t: "Buy it", r: "ad" },
    { n: "named", t: "Titled", r: "" },
  ])
})

test.skipIf(noBrowser).each([
  ["no_onload", '{"no_onload": true}', "/", []],
  ["path", '{"path": "/set"}', "/real?utm_source=x", ["/set?utm_source=x"]],
  ["invalid JSON", "{'path': '/set'}", "/real", ["/real"]],
  ["an empty path", '{"path": ""}', "/real", ["/"]],
])("applies settings: %s", async (_, settings, path, urls) => {
  await using page = await visit({ settings, path })
  await page.names()
  expect(counted(page).map(({ u }) => String(u).slice(page.origin.length))).toEqual(urls)
})

test.skipIf(noBrowser)("no_events ignores marked elements until bind_events is called", async () => {
  await using page = await visit({ settings: '{"no_events": true}', body: "<button id=buy data-goatcounter-click=buy>x</button>" })
  await page.page.click("#buy")
  expect((await page.names()).filter((name) => name === "buy")).toEqual([])
  await page.page.evaluate(() => window.goatcounter?.bind_events())
  await page.page.click("#buy")
  await page.names()
  expect(counted(page).map(({ n }) => n)).toEqual(["pageview", "buy"])
})

test.skipIf(noBrowser)("reads the page's variables on every count and calls functions", async () => {
  const head = `<script>window.goatcounter = {
    path: (own) => own === "/secret" ? null : "/prefix" + own,
    title: (own) => own + "!",
    referrer: () => "https://set.example/",
  }</script>`
  await using page = await visit({ head, path: "/a" })
  await count(page, { path: "/b", title: null })
  await page.names()
  await using secret = await visit({ head, path: "/secret" })
  await secret.names()
  expect([counted(page), counted(secret)]).toMatchObject([
    [
      { u: `${page.origin}/prefix/a`, t: "First!", r: "https://set.example/" },
      { u: `${page.origin}/b`, t: "First", r: "https://set.example/" },
    ],
    [],
  ])
})

test.skipIf(noBrowser).each([
  ["on this host", "/canonical?x=1", "/canonical?x=1"],
  ["on another host", "https://other.example/x", "/real?utm_source=x"],
])("a canonical URL %s", async (_, href, expected) => {
  await using page = await visit({ head: `<link rel=canonical href="${href}">`, path: "/real?utm_source=x" })
  expect((await page.events(1))[0]!.u).toBe(page.origin + expected)
})

test.skipIf(noBrowser)("takes the site from the count URL, or from the page's host", async () => {
  await using named = await visit({ endpoint: `http://stats.example:${stand.statsPort}/count?site=shop` })
  await using unnamed = await visit()
  expect([(await named.events(1))[0]!.d, (await unnamed.events(1))[0]!.d]).toEqual(["shop", undefined])
})

test.skipIf(noBrowser)("url() returns the count URL, and get_query() a parameter of the page", async () => {
  await using page = await visit({ path: "/a?utm_source=x" })
  const [url, query, none] = await page.page.evaluate(() => [
    window.goatcounter?.url({ path: "/b", event: true, title: "T", referrer: "" }),
    window.goatcounter?.get_query("utm_source"),
    window.goatcounter?.get_query("other") ?? "none",
  ])
  const { origin, pathname, searchParams } = new URL(url!)
  expect([origin, pathname]).toEqual([`http://stats.example:${stand.statsPort}`, "/count"])
  const { rnd, ...fields } = Object.fromEntries(searchParams)
  expect([fields, Number(rnd) > 0]).toEqual([{ p: "/b", t: "T", e: "true", s: "1000,600,1", b: "0", q: "?utm_source=x" }, true])
  expect([query, none]).toEqual(["x", "none"])
})

test.skipIf(noBrowser).each([
  ["the opt-out", { head: '<script>localStorage.skipgc = "t"</script>' }, "disabled"],
  ["localhost", { host: "localhost" }, "local"],
])("%s counts nothing and logs the reason", async (_, options, reason) => {
  await using page = await visit(options)
  await page.page.evaluate(() => window.goatcounter?.count())
  expect([await page.page.evaluate(() => window.goatcounter?.filter()), counted(page)]).toEqual([reason, []])
})

test.skipIf(noBrowser)("counts localhost if the page allows it", async () => {
  await using page = await visit({ host: "localhost", path: "/wanted", settings: '{"allow_local": true}' })
  expect((await page.events(1))[0]!.u).toBe(`${page.origin}/wanted`)
})

test.skipIf(noBrowser)("reports engaged time and scroll depth for the page path that was counted", async () => {
  await using page = await visit({ settings: '{"path": "/set"}', frozen: true, body: "<p style='height: 2000px'>" })
  await page.events(1)
  await page.page.clock.runFor(5_000)
  await page.page.evaluate(() => dispatchEvent(new Event("pagehide")))
  const [, engagement] = await page.events(2)
  expect(engagement).toMatchObject({ n: "engagement", u: `${page.origin}/set`, e: 5_000 })
})
