import { afterAll, beforeAll, describe, expect, test } from "bun:test"

import { noBrowser } from "../browser.ts"
import { openScreens, overflow, type Screen, type ScreenStand, type Themes, violationsInThemes } from "./screens.ts"

interface ScreenChecks {
  width: number
  themes: Themes
  screens: readonly Screen[]
}

/** Checks what must hold for every screen at one width. */
export function everyScreen({ width, themes, screens }: ScreenChecks): void {
  describe.skipIf(noBrowser)(`at ${width} px, in ${themes.join(" and in ")}`, () => {
    let stand: ScreenStand
    beforeAll(async () => {
      stand = await openScreens()
    }, 60_000)
    afterAll(() => stand?.[Symbol.asyncDispose]())

    test.each(screens.map((screen) => [screen.name, screen] as const))(
      "%s: no accessibility violation, overflow, fault, request to another origin or executed text",
      async (_, screen) => {
        await using watched = await stand.show(screen, { theme: themes[0], width })
        const { page, faults, refusals } = watched
        expect(await overflow(page)).toBe(0)
        expect(await violationsInThemes(page, themes)).toEqual({ light: [], dark: [] })
        expect(await overflow(page)).toBe(0)
        expect(refusals.filter((one) => !screen.refused?.includes(Number(one.slice(0, 3))))).toEqual([])
        // The console also logs an expected rejection.
        expect(faults.filter((one) => !(screen.refused && one.includes("Failed to load resource")))).toEqual([])
        expect(await page.evaluate(() => "__hit" in window)).toBe(false)
        for (const beside of width < 768 ? [320] : [768, 900, 1920]) {
          await page.setViewportSize({ width: beside, height: 900 })
          expect({ width: beside, overflow: await overflow(page) }).toEqual({ width: beside, overflow: 0 })
        }
      },
      60_000,
    )
  })
}
