import { afterAll, expect, test } from "bun:test"
import { createHash } from "node:crypto"
import { FLAT_DIMENSIONS } from "../../../src/domain/dimension.ts"
import { rowColumns } from "../../../src/domain/export.ts"
import { OPERATORS } from "../../../src/domain/filter.ts"
import { METRICS } from "../../../src/domain/metric.ts"
import { PERIOD_NAMES } from "../../../src/domain/relative-period.ts"
import type { OpenApiDocument } from "../../../src/http/openapi/document.ts"
import { noBrowser, openContext } from "../../browser/browser.ts"
import { startInstance } from "../../kit.ts"
import { DOCUMENT_PATH, operationsIn } from "./document.ts"

const PAGE_PATH = "/api/public/v1/docs"
const instance = await startInstance({ settings: { base_url: "https://stats.example.org" } })
afterAll(() => instance[Symbol.asyncDispose]())
const answer = await instance.api.get(PAGE_PATH)
const page = String(answer.body)

const hashOf = (text: string) => `'sha256-${createHash("sha256").update(text).digest("base64")}'`
const inside = (tag: string) => new RegExp(`<${tag}>([\\s\\S]*)</${tag}>`).exec(page)![1]!

test("the page may load nothing, and has only its inline style and script", () => {
  expect(answer.headers.get("content-type")).toBe("text/html; charset=utf-8")
  expect(answer.headers.get("content-security-policy")).toBe(
    `default-src 'none'; script-src ${hashOf(inside("script"))}; style-src ${hashOf(inside("style"))}; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`,
  )
  const html = page.replace(inside("script"), "")
  expect(html).not.toMatch(/<(link|img|iframe|object|form)\b|<script [^>]|<[a-z][^>]* (src|style|on[a-z]+)=/i)
  expect(inside("style")).not.toMatch(/url\(|@import/)
  expect(inside("script")).not.toMatch(/fetch\(|XMLHttp|innerHTML|import\(/)
})

const plain = (html: string): string =>
  html.replace(/<[^>]+>/g, "").replace(/&#(\d+);/g, (_, code: string) => String.fromCharCode(Number(code)))
/** The part of the page about one operation. */
const articleOf = (name: string): string => new RegExp(`<article id="${name}"[\\s\\S]*?</article>`).exec(page)![0]

test("the page shows every operation with its fields, errors, a request and an example response, and all its links work", async () => {
  const document = (await instance.api.get(DOCUMENT_PATH)).body as OpenApiDocument
  const ids = [...page.matchAll(/ id="([^"]+)"/g)].map(([, id]) => id!)
  expect(new Set(ids).size).toBe(ids.length)
  for (const { name, method, path, parameters, bodies, answers, scopes } of operationsIn(document)) {
    const article = articleOf(name)
    const text = plain(article)
    expect(article).toContain(`>${method}</span>`)
    expect({ name, request: text.includes("curl") && text.includes(path.split("{")[0]!) }).toEqual({ name, request: true })
    if (scopes.length > 0) expect(text).toContain('-H "Authorization: Bearer $KEY"')
    for (const parameter of parameters.filter((one) => one.in !== "header")) expect(text).toContain(parameter.name)
    for (const [type, { example }] of Object.entries(bodies))
      if (example !== undefined && type === "application/json") expect({ name, body: text.includes("-d '") }).toEqual({ name, body: true })
    const good = Object.entries(answers).find(([status]) => status < "300")!
    expect({ name, hasExample: Object.keys(good[1].content).length === 0 || !text.includes("No body") }).toEqual({ name, hasExample: true })
    expect(text).toContain("Errors")
  }
  const links = [...page.matchAll(/ href="([^"]+)"/g)].map(([, link]) => link!)
  for (const link of links)
    expect({ link, isThere: link === "openapi.json" || ids.includes(link.slice(1)) }).toEqual({ link, isThere: true })
  for (const code of Object.keys(document.components.examples)) expect(page).toContain(`<code>${code}</code>`)
})

test("the guides explain every metric, every dimension and every operator", () => {
  const guide = (id: string) => new RegExp(`<section class="guide" id="${id}"[\\s\\S]*?</section>`).exec(page)![0]
  for (const metric of METRICS) expect(guide("metrics")).toContain(`<code>${metric}</code>`)
  for (const dimension of FLAT_DIMENSIONS) expect(guide("metrics")).toContain(`<code>${dimension}</code>`)
  for (const operator of OPERATORS) expect(plain(guide("filters"))).toContain(`"${operator}",`)
})

test("the guides explain every period and every column of raw rows", () => {
  const guide = (id: string) => new RegExp(`<section class="guide" id="${id}"[\\s\\S]*?</section>`).exec(page)![0]
  for (const period of PERIOD_NAMES) expect(guide("ranges")).toContain(`<code>${period}</code>`)
  for (const column of [...rowColumns("events"), ...rowColumns("visits")])
    expect(guide("exported-rows")).toContain(`<code>${column}</code>`)
})

test("the examples of the guide to filters are accepted", async () => {
  const filters = /<section class="guide" id="filters"[\s\S]*?<\/section>/.exec(page)![0]
  const given = [...filters.matchAll(/<code>((?:\[|\{)[^<]*)<\/code>/g)].map(([, code]) => JSON.parse(plain(code!)) as unknown)
  const flat = given.filter((one) => !Array.isArray(one) && ("values" in (one as object) || "any" in (one as object)))
  const queried = given.filter(Array.isArray)
  expect([flat.length, queried.length]).toEqual([OPERATORS.length + 3, OPERATORS.length + 6])
  const { api, statsKey } = instance
  for (const filter of flat) {
    const text = encodeURIComponent(JSON.stringify([filter]))
    const { status, body } = await api.get(`/api/public/v1/sites/1/stats/summary?filters=${text}`, statsKey)
    expect({ filter, status: isUnknownSet(body) ? 200 : status }).toEqual({ filter, status: 200 })
  }
  for (const filter of queried) {
    const question = { site_id: 1, metrics: ["visitors"], date_range: "7d", filters: [filter] }
    const { status, body } = await api.post("/api/public/v1/query", question, statsKey)
    expect({ filter, status: isUnknownSet(body) ? 200 : status }).toEqual({ filter, status: 200 })
  }
})

/** The site has no saved segments, which the examples name by an id. */
const isUnknownSet = (body: unknown): boolean => JSON.stringify(body).includes("egment")

test("the page is written for people", () => {
  const text = plain(page.replace(inside("script"), "").replace(inside("style"), ""))
  expect(text).not.toMatch(/undefined|\[object Object\]|to 2 items|list of string\b|It is made|lists? of any\b/)
})

test.skipIf(noBrowser)(
  "the page makes no further requests, logs no errors and fits phones and desktops in both themes",
  async () => {
    const server = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: (request, peers) => instance.app.fetch(request, peers) })

    const seen: unknown[] = []
    const backgrounds = new Set<string>()
    for (const colorScheme of ["light", "dark"] as const) {
      for (const width of [375, 1280]) {
        const context = await openContext({ viewport: { width, height: 900 }, colorScheme })
        const tab = await context.newPage()
        tab.on("console", (message) => seen.push(message.text()))
        tab.on("request", (request) => seen.push(new URL(request.url()).pathname))
        await tab.goto(`http://127.0.0.1:${server.port}${PAGE_PATH}`)
        const overflow = await tab.evaluate(() => document.documentElement.scrollWidth - innerWidth)
        expect({ colorScheme, width, overflow }).toEqual({ colorScheme, width, overflow: 0 })
        backgrounds.add(await tab.evaluate(() => getComputedStyle(document.body).backgroundColor))
        await context.close()
      }
    }

    await server.stop(true)
    expect(seen).toEqual([PAGE_PATH, PAGE_PATH, PAGE_PATH, PAGE_PATH])
    expect(backgrounds).toEqual(new Set(["rgb(247, 246, 243)", "rgb(19, 20, 18)"]))
  },
  60_000,
)

test.skipIf(noBrowser)(
  "the index is searched, code is copied, and without scripts the page is complete",
  async () => {
    const server = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: (request, peers) => instance.app.fetch(request, peers) })
    const url = `http://127.0.0.1:${server.port}${PAGE_PATH}`

    const context = await openContext({ viewport: { width: 1280, height: 900 }, permissions: ["clipboard-read", "clipboard-write"] })
    const tab = await context.newPage()
    await tab.goto(url)
    await tab.keyboard.press("/")
    await tab.keyboard.type("retention_days")
    const shown = await tab.locator("nav li:visible").allTextContents()
    expect(shown).toContain("Create a site")
    expect(shown).not.toContain("Get totals")
    await tab.getByLabel("Search the reference").fill("bounce rate")
    expect(await tab.locator("nav li:visible").allTextContents()).toContain("Metrics and dimensions")
    await tab.getByLabel("Search the reference").fill("zzz")
    expect(await tab.getByRole("status").textContent()).toBe("Nothing found.")
    await tab.getByLabel("Search the reference").fill("")
    await tab.locator("#getSummary figure button").first().click()
    expect(await tab.evaluate(() => navigator.clipboard.readText())).toContain("/api/public/v1/sites/1/stats/summary?period=7d")
    await tab.getByRole("link", { name: "Get totals" }).first().click()
    await tab.locator('nav a[aria-current][href="#getSummary"]').waitFor()

    const still = await openContext({ javaScriptEnabled: false })
    const page = await still.newPage()
    await page.goto(url)
    expect(await page.locator("button, input").count()).toBe(0)
    await page.locator("nav").getByRole("link", { name: "Filters", exact: true }).click()
    expect(await page.locator("#filters").isVisible()).toBe(true)
    await page.locator("#createFunnel summary").first().click()

    await server.stop(true)
  },
  60_000,
)

test.skipIf(noBrowser)(
  "without a base URL, the examples have the address at which the page was opened",
  async () => {
    await using unnamed = await startInstance()
    const server = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: (request, peers) => unnamed.app.fetch(request, peers) })
    const origin = `http://127.0.0.1:${server.port}`

    const tab = await (await openContext()).newPage()
    await tab.goto(origin + PAGE_PATH)
    expect(await tab.locator("#getSummary figure pre").first().textContent()).toContain(
      `curl "${origin}/api/public/v1/sites/1/stats/summary`,
    )
    expect(await tab.locator("main").textContent()).not.toContain("localhost:8080")

    await server.stop(true)
  },
  60_000,
)
