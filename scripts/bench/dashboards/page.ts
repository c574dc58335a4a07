/** Measurements inside the page. The functions run in the browser, so each must be self-contained. */
import type { Page } from "playwright-core"

export interface Vitals {
  /** Milliseconds since the start of the navigation. */
  largestPaint: number
  /** Sum of all layout shifts, without unit. */
  shift: number
  /** Sum of the milliseconds beyond 50 of each task. */
  blocked: number
}

/** Properties of performance entries that the standard types lack. */
interface Entry extends PerformanceEntry {
  value: number
}

/** Runs before the page's own scripts. */
export function watchVitals(): void {
  const vitals: Vitals = { largestPaint: 0, shift: 0, blocked: 0 }
  Object.assign(globalThis, { vitals })
  const watch = (type: string, add: (entry: Entry) => void) =>
    new PerformanceObserver((list) => {
      for (const entry of list.getEntries()) add(entry as Entry) // each observer receives one type of entry
    }).observe({ type, buffered: true })
  watch("largest-contentful-paint", ({ startTime }) => {
    vitals.largestPaint = startTime
  })
  watch("layout-shift", ({ value }) => {
    vitals.shift += value
  })
  watch("longtask", ({ duration }) => {
    vitals.blocked += duration - 50
  })
}

export const readVitals = (): Vitals => (globalThis as unknown as { vitals: Vitals }).vitals

/** Waits until no request is pending and nothing is loading. */
export async function settle(page: Page): Promise<void> {
  await page.waitForLoadState("networkidle")
  await page.waitForFunction(() => !document.querySelector(".skeleton, .progress-line, [aria-busy=true]"))
}

/** Clicks the row with the given number, or the last one. Resolves with the milliseconds until every card has its new figures. */
export async function chooseRow(number: number): Promise<number> {
  const rows = [...document.querySelectorAll<HTMLAnchorElement>("table.ranked a.ranked-link")]
  const row = document.querySelector<HTMLAnchorElement>("table.ranked a.ranked-link[aria-current]") ?? rows[number % rows.length]!
  const frame = () => new Promise<number>(requestAnimationFrame)
  const begun = performance.now()
  row.click()
  await frame()
  await frame()
  while (document.querySelector(".skeleton, .progress-line, [aria-busy=true]")) await frame()
  return performance.now() - begun
}
