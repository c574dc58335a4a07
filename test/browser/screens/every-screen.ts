import { afterAll, beforeAll, describe, expect, test } from "bun:test"

import { noBrowser } from "../browser.ts"
import { heightFor, type WatchedPage } from "../report/dashboard-stand.ts"
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

    const opened = new Map<string, WatchedPage>()
    /** Opens a screen in the page of a user or of a guest. In a page of its own, loading it would take twice as long. */
    async function show(screen: Screen): Promise<WatchedPage> {
      const kind = screen.guest ? "guest" : "user"
      const watched = opened.get(kind) ?? (await stand.look({ theme: themes[0], width, ...(!screen.guest && { cookie: stand.cookie }) }))
      const { page, faults, refusals } = watched
      if (opened.has(kind)) {
        await page.evaluate(() => localStorage.clear())
        await page.setViewportSize({ width, height: heightFor(width) })
        await page.emulateMedia({ colorScheme: themes[0], reducedMotion: null })
        for (const list of [faults, refusals]) list.length = 0
      }
      opened.set(kind, watched)
      await watched.open(screen.path)
      await screen.after?.(page)
      return watched
    }

    test.each(screens.map((screen) => [screen.name, screen] as const))(
      "%s: no accessibility violation, overflow, fault, request to another origin or executed text",
      async (_, screen) => {
        const { page, faults, refusals } = await show(screen)
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
