import { expect, test } from "bun:test"
import { noBrowser, openContext } from "./browser.ts"
import { violations } from "./screens/screens.ts"

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

test.skipIf(noBrowser)("the check of accessibility names each broken rule with its elements", async () => {
  const page = await (await openContext()).newPage()
  const pale = '<p style="color: #bbb">Pale</p>'
  await page.setContent(`<html lang="en"><title>Faults</title><main><h1>Faults</h1><img src="data:,">${pale}</main></html>`)
  expect(await violations(page)).toEqual([`color-contrast: ${pale}`, 'image-alt: <img src="data:,">'])
  expect(await violations(page, { onlyColours: true })).toEqual([`color-contrast: ${pale}`])
})
