import { afterAll, beforeAll, expect, test } from "bun:test"

import type { AnyPlugin } from "../../../src/plugin/contract.ts"
import { noBrowser } from "../browser.ts"
import { HOSTILE } from "../report/dashboard-data.ts"
import { type DashboardStand, openDashboard } from "../report/dashboard-stand.ts"
import { overflow, type Themes, violationsInThemes } from "./screens.ts"

interface PluginScreens {
  plugin: AnyPlugin
  paths: readonly string[]
  /** Settings by key, as on the command line. */
  settings?: Record<string, string>
  /**
   * Fills the plugin's tables, with attacks (`HOSTILE`) in all user and visitor input. The first attack shows on each page.
   * Returns the paths of further pages, which are known only then.
   */
  fill(instance: DashboardStand["instance"], cookie: string): Promise<void> | Promise<readonly string[]>
}

/** Applies the checks of every screen to those of a plugin, in both themes and at both widths. */
export function pluginScreens({ plugin, paths: known, settings = {}, fill }: PluginScreens): void {
  let stand: DashboardStand
  let cookie: string
  let paths = known
  beforeAll(async () => {
    if (noBrowser) return
    stand = await openDashboard({ plugins: [plugin], settings })
    cookie = await stand.signIn({ role: "owner" })
    paths = [...known, ...((await fill(stand.instance, cookie)) ?? [])]
  }, 60_000)
  afterAll(() => stand?.[Symbol.asyncDispose]())

  test.skipIf(noBrowser).each<[number, Themes]>([
    [1280, ["light", "dark"]],
    [375, ["dark", "light"]],
  ])(
    "%i px: no accessibility violation, overflow or fault, and input appears as text",
    async (width, themes) => {
      await using looked = await stand.look({ cookie, width, theme: themes[0] })
      const { page } = looked
      for (const path of paths) {
        await looked.open(path)
        const found = await violationsInThemes(page, themes)
        expect({ path, found, beside: await overflow(page) }).toEqual({ path, found: { light: [], dark: [] }, beside: 0 })
        const text = (await page.locator("main").textContent()) ?? ""
        const become = await page.locator("img[src=x], [href^='javascript:'], [onerror]").count()
        const ran = await page.evaluate(() => "__hit" in window)
        const seen = { path, attack: text.includes(HOSTILE[0]!), turned: text.includes("\u202e"), become, ran }
        expect(seen).toEqual({ path, attack: true, turned: false, become: 0, ran: false })
      }
      expect(looked.faults).toEqual([])
      expect(looked.refusals).toEqual([])
    },
    60_000,
  )
}
