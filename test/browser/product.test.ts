import { expect, setDefaultTimeout, test } from "bun:test"
import type { Page } from "playwright-core"
import { LISTENING } from "../../src/http/server.ts"
import { startInstance } from "../kit.ts"
import { noBrowser, openVisitor } from "./browser.ts"

setDefaultTimeout(20_000)

/** Serves the real product on a socket, and a shop whose pages load a script. */
async function openShop(settings: Record<string, string> = {}) {
  const instance = await startInstance({ settings })
  const product = Bun.serve({
    ...LISTENING,
    port: 0,
    hostname: "127.0.0.1",
    fetch: (request, server) => instance.app.fetch(request, server),
  })
  const origin = `http://stats.example:${product.port}`
  const library = await plausibleLibrary()
  let head = ""
  const pages = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch: ({ url }) => {
      if (url.endsWith("/plausible.js")) return new Response(library, { headers: { "content-type": "text/javascript" } })
      const text = `<!doctype html><title>Shop</title>${head}<body><a href="http://other.example:${product.port}/health/live">Out</a></body>`
      return new Response(text, { headers: { "content-type": "text/html" } })
    },
  })
  return {
    instance,
    origin,
    async open(path: string, markup: string): Promise<Page> {
      head = markup
      const page = await (await openVisitor()).newPage()
      await page.goto(`http://shop.example:${pages.port}${path}`)
      return page
    },
    /** Waits until today's summary has these figures. */
    async summary(wanted: Record<string, number>): Promise<void> {
      const path = `/api/public/v1/sites/1/stats/summary?period=today&metrics=${Object.keys(wanted).join()}`
      for (let tries = 0; ; tries++) {
        const { body } = await instance.api.get(path, instance.statsKey)
        const { metrics } = body as { metrics: Record<string, number> }
        if (tries === 100) expect(metrics).toEqual(wanted)
        if (Bun.deepEquals(metrics, wanted)) return
        await Bun.sleep(50)
      }
    },
    async breakdown(dimension: string, metric: string): Promise<unknown> {
      const path = `/api/public/v1/sites/1/stats/breakdown?period=today&dimension=${dimension}&metrics=${metric}`
      const { body } = await instance.api.get(path, instance.statsKey)
      return (body as { rows: unknown[] }).rows
    },
    async [Symbol.asyncDispose]() {
      await pages.stop(true)
      await product.stop(true)
      await instance[Symbol.asyncDispose]()
    },
  }
}

/** Bundles the npm package in memory as a module for the page. */
async function plausibleLibrary(): Promise<string> {
  const built = await Bun.build({ entrypoints: [Bun.resolveSync("@plausible-analytics/tracker", import.meta.dir)], target: "browser" })
  return built.outputs[0]!.text()
}

async function expectEngagement({ instance }: Awaited<ReturnType<typeof openShop>>): Promise<void> {
  const path = "/api/public/v1/sites/1/stats/breakdown?period=today&dimension=page&metrics=scroll_depth"
  const pages = async () =>
    ((await instance.api.get(path, instance.statsKey)).body as { rows: { value: string; scroll_depth: number }[] }).rows
  for (let tries = 0; tries < 100 && !(await pages()).every(({ scroll_depth }) => scroll_depth === 100); tries++) await Bun.sleep(50)
  expect((await pages()).map(({ value, scroll_depth }) => [value, scroll_depth]).sort()).toEqual([
    ["/", 100],
    ["/cart", 100],
  ])
}

const push = (page: Page, path: string) => page.evaluate((to) => history.pushState(null, "", to), path)

test.skipIf(noBrowser)("counts visits with the snippet, from the page to the report", async () => {
  await using shop = await openShop()
  const { instance } = shop
  const page = await shop.open(
    "/?utm_source=newsletter",
    `<script defer src="${shop.origin}/js/script.js" data-site="${instance.site.tracking_id}"></script>`,
  )
  await shop.summary({ visitors: 1, visits: 1, pageviews: 1, events: 1, bounce_rate: 100 })
  instance.clock.advance(60_000)
  await push(page, "/cart")
  await shop.summary({ visitors: 1, visits: 1, pageviews: 2, events: 2, bounce_rate: 0 })
  await page.evaluate(() => window.footfall?.("Purchase", { props: { plan: "pro" }, revenue: { amount: 19.9, currency: "EUR" } }))
  await shop.summary({ visitors: 1, pageviews: 2, events: 3, revenue: 19.9 })
  instance.clock.advance(30_000)
  await page.click("a")
  await page.waitForURL(/other\.example/)
  await shop.summary({ visitors: 1, visits: 1, pageviews: 2, events: 4, visit_duration: 90 })
  // Engagement of both pages, the last one sent by the beacon when leaving the page.
  await expectEngagement(shop)
  expect(await shop.breakdown("page", "pageviews")).toMatchObject([
    { value: "/", pageviews: 1 },
    { value: "/cart", pageviews: 1 },
  ])
  expect(await shop.breakdown("event", "events")).toMatchObject([
    { value: "Outbound Link: Click", events: 1 },
    { value: "Purchase", events: 1 },
  ])
  expect(await shop.breakdown("source", "visitors")).toMatchObject([{ value: "newsletter" }])
  expect(await shop.breakdown("country", "visitors")).toMatchObject([{ value: "DE" }])
  expect(await shop.breakdown("size", "visitors")).toMatchObject([{ value: "992-1439" }])
})

test.skipIf(noBrowser)("serves the script under configured names, and the script uses them", async () => {
  await using shop = await openShop({ script_path: "/own/s.js", collect_path: "/own/c" })
  const { instance } = shop
  const paths: string[] = []
  const page = await shop.open("/", `<script defer src="${shop.origin}/own/s.js" data-site="${instance.site.tracking_id}"></script>`)
  page.on("request", (request) => paths.push(new URL(request.url()).pathname))
  await shop.summary({ pageviews: 1 })
  await push(page, "/b")
  await shop.summary({ pageviews: 2 })
  expect(new Set(paths)).toEqual(new Set(["/own/c"]))
})

test.skipIf(noBrowser)("counts visits with Plausible's npm package, from the page to the report", async () => {
  await using shop = await openShop()
  const options = `{ domain: "shop.example", endpoint: "${shop.origin}/api/event", outboundLinks: true, hashBasedRouting: false }`
  const module = `<script type=module>import { init, track } from "/plausible.js"; init(${options}); window.track = track</script>`
  const page = await shop.open("/", module)
  await shop.summary({ visitors: 1, visits: 1, pageviews: 1, events: 1, bounce_rate: 100 })
  await push(page, "/pricing")
  await shop.summary({ visitors: 1, pageviews: 2, events: 2 })
  const answer = await page.evaluate(() => {
    const track = Reflect.get(window, "track") as (name: string, options: object) => void
    const options = { props: { tier: "startup" }, revenue: { amount: 15.99, currency: "EUR" }, interactive: false }
    return new Promise((resolve) => track("Signup", { ...options, callback: resolve }))
  })
  expect(answer).toEqual({ status: 202 })
  await page.click("a")
  await shop.summary({ visitors: 1, visits: 1, pageviews: 2, events: 4 })
  expect(await shop.breakdown("event", "events")).toMatchObject([
    { value: "Outbound Link: Click", events: 1 },
    { value: "Signup", events: 1 },
  ])
  expect(await shop.breakdown("exit_page", "visits")).toMatchObject([{ value: "/pricing" }])
  await shop.summary({ revenue: 15.99 })
})
