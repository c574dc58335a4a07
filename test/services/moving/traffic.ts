/** Traffic of a stage, and its answers in a form that does not depend on where the events are. */
import { expect } from "bun:test"
import type { Stage } from "./stage.ts"

const PAGES = ["/", "/prices", "/blog/a", "/blog/b"]
const DAY_MS = 86_400_000

/** Sends the traffic of some days: visits of one to four events, of which some visitors sign in and buy. Some rotating ids are destroyed. */
export async function sendTraffic(stage: Stage, days: number, visitors = 12): Promise<void> {
  for (let day = 0; day < days; day++) {
    for (let step = 0; step < 4; step++) {
      for (let visitor = 1; visitor <= visitors; visitor++) {
        if (visitor % 4 < step) continue
        expect(await stage.collect(visitor, eventOf(visitor, step, day))).toBe(202)
      }
      stage.clock.advance(20_000)
    }
    const { events } = stage.app.instance
    for (const { siteId, period } of events.visitorPeriods()) if (day % 2 === 0) await events.forgetVisitors(siteId, period)
    stage.clock.advance(3_600_000)
    await events.seal(stage.clock.now(), true)
    stage.clock.advance(DAY_MS - 3_680_000)
  }
  await stage.runJobs()
}

/** Returns the event that a visitor sends as a step of a day. */
export function eventOf(visitor: number, step: number, day: number): object {
  const u = `https://shop.example${PAGES[(visitor * 3 + step + day) % PAGES.length]}`
  const user = visitor % 3 === 0 && step > 0 ? { x: `user ${visitor}` } : {}
  if (step < 2) return { n: "pageview", u, ...user, ...(visitor % 2 && { r: "https://news.example/" }) }
  const order = visitor % 2 ? { order_id: `${day}-${visitor}-${step}` } : {}
  return { n: "Purchase", u, ...user, p: { plan: `plan ${visitor % 3}`, ...order }, $: { amount: 9.5, currency: "EUR" } }
}

/** An answer without the names that differ between engines. */
interface NamelessAnswer {
  path: string
  status: number
  body: unknown
}

/** Returns the answers to reports. */
export async function answersTo(stage: Stage, reports: readonly string[]): Promise<NamelessAnswer[]> {
  const found: NamelessAnswer[] = []
  for (const path of reports) {
    const { status, body } = await stage.send("GET", path)
    found.push({ path, status, body: withoutNames(body) })
  }
  return found
}

/**
 * Replaces what an engine names in its own way: pseudonyms by how often they occur, and sales without an order ID by their kind. People
 * who are equal otherwise are listed by their pseudonyms.
 */
function withoutNames(body: unknown): unknown {
  const text = (JSON.stringify(body) ?? "null").replace(/"event:\d+"/g, '"event"')
  const counts = Map.groupBy(text.match(NAME) ?? [], (name) => name)
  return JSON.parse(
    text.replace(NAME, (name) => `"${counts.get(name)!.length} times"`),
    (key, value) => (key === "data" && value[0]?.person !== undefined && value[0].label !== undefined ? sorted(value) : value),
  )
}
const sorted = (items: readonly unknown[]): string[] => items.map((item) => JSON.stringify(item)).sort()
const NAME = /"[0-9a-f]{16}"/g
