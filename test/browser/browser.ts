import { existsSync } from "node:fs"
import { type Browser, type BrowserContext, chromium } from "playwright-core"
import { BROWSER } from "../kit.ts"

const CHROMIUM = process.env.FOOTFALL_CHROMIUM ?? "/usr/bin/chromium"
/**
 * What playwright switches off for tests, because its list is replaced; and the pages of suggestions that each window keeps under
 * its address bar: a third of the browser's work.
 */
const FEATURES_OFF = [
  ...["AvoidUnnecessaryBeforeUnloadCheckSync", "DestroyProfileOnBrowserClose", "HttpsUpgrades", "HttpsFirstBalancedModeAutoEnable"],
  ...["PaintHolding", "ThirdPartyStoragePartitioning", "AvoidCorsURLLoaderRestartOnRedirect", "MediaRouter", "LensOverlay"],
  ...["OptimizationHints", "NetworkTimeServiceQuerying", "AimEnabled", "PreconnectToSearch"],
  ...["WebUIOmniboxPopup", "WebUIOmniboxAimPopup", "WebUIOmniboxFullPopup"],
]

/** `test.skipIf(noBrowser)`: a machine without Chromium skips, and the count says so. */
export const noBrowser = !existsSync(CHROMIUM)

export const openBrowser = (): Promise<Browser> =>
  chromium.launch({
    executablePath: CHROMIUM,
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
      // Of the process: what a page sends while it goes has not the user agent of its context.
      `--user-agent=${BROWSER}`,
      // Every host name is this machine, so that pages have names a site can list.
      "--host-resolver-rules=MAP * 127.0.0.1",
    ],
  })

/** A visitor: storage of its own, a user agent that is no bot's, and not `webdriver` unless that is the question. */
export async function openVisitor(browser: Browser, { automated = false } = {}): Promise<BrowserContext> {
  const context = await browser.newContext({ viewport: { width: 1000, height: 600 }, timezoneId: "Europe/Berlin" })
  if (!automated) await context.addInitScript(() => Object.defineProperty(Navigator.prototype, "webdriver", { get: () => false }))
  return context
}
