import type { Page, Request } from "playwright-core"

/**
 * From now on knows what the page asks. The function it gives waits until all of that is answered and drawn: faster than a
 * network that has been idle for half a second. Streams are never done, and do not count.
 */
export function watchAsked(page: Page): () => Promise<void> {
  const open = new Set<Request>()
  const done = (request: Request) => void open.delete(request)
  page.on("request", (request) => {
    if (request.resourceType() !== "eventsource") open.add(request)
  })
  page.on("requestfinished", done)
  page.on("requestfailed", done)
  return async () => {
    for (let quiet = 0; quiet < 2; ) {
      // A request that is answered leads to the next one within two frames: a chunk to its first question.
      await page.evaluate(() => new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve, 20))))
      quiet = open.size === 0 && (await page.locator("h1, dialog").count()) > 0 ? quiet + 1 : 0
    }
    await page.waitForFunction(() => !document.querySelector(".skeleton, .progress-line, [aria-busy=true]"))
  }
}
