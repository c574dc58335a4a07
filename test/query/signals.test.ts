import { describe, expect, test } from "bun:test"
import type { Signal } from "../../src/domain/query.ts"
import { signals } from "../../src/query/realtime/signals.ts"
import { openTraffic } from "./traffic.ts"

const NOW = Date.parse("2026-11-21T12:00:00Z")
const MINUTE = 60_000
const ago = (minutes: number) => NOW - minutes * MINUTE
const hour = { from: ago(60), to: NOW + 1 }
const GOAL = { id: 1, name: "Signup", kind: "event", match: "exact", value: "Signup" } as const

const ask = (traffic: ReturnType<typeof openTraffic>, ...wanted: Signal[]) =>
  signals(traffic.snapshot(), { site: { id: 1 }, now: NOW, signals: wanted }, () => {})

describe.each([false, true])("signals (visits sealed: %p)", (sealed) => {
  test("count visitors, conversions and events of their ranges", async () => {
    using traffic = openTraffic(NOW)
    traffic.visit({
      visitor: 1,
      events: [
        { at: ago(70), page: "/a" },
        { at: ago(59), name: "Signup" },
        { at: ago(4), name: "404" },
      ],
    })
    traffic.visit({ visitor: 2, events: [{ at: ago(61), page: "/a" }] })
    traffic.visit({
      visitor: 3,
      events: [
        { at: ago(30), page: "/a" },
        { at: ago(29), name: "404" },
        { at: ago(28), name: "Signup" },
      ],
    })
    // The reader of a long page is a current visitor, but engagement alone is no activity of the window.
    traffic.visit({ visitor: 4, events: [{ at: ago(90) }, { at: ago(2), name: "engagement", engagement: { engagedMs: 900 } }] })
    if (sealed) await traffic.seal()
    const wanted: Signal[] = [
      { of: "current" },
      { of: "visitors", range: hour },
      { of: "conversions", goal: GOAL, range: hour },
      { of: "events", name: "404", range: hour },
      { of: "events", name: "Unknown", range: hour },
    ]
    expect(ask(traffic, ...wanted)).toEqual({ values: [2, 2, 2, 2, 0], lastAt: ago(2) })
  })

  test("divide a range into windows", async () => {
    using traffic = openTraffic(NOW)
    const range = { from: ago(60), to: NOW }
    traffic.visit({ visitor: 1, events: [{ at: ago(60) }, { at: ago(46) }, { at: ago(45) }] })
    traffic.visit({ visitor: 2, events: [{ at: ago(46) }, { at: ago(16) }] })
    if (sealed) await traffic.seal()
    // Visitors 1 and 2 in the first quarter, 1 in the second, 2 in the third, no one in the last.
    const windowMs = 15 * MINUTE
    expect(ask(traffic, { of: "mean_visitors", range, windowMs }, { of: "empty_windows", range, windowMs }).values).toEqual([1, 1])
  })
})

test("a site without data has no signals", () => {
  using traffic = openTraffic(NOW)
  const windowMs = 15 * MINUTE
  expect(ask(traffic, { of: "current" }, { of: "visitors", range: hour }, { of: "empty_windows", range: hour, windowMs })).toEqual({
    values: [0, 0, 4],
  })
})
