/**
 * A dashboard of 30 widgets in a real browser: from the answer to the first figures, and frames while it is scrolled and while a widget is
 * dragged. It is scrolled twice: as soon as it can be, while its figures arrive and nothing is cached, and when everything is drawn. Frames
 * are those of Chromium's trace, which has one entry for each frame that was shown.
 */
import { type Browser, type BrowserContext, type CDPSession, chromium, type Page } from "playwright-core"
import { FROM_SOURCE, prepareUser, serveFootfall, USER } from "../../instance.ts"
import { fillDataDir } from "../server/memory.ts"
import type { DataOptions } from "../stores/data.ts"
import { count, ms, table } from "../table.ts"
import { quantile } from "../timing.ts"
import { member, TILES } from "./dashboards.ts"
import { settle } from "./page.ts"

const VIEWS = 5
/** Speed of scrolling in pixels per second. */
const SCROLL_SPEED = 1_600
const DRAG_STEPS = 120

export async function measureBoardFrames(options: DataOptions): Promise<void> {
  await using filled = await fillDataDir(FROM_SOURCE, options, prepareUser)
  await using server = await serveFootfall({ dataDir: filled.dataDir, flags: ["--private-rate", "100000"] })
  const ask = await member(server.address, filled.site.siteId)
  const widgets = TILES.map((tile, i) => ({ ...tile, x: (i % 3) * 4, y: Math.floor(i / 3) * 4, w: 4, h: 4 }))
  const { id } = await ask("POST", "/dashboards", { name: "Wall", range: { period: "28d" }, widgets })
  const board = { origin: server.address, path: `${server.address}/sites/1/dashboards/${id}` }
  const browser = await chromium.launch({ executablePath: "/usr/bin/chromium", args: ["--headless", "--no-sandbox", "--disable-gpu"] })
  try {
    const arriving: ArrivingFrames[] = []
    for (let view = 0; view < VIEWS; view++) arriving.push(await scrollWhileArriving(browser, board))
    const context = await signedIn(browser, board.origin)
    const page = await context.newPage()
    await page.addInitScript(watchFirstFigures)
    const trace = await context.newCDPSession(page)
    const first: number[] = []
    const drawn: Frames[] = []
    for (let view = 0; view < VIEWS; view++) {
      await page.goto(board.path)
      await settle(page)
      first.push(Number(await (await page.waitForFunction(untilFirstFigures)).jsonValue()))
      drawn.push(await framesOfScroll(page, trace))
    }
    const height = await page.evaluate(() => document.documentElement.scrollHeight)
    const plain = await context.newPage()
    await plain.setContent(`<body style="margin: 0; height: ${height}px; background: linear-gradient(white, grey)">`)
    const plainTrace = await context.newCDPSession(plain)
    const bare: Frames[] = []
    for (let view = 0; view < VIEWS; view++) {
      await plain.evaluate(() => scrollTo(0, 0))
      bare.push(await framesOfScroll(plain, plainTrace))
    }
    await plain.close()
    await page.goto(`${board.path}/edit`)
    await page.waitForSelector(".tile-grip")
    await settle(page)
    const dragged = await framesDuring(trace, () => page.evaluate(dragFirst, DRAG_STEPS))
    print(options.events, first, { arriving, drawn, bare, dragged: [dragged] })
  } finally {
    await browser.close()
  }
}

interface BoardAddress {
  origin: string
  path: string
}

/** Opens a browser profile without a cache, signed in. */
async function signedIn(browser: Browser, origin: string): Promise<BrowserContext> {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 } })
  const login = await context.request.post(`${origin}/api/private/auth/login`, { data: USER })
  if (!login.ok()) throw new Error(`Signing in was answered with ${login.status()}`)
  return context
}

interface ArrivingFrames extends Frames {
  /** Milliseconds from the first movement until the last widget had its figures. */
  arrivingFor: number
}

/** Opens the dashboard as a person does who has never seen it, and scrolls it as soon as it is there. */
async function scrollWhileArriving(browser: Browser, { origin, path }: BoardAddress): Promise<ArrivingFrames> {
  const context = await signedIn(browser, origin)
  const page = await context.newPage()
  await page.addInitScript(watchArrival)
  const trace = await context.newCDPSession(page)
  await page.goto(path, { waitUntil: "commit" })
  await page.waitForSelector(".board")
  const frames = await framesOfScroll(page, trace)
  const arrivingFor = Number(await (await page.waitForFunction(untilArrived)).jsonValue())
  await context.close()
  return { ...frames, arrivingFor }
}

/** Scrolls the page from its beginning to its end. A page that stands still draws no frames, so the distance is that of the page. */
async function framesOfScroll(page: Page, trace: CDPSession): Promise<Frames> {
  const distance = await page.evaluate(() => document.documentElement.scrollHeight - innerHeight)
  const scroll = { x: 640, y: 500, yDistance: -distance, speed: SCROLL_SPEED }
  const frames = await framesDuring(trace, () => trace.send("Input.synthesizeScrollGesture", scroll))
  const scrolled = await page.evaluate(() => scrollY)
  if (scrolled < distance) throw new Error(`The page was scrolled by ${scrolled} of ${distance} pixels`)
  return frames
}

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

/** Runs before the page's own scripts, in the browser: notes when the page first moves, and when the last widget has its figures. */
function watchArrival(): void {
  const note = (name: "firstMoved" | "arrived") => Object.assign(globalThis, { [name]: performance.now() })
  document.addEventListener("scroll", () => note("firstMoved"), { once: true, passive: true })
  const watch = new MutationObserver(() => {
    if (document.querySelector(".board")?.getAttribute("aria-busy") !== "false") return
    watch.disconnect()
    note("arrived")
  })
  watch.observe(document, { attributes: true, childList: true, subtree: true })
}

/** Returns the milliseconds from the first movement to the last figures as text, or 0 if the figures were first. */
function untilArrived(): string | undefined {
  const { firstMoved, arrived } = globalThis as unknown as Partial<Record<"firstMoved" | "arrived", number>>
  return firstMoved === undefined || arrived === undefined ? undefined : String(Math.max(0, arrived - firstMoved))
}

type Cases = Record<"drawn" | "bare" | "dragged", readonly Frames[]> & { arriving: readonly ArrivingFrames[] }

function print(events: number, first: readonly number[], { arriving, drawn, bare, dragged }: Cases): void {
  console.log(`\n### A dashboard of 30 widgets in the browser, ${count(events)} events\n`)
  const rate = (frames: readonly Frames[]) =>
    ms(
      quantile(
        frames.map((one) => one.rate),
        0.5,
      ),
    )
  const worst = (frames: readonly Frames[]) => `${ms(Math.max(...frames.map(({ longest }) => longest)))} ms at most between two`
  const part = `figures arrived for ${ms(
    quantile(
      arriving.map(({ arrivingFor }) => arrivingFor),
      0.5,
    ),
  )} ms of it`
  const rows = [
    ["first figures after the answer, ms", ms(quantile(first, 0.5)), `${ms(quantile(first, 1))} at worst`, "300"],
    ["frames a second while scrolling, nothing cached", rate(arriving), `${worst(arriving)}, ${part}`, "50"],
    ["frames a second while scrolling, everything drawn", rate(drawn), worst(drawn), "50"],
    ["the same on a page without content", rate(bare), worst(bare), "all that a busy machine allows"],
    ["frames a second while dragging", rate(dragged), worst(dragged), "50"],
  ]
  console.log(table(["What", "Median", "Worst", "Bar"], rows))
}
