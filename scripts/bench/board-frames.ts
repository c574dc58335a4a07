/**
 * A dashboard of 30 widgets in a real browser: from the answer to the first figures, and frames while it is scrolled and while a widget is
 * dragged. Frames are those of Chromium's trace, which has one entry for each frame that was shown.
 */
import { type CDPSession, chromium } from "playwright-core"
import { FROM_SOURCE, prepareUser, serveFootfall, USER } from "../instance.ts"
import { settle } from "./dashboard-page.ts"
import { member, TILES } from "./dashboards.ts"
import type { DataOptions } from "./data.ts"
import { fillDataDir } from "./memory.ts"
import { count, ms, table } from "./table.ts"
import { quantile } from "./timing.ts"

const VIEWS = 5
/** Distance that is scrolled, in pixels, and its speed in pixels per second. */
const SCROLL = { distance: 4_000, speed: 1_600 }
const DRAG_STEPS = 120

export async function measureBoardFrames(options: DataOptions): Promise<void> {
  await using filled = await fillDataDir(FROM_SOURCE, options, prepareUser)
  await using server = await serveFootfall({ dataDir: filled.dataDir, flags: ["--private-rate", "100000"] })
  const ask = await member(server.address, filled.site.siteId)
  const widgets = TILES.map((tile, i) => ({ ...tile, x: (i % 3) * 4, y: Math.floor(i / 3) * 4, w: 4, h: 4 }))
  const { id } = await ask("POST", "/dashboards", { name: "Wall", range: { period: "28d" }, widgets })
  const path = `${server.address}/sites/1/dashboards/${id}`
  const browser = await chromium.launch({ executablePath: "/usr/bin/chromium", args: ["--headless", "--no-sandbox", "--disable-gpu"] })
  try {
    const context = await browser.newContext({ viewport: { width: 1280, height: 900 } })
    const login = await context.request.post(`${server.address}/api/private/auth/login`, { data: USER })
    if (!login.ok()) throw new Error(`Signing in was answered with ${login.status()}`)
    const page = await context.newPage()
    await page.addInitScript(watchFirstFigures)
    const first: number[] = []
    for (let view = 0; view < VIEWS; view++) {
      await page.goto(path)
      await settle(page)
      first.push(Number(await (await page.waitForFunction(untilFirstFigures)).jsonValue()))
    }
    const trace = await context.newCDPSession(page)
    const scrolled = await framesDuring(trace, () => scroll(trace))
    const plain = await context.newPage()
    await plain.setContent('<body style="height: 6000px; background: linear-gradient(white, grey)">')
    const plainTrace = await context.newCDPSession(plain)
    const bare = await framesDuring(plainTrace, () => scroll(plainTrace))
    await plain.close()
    await page.goto(`${path}/edit`)
    await page.waitForSelector(".tile-grip")
    await settle(page)
    const dragged = await framesDuring(trace, () => page.evaluate(dragFirst, DRAG_STEPS))
    print(options.events, first, { scrolled, dragged, bare })
  } finally {
    await browser.close()
  }
}

const scroll = (trace: CDPSession) =>
  trace.send("Input.synthesizeScrollGesture", { x: 640, y: 500, yDistance: -SCROLL.distance, speed: SCROLL.speed })

/** Drags the first widget in the browser, with one event per frame. */
async function dragFirst(steps: number): Promise<void> {
  const head = document.querySelector<HTMLElement>(".tile-grip")!
  const { x, y } = head.getBoundingClientRect()
  const at = (type: string, dx: number, dy: number) =>
    new PointerEvent(type, { bubbles: true, button: 0, clientX: x + 8 + dx, clientY: y + 8 + dy })
  head.dispatchEvent(at("pointerdown", 0, 0))
  for (let step = 1; step <= steps; step++) {
    await new Promise(requestAnimationFrame)
    window.dispatchEvent(at("pointermove", step * 5, Math.abs(((step * 4) % 480) - 240)))
  }
  window.dispatchEvent(at("pointerup", steps * 5, 0))
}

/** Frames a second, and the longest time without one in milliseconds. */
interface Frames {
  rate: number
  longest: number
}

async function framesDuring(trace: CDPSession, work: () => Promise<unknown>): Promise<Frames> {
  const shown: number[] = []
  const collect = ({ value }: { value: { name?: string; ts?: number }[] }) => {
    for (const { name, ts } of value) if (name === "DrawFrame" && ts !== undefined) shown.push(ts / 1_000)
  }
  trace.on("Tracing.dataCollected", collect as Parameters<typeof trace.on<"Tracing.dataCollected">>[1])
  await trace.send("Tracing.start", {
    categories: "disabled-by-default-devtools.timeline.frame,devtools.timeline.frame",
    transferMode: "ReportEvents",
  })
  await work()
  const complete = new Promise<void>((resolve) => trace.once("Tracing.tracingComplete", () => resolve()))
  await trace.send("Tracing.end")
  await complete
  trace.off("Tracing.dataCollected", collect as Parameters<typeof trace.on<"Tracing.dataCollected">>[1])
  const times = shown.sort((a, b) => a - b)
  const gaps = times.slice(1).map((at, i) => at - times[i]!)
  return { rate: (gaps.length * 1_000) / (times.at(-1)! - times[0]!), longest: Math.max(...gaps) }
}

/** Runs before the page's own scripts, in the browser: notes when the first widget with figures is painted. */
function watchFirstFigures(): void {
  const watch = new MutationObserver(() => {
    if (!document.querySelector(".tile-body > :not(.skeleton, .state)")) return
    watch.disconnect()
    requestAnimationFrame(() => requestAnimationFrame(() => Object.assign(globalThis, { firstFigures: performance.now() })))
  })
  watch.observe(document, { childList: true, subtree: true })
}

/** Returns the milliseconds from the first byte of the answer to the first figures on the screen, once both are known. */
function untilFirstFigures(): number | undefined {
  const answer = performance.getEntriesByType("resource").find(({ name }) => name.endsWith("/data")) as
    | PerformanceResourceTiming
    | undefined
  const { firstFigures } = globalThis as unknown as { firstFigures?: number }
  return answer && firstFigures !== undefined ? firstFigures - answer.responseStart : undefined
}

function print(
  events: number,
  first: readonly number[],
  { scrolled, dragged, bare }: Record<"scrolled" | "dragged" | "bare", Frames>,
): void {
  console.log(`\n### A dashboard of 30 widgets in the browser, ${count(events)} events\n`)
  const rows = [
    ["first figures after the answer, ms", ms(quantile(first, 0.5)), `${ms(quantile(first, 1))} at worst`, "300"],
    ["frames a second while scrolling", ms(scrolled.rate), `${ms(scrolled.longest)} ms at most between two`, "50"],
    ["the same on a page without content", ms(bare.rate), `${ms(bare.longest)} ms at most between two`, "all that a busy machine allows"],
    ["frames a second while dragging", ms(dragged.rate), `${ms(dragged.longest)} ms at most between two`, "50"],
  ]
  console.log(table(["What", "Median", "Worst", "Bar"], rows))
}
