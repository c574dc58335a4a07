import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test"

import { noBrowser } from "../browser/browser.ts"
import { openStand, type Stand, type Visit } from "./stand.ts"

setDefaultTimeout(20_000)

let stand: Stand
beforeAll(async () => {
  if (noBrowser) return
  stand = openStand()
}, 30_000)
afterAll(() => stand?.[Symbol.asyncDispose]())

/** Cancels every navigation. */
const stay = `<script>
  addEventListener("click", (event) => event.target.closest("a") && event.preventDefault())
  addEventListener("submit", (event) => event.preventDefault())
</script>`
const links = `<a id=out href="http://other.example/a">Out</a> <a id=file href="/a.zip">File</a> <form><button id=send>Send</button></form>`
const domain = 'data-domain="shop.example"'
/** Plausible's own snippet with options. */
const snippet = (options: string) => `<script>
  window.plausible = window.plausible || function () { (plausible.q = plausible.q || []).push(arguments) }
  plausible.init = plausible.init || function (i) { plausible.o = i || {} }
  ${options}
</script>${stay}`

async function clicked(visit: Visit): Promise<unknown[]> {
  for (const id of ["#out", "#file", "#send"]) await visit.page.click(id)
  return (await visit.names()).filter((name) => name !== "engagement")
}
const bodies = (visit: Visit, name: string) => visit.sent.filter(({ body }) => body.n === name).map(({ body }) => body)

test.skipIf(noBrowser).each([
  ["/js/plausible.js", ["pageview"]],
  ["/js/script.outbound-links.js", ["pageview", "Outbound Link: Click"]],
  ["/js/script.file-downloads.js", ["pageview", "File Download"]],
  ["/js/script.revenue.file-downloads.compat.outbound-links.js", ["pageview", "Outbound Link: Click", "File Download"]],
  ["/js/script.manual.js", []],
])("%s counts what its file name selects: %p", async (script, expected) => {
  await using visit = await stand.visit({ script, attributes: domain, head: stay, body: links })
  expect(await clicked(visit)).toEqual(expected)
  expect(bodies(visit, "last")[0]).toMatchObject({ d: "shop.example" })
})

test.skipIf(noBrowser)("hash and local in the file name equal the attributes", async () => {
  await using visit = await stand.visit({ script: "/js/script.local.hash.js", attributes: domain, host: "localhost", path: "/#/a" })
  await visit.page.evaluate(() => history.pushState(null, "", "#/b"))
  await visit.names()
  expect(bodies(visit, "pageview")).toMatchObject([
    { u: `${visit.origin}/#/a`, h: true },
    { u: `${visit.origin}/#/b`, h: true },
  ])
})

test.skipIf(noBrowser)("classes declare events, which are then not counted twice", async () => {
  const body = `<a id=link class="plausible-event-name=Sign+up plausible-event-plan=pro+1" href="http://other.example/x"><b>Go</b></a>
    <div class="plausible-event-name--Buy plausible-revenue-amount=9.90 plausible-revenue-currency=EUR"><button id=buy>Buy</button></div>
    <form class="plausible-event-name=Order"><input id=field><button id=order>Send</button></form>`
  const script = "/js/script.outbound-links.tagged-events.js"
  await using visit = await stand.visit({ script, attributes: `${domain} data-track="outbound forms"`, head: stay, body })
  for (const id of ["#link b", "#buy", "#field", "#order"]) await visit.page.click(id)
  expect(await visit.names()).toEqual(["pageview", "Sign up", "Buy", "Order"])
  expect(bodies(visit, "Sign up")).toMatchObject([{ p: { plan: "pro 1", url: "http://other.example/x" } }])
  expect(bodies(visit, "Buy")).toMatchObject([{ $: { amount: "9.90", currency: "EUR" } }])
  expect(bodies(visit, "Order")[0]!.$).toBeUndefined()
})

test.skipIf(noBrowser)("a script with an id waits for its options and uses the id as the site", async () => {
  await using visit = await stand.visit({ script: "/js/pa-Ab_1-local.js", head: snippet('plausible("Early")'), body: links })
  await visit.page.evaluate(() => window.plausible?.("Later"))
  await Bun.sleep(100)
  expect(visit.sent).toEqual([])
  await visit.page.evaluate(() => window.plausible?.init?.({ outboundLinks: true }))
  await visit.page.evaluate(() => window.plausible?.init?.({ outboundLinks: false }))
  expect(new Set(await clicked(visit))).toEqual(new Set(["pageview", "Early", "Later", "Outbound Link: Click"]))
  expect(bodies(visit, "pageview")).toMatchObject([{ d: "Ab_1-local" }])
})

test.skipIf(noBrowser)("applies the options of plausible.init", async () => {
  const options = `plausible.init({
    endpoint: "http://elsewhere.example:${stand?.statsPort}/own",
    hashBasedRouting: true,
    captureOnLocalhost: true,
    fileDownloads: { fileExtensions: ["zip"] },
    formSubmissions: true,
    customProperties: (name) => ({ about: name }),
    transformRequest: (payload) => payload.n === "Secret" ? null : { ...payload, u: payload.u + "?seen" },
  })`
  await using visit = await stand.visit({ script: "/js/pa-abcdefgh.js", host: "localhost", head: snippet(options), body: links })
  const result = await visit.page.evaluate(() => new Promise((resolve) => window.plausible?.("Secret", { callback: resolve })))
  expect(result).toEqual({ error: "ignored" })
  expect(await clicked(visit)).toEqual(["pageview", "File Download", "Form: Submission"])
  expect(bodies(visit, "pageview")).toMatchObject([{ d: "abcdefgh", u: `${visit.origin}/?seen`, h: true, p: { about: "pageview" } }])
  expect(bodies(visit, "File Download")).toMatchObject([{ p: { about: "File Download", url: `${visit.origin}/a.zip` } }])
})

test.skipIf(noBrowser)("accepts properties as an object, without automatic pageviews", async () => {
  const options = "plausible.init({ autoCapturePageviews: false, customProperties: { plan: 'pro' }, fileDownloads: false })"
  await using visit = await stand.visit({ script: "/js/pa-abcdefgh.js", head: snippet(options), body: links })
  await visit.page.evaluate(() => window.plausible?.("pageview", { url: "https://shop.example/x", props: { own: 1 } }))
  expect(await clicked(visit)).toEqual(["pageview"])
  expect(bodies(visit, "pageview")).toMatchObject([{ u: "https://shop.example/x", p: { plan: "pro", own: 1 } }])
})

test.skipIf(noBrowser).each([
  ["logs to the console why nothing is counted", "", 1],
  ["logs nothing if logging is off", ", logging: false", 0],
])("%s, and honours Plausible's own opt-out", async (_, option, warnings) => {
  const head = `<script>localStorage.plausible_ignore = "true"</script>${snippet(`plausible.init({ outboundLinks: true${option} })`)}`
  await using visit = await stand.visit({ script: "/js/pa-abcdefgh.js", head })
  const logged: string[] = []
  visit.page.on("console", (message) => logged.push(message.text()))
  await visit.page.evaluate(() => window.plausible?.("Signup"))
  expect(logged).toEqual(Array(warnings).fill("ignored Signup"))
  expect(visit.sent).toEqual([])
})
