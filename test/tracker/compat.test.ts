import { expect, setDefaultTimeout, test } from "bun:test"
import type { Page } from "playwright-core"
import { LISTENING } from "../../src/http/server.ts"
import { noBrowser, openVisitor } from "../browser/browser.ts"
import { startInstance } from "../kit.ts"

setDefaultTimeout(20_000)

const WEBSITE = "0f8fad5b-d9cb-469f-a165-70867728950e"

/** The real product on an origin of its own, and a shop's pages that call it the way other products document for their scripts. */
async function openShop() {
  const instance = await startInstance()
  await instance.app.instance.sites.configure(1, { compat_ids: { umami: [WEBSITE], goatcounter: ["shop"] } })
  const own = { ...LISTENING, port: 0, hostname: "127.0.0.1" }
  const product = Bun.serve({ ...own, fetch: (request, server) => instance.app.fetch(request, server) })
  let head = ""
  const pages = Bun.serve({
    ...own,
    fetch: () => new Response(`<!doctype html><title>Shop</title>${head}<body></body>`, { headers: { "content-type": "text/html" } }),
  })
  return {
    stats: `http://stats.example:${product.port}`,
    async open(path: string, markup = ""): Promise<Page> {
      head = markup
      const page = await (await openVisitor()).newPage()
      await page.goto(`http://shop.example:${pages.port}${path}`)
      return page
    },
    async rows(dimension: string): Promise<unknown> {
      const path = `/api/public/v1/sites/1/stats/breakdown?period=all&dimension=${dimension}&metrics=events`
      const { body } = await instance.api.get(path, instance.statsKey)
      return (body as { rows: { value: string; events: number }[] }).rows.map(({ value, events }) => `${value} ${events}`).sort()
    },
    async [Symbol.asyncDispose]() {
      await pages.stop(true)
      await product.stop(true)
      await instance[Symbol.asyncDispose]()
    },
  }
}

test.skipIf(noBrowser)("Umami's requests pass the browser's preflight, and the response can be read", async () => {
  await using shop = await openShop()
  const page = await shop.open("/shoes?utm_source=news")
  const answers = await page.evaluate(
    async ({ stats, website }) => {
      const results: unknown[] = []
      let cache: string | undefined
      const payload = {
        website,
        screen: `${screen.width}x${screen.height}`,
        language: navigator.language,
        title: document.title,
        hostname: location.hostname,
        url: location.href,
        referrer: document.referrer,
      }
      for (const more of [{}, { name: "signup", data: { plan: "pro" } }]) {
        const answer = await fetch(`${stats}/api/send`, {
          keepalive: true,
          method: "POST",
          body: JSON.stringify({ type: "event", payload: { ...payload, ...more } }),
          headers: {
            "Content-Type": "application/json",
            "x-umami-website-id": website,
            "x-umami-hostname": location.hostname,
            ...(cache !== undefined && { "x-umami-cache": cache }),
          },
          credentials: "omit",
        })
        const body = await answer.json()
        cache = body.cache
        results.push([answer.status, body.cache, body.disabled])
      }
      return results
    },
    { stats: shop.stats, website: WEBSITE },
  )
  expect(answers).toEqual([
    [200, "footfall", undefined],
    [200, "footfall", undefined],
  ])
  expect(await shop.rows("page")).toEqual(["/shoes 2"])
  expect(await shop.rows("event")).toEqual(["signup 1"])
  expect(await shop.rows("utm_source")).toEqual(["news 2"])
})

test.skipIf(noBrowser)("counts by image and by beacon, as GoatCounter's script and documentation do", async () => {
  await using shop = await openShop()
  const page = await shop.open("/a")
  const loaded = await page.evaluate(async (stats) => {
    const fields = (path: string) => new URLSearchParams({ p: path, t: document.title, s: "1000,600,1", b: "0", rnd: "abcde" })
    const image = document.createElement("img")
    const seen = new Promise((resolve) => {
      image.onload = () => resolve("loaded")
      image.onerror = () => resolve("failed")
    })
    image.src = `${stats}/count?${fields("/picture")}`
    document.body.append(image)
    return [await seen, navigator.sendBeacon(`${stats}/count?${fields("/beacon")}`)]
  }, shop.stats)
  expect(loaded).toEqual(["loaded", true])
  for (let tries = 0; tries < 100 && ((await shop.rows("page")) as unknown[]).length < 2; tries++) await Bun.sleep(20)
  expect(await shop.rows("page")).toEqual(["/beacon 1", "/picture 1"])
})

test.skipIf(noBrowser)("GoatCounter's snippet counts in the product after changing two URLs", async () => {
  await using shop = await openShop()
  const snippet = `<script data-goatcounter="${shop.stats}/count?site=shop" async src="${shop.stats}/count.js"></script>`
  const page = await shop.open("/shoes?utm_source=news", snippet)
  await page.waitForFunction(() => window.goatcounter?.count)
  await page.evaluate(() => window.goatcounter?.count({ event: true, path: "buy" }))
  for (let tries = 0; tries < 100 && ((await shop.rows("event")) as unknown[]).length < 1; tries++) await Bun.sleep(20)
  expect([await shop.rows("page"), await shop.rows("event"), await shop.rows("source")]).toEqual([["/shoes 2"], ["buy 1"], ["news 2"]])
})

test.skipIf(noBrowser)("Umami's snippet counts in the product after changing one URL", async () => {
  await using shop = await openShop()
  const page = await shop.open(
    "/shoes?utm_source=news",
    `<script defer src="${shop.stats}/script.js" data-website-id="${WEBSITE}"></script>`,
  )
  await page.waitForFunction(() => window.umami?.track)
  await page.evaluate(() => window.umami?.track("signup", { plan: "pro" }))
  for (let tries = 0; tries < 100 && ((await shop.rows("event")) as unknown[]).length < 1; tries++) await Bun.sleep(20)
  expect([await shop.rows("page"), await shop.rows("event"), await shop.rows("source")]).toEqual([["/shoes 2"], ["signup 1"], ["news 2"]])
})
