import { expect, setDefaultTimeout, test } from "bun:test"
import type { CDPSession, Page } from "playwright-core"
import { type Serving, serving } from "../../cli/footfall.ts"
import { send } from "../../cli/load.ts"
import { BROWSER, temporaryFolder } from "../../kit.ts"
import { bySize } from "../../size.ts"
import { noBrowser, openContext } from "../browser.ts"

/** Duration for which the realtime page stays open. */
const SECONDS = bySize({ check: 5, full: 10, release: 3600 })
const PER_SECOND = 200
const MEASUREMENTS = 6
/** Allowed growth in the second half, after everything was drawn once: one megabyte in ten minutes, plus the noise of a short run. */
const MOST_GROWTH = 1e6 * (SECONDS / 2 / 600) + 5e5
setDefaultTimeout(90_000 + SECONDS * 2_000)

const ADA = { name: "Ada Byron", email: "ada@example.org", password: "correct horse battery staple", organization: "Engines" }
const SITE = { name: "Shop", hosts: ["shop.example"], timezone: "UTC" }

/** Opens realtime on a new instance. */
async function watcher(server: Serving): Promise<Page> {
  const page = await (await openContext({ locale: "en-GB" })).newPage()
  page.setDefaultTimeout(30_000)
  const { setup } = server.printed as { setup: { token: string } }
  const data = { token: setup.token, ...ADA, site: SITE }
  const answer = await page.request.post(`${server.address}/api/private/setup`, { headers: { origin: server.address }, data })
  expect(answer.status()).toBe(201)
  await page.goto(`${server.address}/sites/1/realtime`)
  return page
}

/** Sends two hundred events a second, in twenty batches, until `end`, which returns the number of accepted events. */
function load(address: string): { end(): Promise<number> } {
  let isOver = false
  let taken = 0
  const run = (async () => {
    const begun = performance.now()
    for (let portion = 0; !isOver; portion++) {
      const answers = Array.from({ length: PER_SECOND / 20 }, (_, visitor) => sendView(address, portion * 10 + visitor))
      for (const answer of await Promise.all(answers)) if (answer === 202) taken += 1
      await Bun.sleep(Math.max(0, begun + (portion + 1) * 50 - performance.now()))
    }
  })()
  return {
    async end() {
      isOver = true
      await run
      return taken
    },
  }
}

/** Sends a pageview of one of 250 visitors on one of 700 pages: more than any list shows, and fewer than the store keeps apart. */
async function sendView(address: string, number: number): Promise<number> {
  const headers = { "user-agent": BROWSER, "content-type": "text/plain", "x-forwarded-for": `198.18.0.${number % 250}` }
  const body = JSON.stringify({ n: "pageview", u: `https://shop.example/page-${number % 700}` })
  const response = await fetch(`${address}/api/event`, { method: "POST", headers, body })
  await response.arrayBuffer()
  return response.status
}

/** Returns the bytes of live objects in the page. */
async function heapOf(devtools: CDPSession): Promise<number> {
  await devtools.send("HeapProfiler.collectGarbage")
  const { metrics } = await devtools.send("Performance.getMetrics")
  return metrics.find(({ name }) => name === "JSHeapUsedSize")!.value
}

test.skipIf(noBrowser)(
  `${SECONDS} s of realtime at ${PER_SECOND} events a second: the heap stays, and the line comes back after a restart`,
  async () => {
    using folder = temporaryFolder()
    const flags = ["--limit-visitor-events", "0", "--limit-site-events", "0"]
    await using first = await serving(folder.path, ...flags)
    const page = await watcher(first)
    const devtools = await page.context().newCDPSession(page)
    await devtools.send("Performance.enable")
    const events = load(first.address)
    await page.locator("main .now-figure").waitFor()
    await page.waitForFunction(() => document.querySelectorAll("main tbody tr").length >= 50)
    const heap = [await heapOf(devtools)]
    while (heap.length <= MEASUREMENTS) {
      await Bun.sleep((SECONDS * 1_000) / MEASUREMENTS)
      heap.push(await heapOf(devtools))
    }
    const taken = await events.end()
    console.log(`heap in MB: ${heap.map((bytes) => (bytes / 1e6).toFixed(2)).join(" ")}; ${taken} events taken`)
    expect(taken).toBeGreaterThan((SECONDS * PER_SECOND) / 4)
    expect(heap.at(-1)! - heap[MEASUREMENTS / 2]!).toBeLessThan(MOST_GROWTH)
    // The list keeps its length regardless of the number of events.
    expect(await page.locator("main tbody tr").count()).toBeLessThan(100)

    expect(await first.end("SIGTERM")).toBe(0)
    await page.getByText("Live connection lost.").waitFor()
    await using _again = await serving(folder.path, ...flags, "--port", new URL(first.address).port)
    const begun = performance.now()
    await page.getByText("Live connection lost.").waitFor({ state: "detached" })
    // The target is five seconds, but a busy machine may take longer.
    expect(performance.now() - begun).toBeLessThan(15_000)
    expect(await send(first.address, "/page-after-the-restart", 1)).toBe(202)
    await page.getByRole("cell", { name: "/page-after-the-restart" }).first().waitFor()
  },
)
