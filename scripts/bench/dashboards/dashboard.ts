/**
 * The dashboard in a real browser, with 28 days of a million events: the first load on a slow machine with a slow connection, then
 * clicks on a row on a fast one.
 */
import { type BrowserContext, chromium, type Page } from "playwright-core"
import { FROM_SOURCE, prepareUser, serveFootfall, USER } from "../../instance.ts"
import { fillDataDir } from "../server/memory.ts"
import type { DataOptions } from "../stores/data.ts"
import { count, ms, table } from "../table.ts"
import { quantile } from "../timing.ts"
import { chooseRow, readVitals, settle, type Vitals, watchVitals } from "./page.ts"

const VIEWS = 9
const CLICKS = 40
/** An older phone on a train. */
const SLOWED = 4
const LINE = { offline: false, downloadThroughput: 1_600_000 / 8, uploadThroughput: 750_000 / 8, latency: 150 }
const PATH = "/sites/1?period=28d"

export async function measureDashboard(options: DataOptions): Promise<void> {
  await using filled = await fillDataDir(FROM_SOURCE, options, prepareUser)
  await using server = await serveFootfall({ dataDir: filled.dataDir, flags: ["--private-rate", "100000"] })
  const browser = await chromium.launch({ executablePath: "/usr/bin/chromium", args: ["--headless", "--no-sandbox", "--disable-gpu"] })
  try {
    const open = () => signedIn(() => browser.newContext({ viewport: { width: 1280, height: 900 } }), server.address)
    const cold: Vitals[] = []
    const warm: Vitals[] = []
    for (let view = 0; view < VIEWS; view++) {
      const context = await open()
      cold.push(await slowView(context, server.address))
      warm.push(await slowView(context, server.address))
      await context.close()
    }
    const clicks = await timeClicks(await open(), server.address)
    print(options.events, { cold, warm, clicks })
  } finally {
    await browser.close()
  }
}

async function signedIn(make: () => Promise<BrowserContext>, address: string): Promise<BrowserContext> {
  const context = await make()
  const answer = await context.request.post(`${address}/api/private/auth/login`, { data: USER })
  if (!answer.ok()) throw new Error(`Signing in was answered with ${answer.status()}: ${await answer.text()}`)
  return context
}

async function slowView(context: BrowserContext, address: string): Promise<Vitals> {
  const page = await context.newPage()
  const line = await context.newCDPSession(page)
  await line.send("Network.enable")
  await line.send("Network.emulateNetworkConditions", LINE)
  await line.send("Emulation.setCPUThrottlingRate", { rate: SLOWED })
  await page.addInitScript(watchVitals)
  await page.goto(address + PATH)
  await settle(page)
  const vitals = await page.evaluate(readVitals)
  await page.close()
  return vitals
}

/** Measures the time from a click on a row until no card is loading. Rows are selected and deselected in turn. */
async function timeClicks(context: BrowserContext, address: string): Promise<number[]> {
  const page: Page = await context.newPage()
  await page.goto(address + PATH)
  await settle(page)
  const rows = await page.locator("table.ranked a.ranked-link").count()
  if (rows === 0) throw new Error("The dashboard shows no row that could be clicked")
  const times: number[] = []
  for (let click = 0; click < CLICKS; click++) times.push(await page.evaluate(chooseRow, click >> 1))
  return times
}

function print(events: number, { cold, warm, clicks }: { cold: Vitals[]; warm: Vitals[]; clicks: number[] }): void {
  const middle = (views: Vitals[], of: (vitals: Vitals) => number) => quantile(views.map(of), 0.5)
  const worst = (views: Vitals[], of: (vitals: Vitals) => number) => quantile(views.map(of), 1)
  const row = (name: string, views: Vitals[], of: (vitals: Vitals) => number, shown: (value: number) => string) => [
    name,
    shown(middle(views, of)),
    shown(worst(views, of)),
  ]
  const shift = (value: number) => value.toFixed(4)
  console.log(`\n### The dashboard over 28 days of ${count(events)} events\n`)
  console.log(`${VIEWS} views, the processor slowed ${SLOWED} times, 1.6 Mbit/s, 150 ms; ${CLICKS} clicks on rows at full speed.\n`)
  console.log(
    table(
      ["What", "Median", "Worst"],
      [
        row("largest paint, first visit, ms", cold, ({ largestPaint }) => largestPaint, ms),
        row("largest paint, later visits, ms", warm, ({ largestPaint }) => largestPaint, ms),
        row("layout shift", [...cold, ...warm], ({ shift }) => shift, shift),
        row("blocked, first visit, ms", cold, ({ blocked }) => blocked, ms),
        ["click on a row until all cards are new, ms", ms(quantile(clicks, 0.5)), `${ms(quantile(clicks, 0.95))} (p95)`],
      ],
    ),
  )
}
