import type { Page, Request } from "playwright-core"

/**
 * Tracks the requests of a page. The returned function waits until all of them are answered and drawn, which is faster than
 * waiting until the network has been idle for half a second. Event streams never end and are ignored.
 */
export function trackRequests(page: Page): () => Promise<void> {
  const open = new Set<Request>()
  const done = (request: Request) => void open.delete(request)
  page.on("request", (request) => {
    if (request.resourceType() !== "eventsource") open.add(request)
  })
  page.on("requestfinished", done)
  page.on("requestfailed", done)
  return async () => {
    for (let quiet = 0; quiet < 2; ) {
      // An answer leads to the next request within two frames, such as a chunk to its first query.
      await page.evaluate(() => new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve, 20))))
      quiet = open.size === 0 && (await page.locator("h1, dialog").count()) > 0 ? quiet + 1 : 0
    }
    await page.waitForFunction(() => !document.querySelector(".skeleton, .progress-line, [aria-busy=true]"))
  }
}
