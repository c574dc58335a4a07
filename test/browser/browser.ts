import { existsSync } from "node:fs"
import { type Browser, type BrowserContext, type BrowserContextOptions, chromium } from "playwright-core"
import { BROWSER } from "../kit.ts"
import { atEndOfFile } from "../setup.ts"

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

/** The browser of this process. All files use it, because contexts share nothing that a page could see. */
let launched: Promise<Browser> | undefined

/** Whether the browser stays open for the next file. `scripts/ci.ts` sets it, and removes the files of the browser at the end. */
const STAYS = process.env.FOOTFALL_TEST_BROWSER_STAYS !== undefined

/** Opens a context, with storage of its own. What a file leaves open is closed at its end. */
export async function openContext(options: BrowserContextOptions = {}): Promise<BrowserContext> {
  launched ??= launch()
  return (await launched).newContext(options)
}

/** Opens a visitor with separate storage and a user agent that is not a bot's. `automated` keeps `navigator.webdriver`. */
export async function openVisitor({ automated = false } = {}): Promise<BrowserContext> {
  const context = await openContext({ viewport: { width: 1000, height: 600 }, timezoneId: "Europe/Berlin" })
  if (!automated) await context.addInitScript(() => Object.defineProperty(Navigator.prototype, "webdriver", { get: () => false }))
  return context
}

/** Launches the browser. If it does not start or ends, the next context launches another one. */
async function launch(): Promise<Browser> {
  const forget = () => {
    launched = undefined
  }
  try {
    const browser = await launchChromium()
    browser.on("disconnected", forget)
    return browser
  } catch (error) {
    forget()
    throw error
  }
}

/** How long contexts may take to close before the browser is closed. */
const CLOSE_MS = 10_000

atEndOfFile(async () => {
  const browser = await launched
  const closed = Promise.all(browser?.contexts().map((context) => context.close()) ?? [])
  const isClean = await Promise.race([closed.then(() => true).catch(() => false), Bun.sleep(CLOSE_MS).then(() => false)])
  if (!isClean || !STAYS) await browser?.close()
})

const launchChromium = (): Promise<Browser> =>
  chromium.launch({
    executablePath: CHROMIUM!, // a test that needs it is skipped without one
    args: [
      "--headless",
      "--no-sandbox",
      "--disable-gpu",
      // Pictures are drawn by the processor anyway. One process less saves a tenth of the work.
      "--in-process-gpu",
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
