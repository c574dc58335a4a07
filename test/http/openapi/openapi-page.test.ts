import { afterAll, expect, test } from "bun:test"
import { createHash } from "node:crypto"
import type { OpenApiDocument } from "../../../src/http/openapi/document.ts"
import { noBrowser, openBrowser } from "../../browser/browser.ts"
import { startInstance } from "../../kit.ts"
import { DOCUMENT_PATH, operationsIn } from "./document.ts"

const PAGE_PATH = "/api/public/v1/docs"
const instance = await startInstance({ settings: { base_url: "https://stats.example.org" } })
afterAll(() => instance[Symbol.asyncDispose]())
const answer = await instance.api.get(PAGE_PATH)
const page = String(answer.body)

test("the page may load nothing, and uses only its inline style", () => {
  expect(answer.headers.get("content-type")).toBe("text/html; charset=utf-8")
  const style = /<style>([\s\S]*)<\/style>/.exec(page)![1]!
  const hash = createHash("sha256").update(style).digest("base64")
  expect(answer.headers.get("content-security-policy")).toBe(
    `default-src 'none'; style-src 'sha256-${hash}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`,
  )
  expect(page).not.toMatch(/<(script|link|img|iframe|object|form)\b|<[a-z][^>]* (src|style|on[a-z]+)=/i)
  expect(style).not.toMatch(/url\(|@import/)
})

test("the page shows every operation and schema of the document, and all its links work", async () => {
  const document = (await instance.api.get(DOCUMENT_PATH)).body as OpenApiDocument
  const ids = [...page.matchAll(/ id="([^"]+)"/g)].map(([, id]) => id!)
  expect(new Set(ids).size).toBe(ids.length)
  for (const { name, method } of operationsIn(document)) {
    expect(ids).toContain(name)
    expect(page).toContain(`>${method}</span>`)
  }
  for (const name of Object.keys(document.components.schemas)) expect(ids).toContain(`schema-${name}`)
  const links = [...page.matchAll(/ href="([^"]+)"/g)].map(([, link]) => link!)
  for (const link of links)
    expect({ link, isThere: link === "openapi.json" || ids.includes(link.slice(1)) }).toEqual({ link, isThere: true })
  expect(page).not.toMatch(/undefined|\[object Object\]/)
})

test.skipIf(noBrowser)(
  "the page makes no further requests, logs no errors and fits phones and desktops in both themes",
  async () => {
    const server = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: (request, peers) => instance.app.fetch(request, peers) })
    const browser = await openBrowser()
    const seen: unknown[] = []
    const backgrounds = new Set<string>()
    for (const colorScheme of ["light", "dark"] as const) {
      for (const width of [375, 1280]) {
        const tab = await browser.newPage({ viewport: { width, height: 900 }, colorScheme })
        tab.on("console", (message) => seen.push(message.text()))
        tab.on("request", (request) => seen.push(new URL(request.url()).pathname))
        await tab.goto(`http://127.0.0.1:${server.port}${PAGE_PATH}`)
        const overflow = await tab.evaluate(() => document.documentElement.scrollWidth - innerWidth)
        expect({ colorScheme, width, overflow }).toEqual({ colorScheme, width, overflow: 0 })
        backgrounds.add(await tab.evaluate(() => getComputedStyle(document.body).backgroundColor))
        await tab.close()
      }
    }
    await browser.close()
    await server.stop(true)
    expect(seen).toEqual([PAGE_PATH, PAGE_PATH, PAGE_PATH, PAGE_PATH])
    expect(backgrounds).toEqual(new Set(["rgb(251, 252, 253)", "rgb(18, 22, 28)"]))
  },
  60_000,
)
