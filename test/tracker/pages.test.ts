import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test"

import { noBrowser } from "../browser/browser.ts"
import { openStand, type Stand, type VisitOptions } from "./stand.ts"

setDefaultTimeout(20_000)

let stand: Stand
beforeAll(async () => {
  if (noBrowser) return
  stand = openStand()
}, 30_000)
afterAll(() => stand?.[Symbol.asyncDispose]())

const page = (url: unknown) => new URL(String(url)).pathname

test.skipIf(noBrowser)("counts a page once on load, with everything that the server reads", async () => {
  await using visit = await stand.visit({ path: "/shoes?utm_source=mail#top" })
  const [event] = await visit.events(1)
  expect(event).toEqual({
    n: "pageview",
    d: "test",
    u: `${visit.origin}/shoes?utm_source=mail#top`,
    r: "",
    p: {},
    h: false,
    t: "First",
    tz: "Europe/Berlin",
    w: 1000,
    o: expect.any(Number),
    id: expect.stringMatching(/^[A-Za-z0-9_-]{8,64}$/),
  })
  expect(await visit.names()).toEqual(["pageview"])
})

test.skipIf(noBrowser)("sends the referrer", async () => {
  await using visit = await stand.visit()
  await visit.events(1)
  await visit.page.evaluate((url) => location.assign(url), `${visit.origin}/next`)
  await visit.page.waitForURL("**/next")
  const events = await visit.events(3)
  expect(events.filter(({ n }) => n === "pageview").at(-1)).toMatchObject({ u: `${visit.origin}/next`, r: `${visit.origin}/` })
})

test.skipIf(noBrowser).each<[string, VisitOptions, () => void, string[]]>([
  ["pushState to another path", {}, () => history.pushState(null, "", "/b"), ["/", "/b"]],
  ["two pushes at once", {}, () => ["/b", "/c"].forEach((path) => void history.pushState(null, "", path)), ["/", "/b", "/c"]],
  ["pushState with another query", {}, () => history.pushState(null, "", "/?page=2"), ["/"]],
  ["pushState with another fragment", {}, () => history.pushState(null, "", "#b"), ["/"]],
  ["replaceState to another path", {}, () => history.replaceState(null, "", "/b"), ["/", "/b"]],
  ["replaceState with another query", {}, () => history.replaceState(null, "", "/?page=2"), ["/"]],
  ["another fragment", {}, () => location.assign("#b"), ["/"]],
  ["another fragment in hash mode", { attributes: "data-hash" }, () => location.assign("#/b"), ["/", "/#/b"]],
  ["pushState of a fragment in hash mode", { attributes: "data-hash" }, () => history.pushState(null, "", "#/b"), ["/", "/#/b"]],
  ["another query in hash mode", { attributes: "data-hash" }, () => history.pushState(null, "", "?page=2"), ["/"]],
])("single-page navigation: %s", async (_, options, navigate, pages) => {
  await using visit = await stand.visit(options)
  await visit.events(1)
  await visit.page.evaluate(navigate)
  await visit.names()
  const views = visit.sent.filter(({ body }) => body.n === "pageview").map(({ body }) => body)
  const shown = views.map(({ u, h }) => page(u) + (h ? new URL(String(u)).hash : ""))
  expect(shown.sort()).toEqual(pages)
})

test.skipIf(noBrowser)("counts back and forward navigation, in hash mode too", async () => {
  await using visit = await stand.visit()
  await visit.events(1)
  await visit.page.evaluate(() => history.pushState(null, "", "/b"))
  await visit.events(3)
  await visit.page.goBack()
  const events = await visit.events(4)
  const views = () => visit.sent.filter(({ body }) => body.n === "pageview").map(({ body }) => page(body.u))
  expect(events.length).toBe(4)
  await visit.names()
  expect(views()).toEqual(["/", "/b", "/"])
})

test.skipIf(noBrowser)("sends a single-page view with its own title and the time of the navigation", async () => {
  await using visit = await stand.visit()
  await visit.events(1)
  await visit.page.evaluate(() => {
    history.pushState(null, "", "/b")
    setTimeout(() => {
      document.title = "Second"
    }, 20)
  })
  await visit.names()
  const views = visit.sent.filter(({ body }) => body.n === "pageview").map(({ body }) => body)
  expect(views).toMatchObject([{ t: "First" }, { t: "Second", u: `${visit.origin}/b` }])
  expect(views[1]!.o).toBeWithin(90, 1_000)
})

test.skipIf(noBrowser)("counts a page restored from the back-forward cache again", async () => {
  await using visit = await stand.visit()
  await visit.events(1)
  await visit.page.evaluate(() => {
    dispatchEvent(new PageTransitionEvent("pageshow", { persisted: false }))
    dispatchEvent(new PageTransitionEvent("pageshow", { persisted: true }))
  })
  const names = await visit.names()
  expect(names.filter((name) => name === "pageview")).toHaveLength(2)
})

test.skipIf(noBrowser)("counts a prerendered page only when it is shown", async () => {
  const before = () => {
    Object.defineProperty(document, "prerendering", { configurable: true, get: () => !document.documentElement.hasAttribute("shown") })
  }
  await using visit = await stand.visit({ before })
  expect(await visit.names()).toEqual([])
  await visit.page.evaluate(() => {
    document.documentElement.setAttribute("shown", "")
    document.dispatchEvent(new Event("visibilitychange", { bubbles: true }))
    document.dispatchEvent(new Event("visibilitychange", { bubbles: true }))
  })
  expect(await visit.names()).toEqual(["pageview"])
})

test.skipIf(noBrowser)("without automatic pageviews, sends only what the page sends itself", async () => {
  await using visit = await stand.visit({ attributes: "data-manual" })
  await visit.page.evaluate(() => history.pushState(null, "", "/b"))
  await visit.page.evaluate(() => window.footfall?.("pageview", { url: "https://shop.example/cart", props: { step: 2 } }))
  expect(await visit.names()).toEqual(["pageview"])
  expect(visit.sent.map(({ body }) => body).find(({ n }) => n === "pageview")).toMatchObject({
    u: "https://shop.example/cart",
    p: { step: 2 },
  })
})

test.skipIf(noBrowser).each([
  ['data-exclude="/admin/*"', ["/admin/users", "/admin", "/administration"], ["/", "/admin", "/administration"]],
  ['data-exclude="/a/*/c, /d"', ["/a/b/c", "/a/b/b/c", "/d", "/d/e"], ["/", "/d/e"]],
  ['data-exclude="/a.b"', ["/a.b", "/axb"], ["/", "/axb"]],
  ['data-exclude="/(,/[,/^"', ["/(", "/[", "/)"], ["/", "/)"]],
  ['data-include="/blog/**"', ["/shop", "/blog/one/two"], ["/blog/one/two"]],
  ['data-include="/blog/*" data-exclude="*/private"', ["/blog/private", "/blog/a"], ["/blog/a"]],
  ['data-hash data-exclude="/#/admin"', ["/#/admin", "/#/b"], ["/", "/#/b"]],
])("with %s and the paths %p, counts %p", async (attributes, paths, counted) => {
  await using visit = await stand.visit({ attributes })
  // Sequential, because an excluded page sends nothing that could be awaited.
  await visit.page.evaluate((all) => {
    for (const path of all) history.pushState(null, "", path)
  }, paths)
  await visit.names()
  const views = visit.sent.filter(({ body }) => body.n === "pageview").map(({ body }) => String(body.u).slice(visit.origin.length))
  expect(views.sort()).toEqual(counted)
})

test.skipIf(noBrowser)("sends the properties of the script element only with pageviews", async () => {
  await using visit = await stand.visit({ attributes: 'data-prop-plan="pro" event-author="Ada" data-property="no"' })
  await visit.names()
  const of = (name: string) => visit.sent.find(({ body }) => body.n === name)?.body.p
  expect(of("pageview")).toEqual({ plan: "pro", author: "Ada" })
  expect(of("last")).toEqual({})
})

test.skipIf(noBrowser).each([
  ['data-site="a" data-domain="b"', "a"],
  ['data-domain="b,c"', "b,c"],
  ['data-website-id="0b2d1c5e-0000-4000-8000-000000000000"', "0b2d1c5e-0000-4000-8000-000000000000"],
])("%s sets the site to %s", async (attributes, site) => {
  await using visit = await stand.visit({ attributes })
  expect((await visit.events(1))[0]).toMatchObject({ d: site })
})

test.skipIf(noBrowser).each([
  ["data-api", (port: number) => `data-api="http://elsewhere.example:${port}/own/path"`],
  ["data-host-url", (port: number) => `data-host-url="http://elsewhere.example:${port}/"`],
])("sends events to the URL in %s", async (_, attributes) => {
  await using visit = await stand.visit({ attributes: attributes(stand.statsPort) })
  expect((await visit.events(1))[0]).toMatchObject({ n: "pageview" })
})

test.skipIf(noBrowser)("sends calls made before the script loaded after the pageview", async () => {
  const stub = (name: string) => `window.${name} = window.${name} || function () { (${name}.q = ${name}.q || []).push(arguments) };`
  const head = `<script>${stub("footfall")}${stub("plausible")}footfall("Early", { props: { a: 1 } });plausible("Earlier")</script>`
  await using visit = await stand.visit({ head })
  expect(new Set(await visit.names())).toEqual(new Set(["pageview", "Early", "Earlier"]))
  expect(visit.sent.find(({ body }) => body.n === "Early")?.body.p).toEqual({ a: 1 })
})
