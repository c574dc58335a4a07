import { afterAll, beforeAll, expect, test } from "bun:test"
import type { Frame, Page } from "playwright-core"
import { embedSnippet } from "../../../src/ui/screens/share/embedding.ts"
import { startInstance, type TestInstance, temporaryFolder } from "../../kit.ts"
import { certificateFor } from "../../services/outbound/certificate.ts"
import { noBrowser, openContext } from "../browser.ts"

// A real second origin embeds a share. Another one tries to.

let instance: TestInstance

let served: Bun.Server<undefined>
let embedder: Bun.Server<undefined>
const folder = temporaryFolder()
const pages: Record<string, string> = {}
const slugs = { view: "", board: "" }

const at = (host: string, path: string): string => `https://${host}:${embedder.port}${path}`

beforeAll(async () => {
  if (noBrowser) return
  instance = await startInstance()
  served = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: (request) => instance.fetch(request, "203.0.113.9") })
  // The page that embeds allows no inline script and no inline style.
  const policy = `default-src 'none'; script-src http://localhost:${served.port}; frame-src http://localhost:${served.port}; style-src 'none'`
  embedder = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    tls: await certificateFor(folder.path, "friend.example", "stranger.example"),
    fetch: (request) =>
      new Response(pages[new URL(request.url).pathname] ?? "", {
        headers: { "content-type": "text/html; charset=utf-8", "content-security-policy": policy },
      }),
  })
  for (let i = 0; i < 3; i++) await instance.collect({ n: "pageview", u: "https://shop.example/" }, { address: `203.0.113.${i}` })
  const cookie = await instance.signIn({ role: "owner" })
  const post = async (path: string, body: object) =>
    (await instance.api.send("POST", `/api/private/sites/1${path}`, body, undefined, { cookie })).body as { id: number; slug: string }
  const embed_origins = [at("friend.example", "")]
  slugs.view = (await post("/shares", { name: "View", embed_origins })).slug
  const place = { x: 0, y: 0, w: 12, h: 12 }
  const widgets = [
    { ...place, type: "metric", config: { metric: "visitors" } },
    { ...place, y: 12, type: "text", config: { markdown: "Hello" } },
  ]
  const { id } = await post("/dashboards", { name: "Board", widgets })
  slugs.board = (await post(`/dashboards/${id}/shares`, { name: "Board", embed_origins })).slug
  for (const [name, path] of [
    ["/view", `/share/s/${slugs.view}`],
    ["/board", `/share/d/${slugs.board}`],
    ["/widget", `/share/d/${slugs.board}/widgets/1`],
  ] as const)
    pages[name] = `<!doctype html><title>Page</title>${embedSnippet(`http://localhost:${served.port}${path}`, 'A "title"')}`
})
afterAll(async () => {
  embedder?.stop(true)
  served?.stop(true)
  await instance?.[Symbol.asyncDispose]()
  folder[Symbol.dispose]()
})

async function openAt(url: string): Promise<{ page: Page; frame: Frame; refused: string[] }> {
  const context = await openContext({ ignoreHTTPSErrors: true })
  const page = await context.newPage()
  const refused: string[] = []
  page.on("console", (message) => void (message.type() === "error" && refused.push(message.text())))
  await page.goto(url, { waitUntil: "load" })
  const frame = page.frames().find((one) => one !== page.mainFrame())!
  return { page, frame, refused }
}

test.skipIf(noBrowser)(
  "an allowed origin embeds a share, and its frame grows to the height of the share",
  async () => {
    const { page, frame, refused } = await openAt(at("friend.example", "/view"))
    await frame.waitForSelector("h1")
    const iframe = page.locator("iframe")
    expect(await iframe.getAttribute("title")).toBe('A "title"')
    // The share reports its height as its cards arrive. In the end it is more than the 600 pixels of the HTML.
    await page.waitForFunction(() => Number(document.querySelector("iframe")!.getAttribute("height")) > 600)
    expect(await frame.locator(".top-bar").count()).toBe(0)
    expect(await frame.evaluate(() => document.querySelector("base")?.target)).toBe("_blank")
    expect(refused).toEqual([])
    await page.context().close()
  },
  60_000,
)

test.skipIf(noBrowser).each(["/view", "/board", "/widget"])(
  "another origin cannot embed the share at %s",
  async (path) => {
    const { page, frame, refused } = await openAt(at("stranger.example", path))
    for (let i = 0; i < 100 && refused.length === 0; i++) await Bun.sleep(50)
    expect(refused.join(" ")).toContain("frame-ancestors")
    expect(frame.url()).not.toContain("/share/")
    expect(await page.locator("iframe").getAttribute("height")).toBe("600")
    await page.context().close()
  },
  60_000,
)

test.skipIf(noBrowser).each(["/board", "/widget"])(
  "an allowed origin embeds a shared dashboard or one of its widgets, and the frame gets its height, at %s",
  async (path) => {
    const { page, frame, refused } = await openAt(at("friend.example", path))
    await frame.waitForURL(/\/share\/d\//)
    await frame.waitForSelector(".figure-value")
    expect(await frame.locator(".figure-value").textContent()).toBe("3")
    expect(await frame.locator(".tile").count()).toBe(path === "/board" ? 2 : 1)
    const height = () => document.querySelector("iframe")!.getAttribute("height")
    await page.waitForFunction((before) => document.querySelector("iframe")!.getAttribute("height") !== before, "600")
    const own = await frame.evaluate(() => Math.ceil(document.body.getBoundingClientRect().height))
    await page.waitForFunction((wanted) => document.querySelector("iframe")!.getAttribute("height") === wanted, String(own))
    expect({ height: Number(await page.evaluate(height)), refused }).toEqual({ height: own, refused: [] })
    await page.context().close()
  },
  60_000,
)
