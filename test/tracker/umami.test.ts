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

const WEBSITE = "0f8fad5b-d9cb-469f-a165-70867728950e"

/** A page with Umami's snippet, pointed at the test server. */
const visit = ({ attributes = "", ...more }: VisitOptions = {}): Promise<Visit> =>
  stand.visit({ script: "/script.js", attributes: `data-website-id="${WEBSITE}" ${attributes}`, ...more })
const counted = ({ sent }: Visit) => sent.filter(({ body }) => body.n !== "engagement" && body.n !== "last").map(({ body }) => body)

test.skipIf(noBrowser)("counts a page once on load, and again when its URL changes", async () => {
  await using page = await visit({ path: "/a?utm_source=x#b", attributes: "data-tag=green" })
  await page.page.evaluate(() => history.pushState(null, "", "/spa"))
  await page.names()
  expect(counted(page)).toMatchObject([
    {
      n: "pageview",
      d: WEBSITE,
      u: `${page.origin}/a?utm_source=x#b`,
      h: true,
      t: "First",
      r: "",
      l: "en-US",
      w: 1_000,
      p: { tag: "green" },
    },
    { n: "pageview", d: WEBSITE, u: `${page.origin}/spa`, p: { tag: "green" } },
  ])
})

test.skipIf(noBrowser)("umami.track accepts all its forms", async () => {
  await using page = await visit({ attributes: "data-auto-track=false", path: "/a" })
  await page.page.evaluate((website) => {
    window.umami?.track()
    window.umami?.track("signup", { plan: "pro", deep: { seats: 3 }, list: [1] })
    window.umami?.track("buy", { revenue: 9.9, currency: "EUR" })
    window.umami?.track((own) => ({ ...own, url: "/changed", title: "Changed" }))
    window.umami?.track({ website, url: "/alone", name: "alone" })
  }, WEBSITE)
  await page.names()
  expect(counted(page).sort((a, b) => String(a.u).localeCompare(String(b.u)))).toMatchObject([
    { n: "pageview", u: `${page.origin}/a` },
    { n: "signup", u: `${page.origin}/a`, p: { plan: "pro", "deep.seats": 3, list: [1] } },
    { n: "buy", u: `${page.origin}/a`, $: { amount: 9.9, currency: "EUR" } },
    { n: "alone", u: `${page.origin}/alone`, d: WEBSITE },
    { n: "pageview", u: `${page.origin}/changed`, t: "Changed" },
  ])
  expect(counted(page).find(({ n }) => n === "alone")).not.toHaveProperty("t")
})

test.skipIf(noBrowser)("counts clicks on marked elements, unless automatic tracking is off", async () => {
  const body = `<button id=buy data-umami-event="Buy" data-umami-event-plan="pro"><b>Now</b></button><button id=plain>x</button>`
  await using page = await visit({ body })
  for (const id of ["#buy b", "#plain"]) await page.page.click(id)
  await page.names()
  await using silent = await visit({ body, attributes: "data-auto-track=false" })
  await silent.page.click("#buy b")
  await silent.names()
  expect([counted(page), counted(silent)]).toMatchObject([[{ n: "pageview" }, { n: "Buy", p: { plan: "pro" } }], []])
})

test.skipIf(noBrowser).each([
  ["data-exclude-search=true", "/a#b"],
  ["data-exclude-hash=true", "/a?x=1"],
  ["", "/a?x=1#b"],
])("with %p, sends the URL as %p", async (attributes, expected) => {
  await using page = await visit({ attributes, path: "/a?x=1#b" })
  const [view] = await page.events(1)
  expect([view!.u, view!.h]).toEqual([page.origin + expected, !attributes.includes("hash")])
})

test.skipIf(noBrowser)("data-before-send can change or cancel an event, also asynchronously", async () => {
  const head = `<script>
    window.edit = (type, payload) => payload.name === "secret" ? null : Promise.resolve({ ...payload, url: "/" + type + payload.url.slice(-2) })
  </script>`
  await using page = await visit({ head, attributes: "data-before-send=edit", path: "/a" })
  await page.page.evaluate(() => window.umami?.track("secret"))
  await page.page.evaluate(() => window.umami?.track("open"))
  await page.names()
  expect(counted(page)).toMatchObject([
    { n: "pageview", u: `${page.origin}/event/a` },
    { n: "open", u: `${page.origin}/event/a` },
  ])
})

test.skipIf(noBrowser)("identify names the user of all later events", async () => {
  await using page = await visit({ attributes: "data-auto-track=false" })
  const result = await page.page.evaluate(() => {
    window.umami?.identify("ada")
    window.umami?.track("a")
    window.umami?.identify({ id: "bob", plan: "pro" } as { id: string })
    window.umami?.track("b")
    return window.umami?.getSession().website
  })
  await page.names()
  const users = Object.fromEntries(counted(page).map(({ n, x }) => [n, x]))
  expect([result, users]).toEqual([WEBSITE, { a: "ada", b: "bob" }])
})

test.skipIf(noBrowser).each([
  ["the opt-out", { head: '<script>localStorage["umami.disabled"] = "1"</script>' }],
  ["another domain", { attributes: 'data-domains="a.example, b.example"' }],
])("%s prevents counting", async (_, options) => {
  await using page = await visit(options)
  await page.page.evaluate(() => window.umami?.track("signup"))
  await Bun.sleep(150)
  expect(page.sent).toEqual([])
})

test.skipIf(noBrowser)("counts a listed domain", async () => {
  await using page = await visit({ host: "own.example", attributes: 'data-domains="a.example, own.example"' })
  expect(await page.events(1)).toMatchObject([{ n: "pageview" }])
})

test.skipIf(noBrowser)("reports engaged time", async () => {
  await using page = await visit({ frozen: true, path: "/a" })
  await page.events(1)
  await page.page.clock.runFor(5_000)
  await page.page.evaluate(() => dispatchEvent(new Event("pagehide")))
  const [, engagement] = await page.events(2)
  expect(engagement).toMatchObject({ n: "engagement", d: WEBSITE, u: `${page.origin}/a`, e: 5_000 })
})
