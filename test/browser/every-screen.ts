import { afterAll, beforeAll, describe, expect, test } from "bun:test"
import type { Browser } from "playwright-core"
import { noBrowser, openBrowser } from "./browser.ts"
import { openScreens, overflow, SCREENS, type ScreenStand, violations } from "./screens.ts"

/** What holds for every screen in one theme at one width; a file for each pair, so that they run beside one another. */
export function everyScreen({ theme, width }: { theme: "light" | "dark"; width: number }): void {
  describe.skipIf(noBrowser)(`in ${theme} at ${width} px`, () => {
    let browser: Browser
    let stand: ScreenStand
    beforeAll(async () => {
      browser = await openBrowser()
      stand = await openScreens(browser)
    }, 60_000)
    afterAll(async () => {
      await stand?.[Symbol.asyncDispose]()
      await browser?.close()
    })

    test.each(SCREENS.map((screen) => [screen.name, screen] as const))(
      "%s: no violation, nothing beside the window, no fault, nothing from elsewhere, no text that runs",
      async (_, screen) => {
        await using watched = await stand.show(screen, { theme, width })
        const { page, faults, refusals } = watched
        expect(await violations(page)).toEqual([])
        expect(await overflow(page)).toBe(0)
        expect(refusals.filter((one) => !screen.refused?.includes(Number(one.slice(0, 3))))).toEqual([])
        // A refusal that belongs to the screen is told by the console too.
        expect(faults.filter((one) => !(screen.refused && one.includes("Failed to load resource")))).toEqual([])
        expect(await page.evaluate(() => "__hit" in window)).toBe(false)
        if (width > 320 && width < 768) {
          await page.setViewportSize({ width: 320, height: 640 })
          expect(await overflow(page)).toBe(0)
        }
      },
      60_000,
    )
  })
}
