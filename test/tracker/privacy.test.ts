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

test.skipIf(noBrowser)("stores nothing and requests nothing except the collect address", async () => {
  const requests: string[] = []
  await using visit = await stand.visit({
    attributes: 'data-prop-a="b"',
    body: '<a href="#x">Go</a><form><button type=button>B</button></form>',
  })
  visit.page.on("request", (request) => requests.push(`${request.method()} ${new URL(request.url()).pathname}`))
  await visit.page.click("a")
  await visit.page.evaluate(() => {
    history.pushState(null, "", "/b")
    window.footfall?.("Signup", { props: { plan: "pro" } })
    window.footfall?.identify("user-7")
    window.footfall?.consent("denied")
    window.dispatchEvent(new Event("blur"))
  })
  await visit.names()
  await visit.page.reload()
  await visit.events(6)
  const stored = await visit.page.evaluate(async () => ({
    local: localStorage.length,
    tab: sessionStorage.length,
    cookies: document.cookie,
    databases: (await indexedDB.databases()).length,
  }))
  expect(stored).toEqual({ local: 0, tab: 0, cookies: "", databases: 0 })
  expect(await visit.context.cookies()).toEqual([])
  expect(new Set(requests)).toEqual(
    new Set(["GET /", "GET /b", "GET /js/script.js", "POST /api/event"].filter((line) => requests.includes(line))),
  )
  // The pages and the server have different origins, so a preflight would appear as OPTIONS.
  expect(new Set(visit.sent.map(({ method, type }) => `${method} ${type}`))).toEqual(new Set(["POST text/plain;charset=UTF-8"]))
})

test.skipIf(noBrowser).each<[string, VisitOptions]>([
  ["an automated browser", { automated: true }],
  ["PhantomJS", { before: () => Reflect.set(window, "_phantom", {}) }],
  ["Nightmare", { before: () => Reflect.set(window, "__nightmare", {}) }],
  ["Cypress", { before: () => Reflect.set(window, "Cypress", {}) }],
  ["localhost", { host: "localhost" }],
  ["a loopback address", { host: "127.0.0.1" }],
  ["an opted-out visitor", { before: () => localStorage.setItem("footfall_ignore", "true") }],
])("does not count %s and informs the callback", async (_, options) => {
  await using visit = await stand.visit(options)
  const result = await visit.page.evaluate(() => new Promise((resolve) => window.footfall?.("Signup", { callback: resolve })))
  expect(result).toEqual({ error: "ignored" })
  expect(visit.sent).toEqual([])
})

test.skipIf(noBrowser).each(["localhost", "127.0.0.1"])("counts %s if the page allows it", async (host) => {
  await using visit = await stand.visit({ host, attributes: "data-local" })
  expect((await visit.events(1))[0]).toMatchObject({ n: "pageview", u: `http://${host}:${stand.port}/` })
})

test.skipIf(noBrowser)("counts a host name that only starts like a local one", async () => {
  await using visit = await stand.visit({ host: "localhost.example" })
  await visit.events(1)
})

test.skipIf(noBrowser)("a visitor opts out and in again by opening a URL, with a confirmation", async () => {
  await using visit = await stand.visit()
  await visit.events(1)
  const dialogs: string[] = []
  visit.page.on("dialog", (dialog) => {
    dialogs.push(dialog.message())
    void dialog.accept()
  })
  const ignored = () => visit.page.evaluate(() => localStorage.getItem("footfall_ignore"))
  await visit.page.goto("about:blank")
  const counted = visit.sent.length
  await visit.page.goto(`${visit.origin}/#footfall-ignore`)
  expect([dialogs, await ignored()]).toEqual([["footfall_ignore: true"], "true"])
  await visit.page.goto("about:blank")
  await visit.page.goto(visit.origin)
  await visit.page.goto("about:blank")
  expect(visit.sent.length).toBe(counted)
  await visit.page.goto(`${visit.origin}/#footfall-ignore`)
  expect([dialogs.at(-1), await ignored()]).toEqual(["footfall_ignore: false", "false"])
  await visit.events(counted + 1)
})

test.skipIf(noBrowser)("counts a browser without storage", async () => {
  const before = () => {
    const get = () => {
      throw new DOMException("no", "SecurityError")
    }
    Object.defineProperty(window, "localStorage", { get })
    Object.defineProperty(document, "cookie", { get })
  }
  await using visit = await stand.visit({ before })
  await visit.events(1)
})
