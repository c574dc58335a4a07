import { describe, expect, test } from "bun:test"
import { realtime } from "../../src/query/realtime/realtime.ts"
import { openTraffic, SITE } from "./traffic.ts"

const NOW = Date.parse("2026-11-21T12:00:30Z")
const ago = (seconds: number) => NOW - seconds * 1000
const ask = (traffic: ReturnType<typeof openTraffic>, limit = 10) => realtime(traffic.snapshot(), { site: SITE, now: NOW, limit }, () => {})

describe.each([false, true])("realtime (visits sealed: %p)", (sealed) => {
  test("counts visitors of the last five minutes on their latest page", async () => {
    using traffic = openTraffic(NOW)
    const traits = { source: "Google", country: "DE" }
    traffic.visit({
      visitor: 1,
      traits,
      events: [
        { at: ago(290), page: "/a" },
        { at: ago(100), page: "/b" },
        { at: ago(50), name: "Signup", page: "/x" },
      ],
    })
    // Still reading: the latest pageview is older than five minutes, so the exit page is used.
    traffic.visit({
      visitor: 2,
      traits: { country: "FR" },
      events: [
        { at: ago(900), page: "/b" },
        { at: ago(20), name: "engagement", page: "/b", engagement: { engagedMs: 900 } },
      ],
    })
    traffic.visit({ visitor: 3, events: [{ at: ago(300), page: "/gone" }] })
    traffic.visit({ visitor: 4, events: [{ at: ago(299), name: "Signup", page: "/only-an-event" }] })
    traffic.visit({ visitor: 5, traits: { source: "Bing" }, events: [{ at: ago(0), page: "/c" }] })
    if (sealed) await traffic.seal()
    const { minutes: _, ...shown } = ask(traffic)
    expect(shown).toEqual({
      visitors: 4,
      pageviews: 3,
      pages: [
        { value: "/b", visitors: 2 },
        { value: null, visitors: 1 },
        { value: "/c", visitors: 1 },
      ],
      sources: [
        { value: null, visitors: 2 },
        { value: "Bing", visitors: 1 },
        { value: "Google", visitors: 1 },
      ],
      countries: [
        { value: null, visitors: 2 },
        { value: "DE", visitors: 1 },
        { value: "FR", visitors: 1 },
      ],
    })
    expect(ask(traffic, 1).pages).toEqual([{ value: "/b", visitors: 2 }])
  })

  test("uses the latest of a visitor's visits", async () => {
    using traffic = openTraffic(NOW)
    traffic.visit({ visitor: 1, traits: { source: "Later" }, events: [{ at: ago(10), name: "Signup", page: "/x" }] })
    traffic.visit({ visitor: 1, traits: { source: "Earlier" }, events: [{ at: ago(200), page: "/a" }] })
    if (sealed) await traffic.seal()
    expect(ask(traffic)).toMatchObject({ visitors: 1, pages: [{ value: "/a", visitors: 1 }], sources: [{ value: "Later", visitors: 1 }] })
  })

  test("returns the last thirty clock minutes, including the current one", async () => {
    using traffic = openTraffic(NOW)
    traffic.visit({ visitor: 1, events: [{ at: Date.parse("2026-11-21T11:30:59.999Z"), page: "/too-early" }] })
    traffic.visit({ visitor: 2, events: [{ at: Date.parse("2026-11-21T11:31:00Z") }, { at: Date.parse("2026-11-21T11:31:59.999Z") }] })
    traffic.visit({ visitor: 3, events: [{ at: ago(1) }] })
    if (sealed) await traffic.seal()
    const { minutes } = ask(traffic)
    expect(minutes).toHaveLength(30)
    expect(minutes[0]).toEqual({ from: Date.parse("2026-11-21T11:31:00Z"), visitors: 1, pageviews: 2 })
    expect(minutes[1]).toEqual({ from: Date.parse("2026-11-21T11:32:00Z"), visitors: 0, pageviews: 0 })
    expect(minutes[29]).toEqual({ from: Date.parse("2026-11-21T12:00:00Z"), visitors: 1, pageviews: 1 })
  })
})

test("a site without data has no current visitors", () => {
  using traffic = openTraffic(NOW)
  expect(ask(traffic)).toMatchObject({ visitors: 0, pageviews: 0, pages: [], sources: [], countries: [] })
})
