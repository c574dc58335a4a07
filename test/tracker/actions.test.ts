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

/** Returns the custom events with their properties once all pending requests have arrived. */
async function custom(visit: Visit): Promise<unknown[]> {
  await visit.names()
  const internal = ["pageview", "engagement", "last"]
  return visit.sent.flatMap(({ body }) => (internal.includes(String(body.n)) ? [] : [[body.n, body.p]]))
}
/** Cancels every navigation, so that one page serves several clicks. */
const stay = `<script>
  addEventListener("click", (event) => event.target.closest("a") && event.preventDefault())
  addEventListener("submit", (event) => event.preventDefault())
</script>`

test.skipIf(noBrowser).each([
  ["a link to another host", "http://other.example/a?b=c#d", [["Outbound Link: Click", { url: "http://other.example/a?b=c#d" }]]],
  ["a link with credentials", "http://ada:secret@other.example/", [["Outbound Link: Click", { url: "http://other.example/" }]]],
  ["a link to the same host", "/b", []],
  ["an email address", "mailto:ada@example.com", []],
  ["an app link", "whatsapp://send?text=secret", []],
  ["a javascript: URL", "javascript:void 0", []],
  ["a file", "/files/a.PDF?key=secret#p2", [["File Download", { url: "http://$host/files/a.PDF" }]]],
  ["a file on another host", "http://ada:secret@other.example/a.tgz?x", [["File Download", { url: "http://other.example/a.tgz" }]]],
  ["a path that only looks like a file name", "/pdf", []],
])("a click on %s", async (_, href, expected) => {
  await using visit = await stand.visit({ head: stay, body: `<a href="${href}"><b>Go</b></a>` })
  await visit.page.click("b")
  const text = JSON.stringify(expected).replace("$host", `${visit.host}:${stand.port}`)
  expect(await custom(visit)).toEqual(JSON.parse(text))
})

test.skipIf(noBrowser)("counts the middle mouse button, but not the right one", async () => {
  await using visit = await stand.visit({ head: stay, body: '<a href="http://other.example/">Go</a>' })
  await visit.page.click("a", { button: "middle" })
  await visit.page.click("a", { button: "right" })
  expect(await custom(visit)).toEqual([["Outbound Link: Click", { url: "http://other.example/" }]])
})

test.skipIf(noBrowser)("sends a click even if the page is left immediately", async () => {
  const url = `http://other.example:${stand.port}/there`
  await using visit = await stand.visit({ body: `<a href="${url}">Go</a>` })
  await visit.page.click("a")
  await visit.page.waitForURL(url)
  const events = await visit.events(3)
  expect(events.map(({ n }) => n).sort()).toEqual(["Outbound Link: Click", "engagement", "pageview"])
})

test.skipIf(noBrowser)("counts clicks whose propagation is stopped", async () => {
  const body = '<a href="http://other.example/" onclick="event.stopPropagation()">Go</a>'
  await using visit = await stand.visit({
    head: stay,
    body: body.replace("stopPropagation()", "stopPropagation(); event.preventDefault()"),
  })
  await visit.page.click("a")
  expect(await custom(visit)).toHaveLength(1)
})

test.skipIf(noBrowser).each([
  ['data-track="outbound"', ["Outbound Link: Click", "Outbound Link: Click"]],
  ['data-track="files forms"', ["File Download", "Form: Submission"]],
  ['data-track="files"', ["File Download"]],
  ['data-track="none"', []],
  ['data-domain="shop.example"', []],
  ['data-domain="shop.example" data-track="forms"', ["Form: Submission"]],
  ['data-file-types="html, .doc"', ["Outbound Link: Click", "Form: Submission"]],
  ['data-file-types="html,zip"', ["Outbound Link: Click", "File Download", "Form: Submission"]],
  ['data-add-file-types="html"', ["Outbound Link: Click", "File Download", "Form: Submission"]],
])("%s tracks %p", async (attributes, expected) => {
  const body = `<a id=out href="http://other.example/">Out</a> <a id=file href="http://other.example/a.zip">File</a>
    <form><button id=send>Send</button></form>`
  await using visit = await stand.visit({
    attributes,
    head: stay,
    body: attributes.includes('"html, .doc"') ? body.replace("http://other.example/a.zip", "/a.zip") : body,
  })
  for (const id of ["#out", "#file", "#send"]) await visit.page.click(id)
  expect((await custom(visit)).map((event) => (event as unknown[])[0])).toEqual(expected)
})

test.skipIf(noBrowser)("counts a form that is valid or skips validation, and sends no field values", async () => {
  const field = '<input name=mail type=email required value="VALUE"><button>Send</button>'
  const body = `<form id=valid>${field.replace("VALUE", "ada@secret.example")}</form><form id=invalid>${field.replace("VALUE", "secret")}</form>
    <form id=free novalidate>${field.replace("VALUE", "secret")}</form>`
  await using visit = await stand.visit({ path: "/contact", head: stay, body })
  await visit.page.click("#valid button")
  expect(await custom(visit)).toEqual([["Form: Submission", { path: "/contact" }]])
  await visit.page.click("#invalid button")
  await visit.page.evaluate(() => document.querySelector("#invalid")?.dispatchEvent(new Event("submit", { bubbles: true })))
  await visit.page.click("#free button")
  const events = await visit.events(4)
  expect(events.filter(({ n }) => n === "Form: Submission")).toHaveLength(2)
  expect(JSON.stringify(visit.sent)).not.toContain("secret")
})

test.skipIf(noBrowser)("elements declare events, up to three levels above the clicked element", async () => {
  const event = 'data-footfall-event="Sign up" data-footfall-prop-plan="pro" data-footfall-prop-where="top"'
  const body = `<button id=own ${event}>A</button><div ${event}><p><i><b id=third>B</b></i></p></div>
    <div ${event}><p><i><b><u id=fourth>C</u></b></i></p></div>`
  await using visit = await stand.visit({ body })
  await visit.page.click("#own")
  await visit.page.click("#third")
  await visit.page.click("#fourth")
  const signUp = ["Sign up", { plan: "pro", where: "top" }]
  expect(await custom(visit)).toEqual([signUp, signUp])
})

test.skipIf(noBrowser)("a form declares an event for its submission, not for clicks inside it", async () => {
  const body = '<form data-footfall-event="Order" data-footfall-prop-size="L"><input><button>Send</button></form>'
  await using visit = await stand.visit({ attributes: 'data-track="none"', head: stay, body })
  await visit.page.click("input")
  await visit.page.click("button")
  expect(await custom(visit)).toEqual([["Order", { size: "L" }]])
})
