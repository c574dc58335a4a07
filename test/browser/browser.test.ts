import { expect, test } from "bun:test"
import { noBrowser, openContext } from "./browser.ts"

test.skipIf(noBrowser)(
  "a browser that crashed is replaced at the next context",
  async () => {
    const browser = (await openContext()).browser()!
    const ended = new Promise((resolve) => browser.once("disconnected", resolve))
    const session = await browser.newBrowserCDPSession()
    await session.send("Browser.crash").catch(() => {}) // its connection ends before the answer
    await ended
    const page = await (await openContext()).newPage()
    expect(await page.evaluate(() => document.readyState)).toBe("complete")
  },
  60_000,
)
