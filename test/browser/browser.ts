import { afterAll, beforeAll } from "bun:test"
import { existsSync } from "node:fs"
import { type Browser, type BrowserContext, chromium } from "playwright-core"
import { BROWSER } from "../kit.ts"

/** The headless shell is preferred: it has no window, tabs or menus, and needs three quarters of the processor time. */
const [CHROMIUM] = [process.env.FOOTFALL_CHROMIUM, "/usr/bin/chromium-headless-shell", "/usr/bin/chromium"].filter(
  (path) => path !== undefined && existsSync(path),
)
/**
 * Features that playwright disables for tests, because this flag replaces its list, and the suggestion pages that each window keeps
 * under its address bar, which take a third of the browser's work.
 */
const FEATURES_OFF = [
  ...["AvoidUnnecessaryBeforeUnloadCheckSync", "DestroyProfileOnBrowserClose", "HttpsUpgrades", "HttpsFirstBalancedModeAutoEnable"],
  ...["PaintHolding", "ThirdPartyStoragePartitioning", "AvoidCorsURLLoaderRestartOnRedirect", "MediaRouter", "LensOverlay"],
  ...["OptimizationHints", "NetworkTimeServiceQuerying", "AimEnabled", "PreconnectToSearch"],
  ...["WebUIOmniboxPopup", "WebUIOmniboxAimPopup", "WebUIOmniboxFullPopup"],
]

/** For `test.skipIf(noBrowser)`. Without Chromium the tests are skipped and counted as skipped. */
export const noBrowser = CHROMIUM === undefined

export const openBrowser = (): Promise<Browser> =>
  chromium.launch({
    executablePath: CHROMIUM!, // a test that needs it is skipped without one
    args: [
      "--headless",
      "--no-sandbox",
      "--disable-gpu",
      "--disable-quic",
      "--no-first-run",
      "--disable-background-networking",
      "--disable-component-update",
      "--disable-sync",
      `--disable-features=${FEATURES_OFF.join(",")}`,
      // For the whole process, because requests that a page sends while it unloads lack the user agent of its context.
      `--user-agent=${BROWSER}`,
      // Maps every host name to this machine, so that pages can have hosts that a site lists.
      "--host-resolver-rules=MAP * 127.0.0.1",
    ],
  })

/** Opens a browser before the tests of a file and closes it after them. Returns a function, because it is not open yet. */
export function testBrowser(): () => Browser {
  let browser: Browser | undefined
  beforeAll(async () => {
    if (!noBrowser) browser = await openBrowser()
  }, 30_000)
  afterAll(async () => {
    await browser?.close()
  })
  return () => browser! // tests that need it are skipped without one
}

/** Opens a visitor with separate storage and a user agent that is not a bot's. `automated` keeps `navigator.webdriver`. */
export async function openVisitor(browser: Browser, { automated = false } = {}): Promise<BrowserContext> {
  const context = await browser.newContext({ viewport: { width: 1000, height: 600 }, timezoneId: "Europe/Berlin" })
  if (!automated) await context.addInitScript(() => Object.defineProperty(Navigator.prototype, "webdriver", { get: () => false }))
  return context
}
