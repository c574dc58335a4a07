/**
 * Measures web vitals on visitors' pages, by the definitions of web.dev: largest contentful paint, interaction to next paint, cumulative
 * layout shift, first contentful paint and time to first byte. The tracker loads this script only for a script element with `data-vitals`.
 * It sends one event per page load through the tracker, when the page is first hidden. Every byte counts, as in `tracker.ts`.
 */

interface Timing extends PerformanceEntry {
  value: number
  hadRecentInput: boolean
  interactionId: number
}
interface Observed extends PerformanceObserverInit {
  durationThreshold?: number
}
interface Navigation extends PerformanceNavigationTiming {
  /** Time at which a prerendered page was activated, from which it is measured. */
  activationStart?: number
}
type Vitals = Partial<Record<"lcp" | "inp" | "cls" | "fcp" | "ttfb", number>>

const start = () => {
  const [navigation] = performance.getEntriesByType("navigation") as Navigation[]
  const origin = navigation?.activationStart || 0
  /** The page that was loaded. A single-page application may have navigated since. */
  const url = navigation?.name || location.href
  const { exclude, include } = document.querySelector<HTMLElement>("script[data-vitals]")?.dataset ?? {}
  const hidden = performance.getEntriesByType("visibility-state").find(({ name, startTime }) => name === "hidden" && startTime >= origin)
  /** Time at which the page was first hidden. Paints after it depend on the visitor and not on the page. */
  let hiddenAt = hidden?.startTime ?? (document.hidden ? 0 : Infinity)
  let sent: boolean
  let measured: Vitals
  /** The current session window of layout shifts: its sum, and the times of its first and last shift. */
  let shifts: number
  let first: number
  let last: number
  /** The longest duration of each interaction. */
  let interactions: Map<number, number>
  const flushes: (() => void)[] = []

  const reset = () => {
    sent = false
    // A page without layout shifts has a shift of 0, in browsers that measure it.
    measured = PerformanceObserver.supportedEntryTypes.includes("layout-shift") ? { cls: 0 } : {}
    interactions = new Map()
    first = last = -Infinity
  }
  const observe = (type: string, take: (entry: Timing) => void, options?: Observed) => {
    try {
      const takeAll = (entries: PerformanceEntryList) => (entries as Timing[]).forEach(take)
      const observer = new PerformanceObserver((list) => takeAll(list.getEntries()))
      observer.observe({ type, buffered: true, ...options })
      flushes.push(() => takeAll(observer.takeRecords()))
    } catch {
      // The browser does not know the type.
    }
  }
  const interact = ({ interactionId: id, duration }: Timing) => {
    if (id) interactions.set(id, Math.max(duration, interactions.get(id) || 0))
  }
  const send = () => {
    if (sent) return
    for (const flush of flushes) flush()
    const durations = [...interactions.values()].sort((a, b) => b - a)
    const count = (performance as { interactionCount?: number }).interactionCount || durations.length
    // One outlier in 50 interactions is left out.
    const inp = durations[Math.min(durations.length - 1, (count / 50) | 0)]
    sent = true
    // The tracker tests the page that is shown. After a navigation it is unknown whether the page that was loaded is excluded.
    if (new URL(url).pathname === location.pathname || !(exclude || include)) window.footfall!("vitals", { url, f: { ...measured, inp } })
  }

  reset()
  if (navigation?.responseStart) measured!.ttfb = Math.max(0, navigation.responseStart - origin)
  observe("paint", ({ name, startTime }) => {
    if (name === "first-contentful-paint" && startTime < hiddenAt) measured.fcp = Math.max(0, startTime - origin)
  })
  observe("largest-contentful-paint", ({ startTime }) => {
    if (startTime < hiddenAt) measured.lcp = Math.max(0, startTime - origin)
  })
  observe("layout-shift", ({ value, startTime, hadRecentInput }) => {
    if (hadRecentInput) return
    if (startTime - last > 1000 || startTime - first > 5000) {
      shifts = 0
      first = startTime
    }
    last = startTime
    shifts += value
    measured.cls = Math.max(measured.cls!, shifts)
  })
  observe("first-input", interact)
  observe("event", interact, { durationThreshold: 40 })

  addEventListener("visibilitychange", () => {
    if (!document.hidden) return
    hiddenAt = Math.min(hiddenAt, performance.now())
    send()
  })
  addEventListener("pagehide", send)
  // A page from the back-forward cache is a page load of its own.
  addEventListener("pageshow", ({ persisted, timeStamp }: Partial<PageTransitionEvent>) => {
    if (!persisted) return
    reset()
    requestAnimationFrame(() =>
      requestAnimationFrame(() => {
        measured.fcp = measured.lcp = performance.now() - timeStamp!
      }),
    )
  })
}

if (document.prerendering) document.addEventListener("prerenderingchange", start)
else start()

export {}
