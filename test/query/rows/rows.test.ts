import { expect, test } from "bun:test"
import type { Filter } from "../../../src/domain/filter.ts"
import { rowBatches } from "../engine/row-batches.ts"
import { openTraffic, SITE } from "../traffic.ts"

const START = Date.parse("2026-11-21T10:00:00Z")
const RANGE = { from: START, to: START + 86_400_000 }
const read = (traffic: ReturnType<typeof openTraffic>, filter?: Filter) =>
  [...rowBatches(traffic.snapshot(), { site: SITE, range: RANGE, ...(filter && { filter }) })].flat()

test.each([false, true])("returns a visit with everything stored about it (sealed: %p)", async (sealed) => {
  using traffic = openTraffic(START)
  traffic.visit({
    visitor: 1,
    kind: "user",
    traits: { source: "Google", channel: "Organic Search", country: "DE", browser: "Firefox" },
    events: [
      {
        at: START + 5_000,
        page: "/b",
        hostname: "example.com",
        title: "B",
        props: [
          ["plan", "pro"],
          ["size", "9"],
        ],
      },
      { at: START, page: "/a", hostname: "www.example.com" },
      { at: START + 9_000, name: "Buy", page: "/b", interactive: false, revenue: { amount: -1250, currency: "EUR" } },
      { at: START + 12_000, name: "engagement", page: "/b", engagement: { engagedMs: 3_000 } },
      { at: START + 13_000, name: "engagement", page: "/b", engagement: { engagedMs: 500, scrollDepth: 70 } },
      { at: START + 14_000, name: "vitals", page: "/b", vitals: { lcp: 1200, cls: 0.125 } },
    ],
  })
  if (sealed) await traffic.seal()
  const [visit, ...others] = read(traffic)
  expect(others).toEqual([])
  expect(visit).toMatchObject({
    visitor_kind: "user",
    started_at: START,
    duration: 9_000,
    pageviews: 2,
    counted_events: 3,
    engaged: 3_500,
    entry_page: "/a",
    entry_page_hostname: "www.example.com",
    exit_page: "/b",
    exit_page_hostname: "example.com",
    source: "Google",
    channel: "Organic Search",
    country: "DE",
    city: "",
    browser: "Firefox",
    import_id: 0,
  })
  const plain = { hostname: "", title: "", interactive: true, props: [] }
  expect(visit?.events).toEqual([
    { ...plain, at: START, name: "pageview", page: "/a", hostname: "www.example.com" },
    {
      ...plain,
      at: START + 5_000,
      name: "pageview",
      page: "/b",
      hostname: "example.com",
      title: "B",
      props: [
        ["plan", "pro"],
        ["size", "9"],
      ],
    },
    { ...plain, at: START + 9_000, name: "Buy", page: "/b", interactive: false, revenue: { amount: -1250, currency: "EUR" } },
    { ...plain, at: START + 12_000, name: "engagement", page: "/b", engagement: { engagedMs: 3_000 } },
    { ...plain, at: START + 13_000, name: "engagement", page: "/b", engagement: { engagedMs: 500, scrollDepth: 70 } },
    { ...plain, at: START + 14_000, name: "vitals", page: "/b", vitals: { lcp: 1200, cls: 0.125 } },
  ])
})

test("returns the visits that start in the range, in that order, with events after its end", async () => {
  using traffic = openTraffic(START)
  const visit = (visitor: number, ...at: number[]) => traffic.visit({ visitor, events: at.map((ms) => ({ at: ms })) })
  visit(1, RANGE.to - 1, RANGE.to + 1)
  visit(2, START - 1, START + 1)
  await traffic.seal()
  visit(3, START + 7)
  visit(4, START)
  visit(5, RANGE.to)
  expect(read(traffic).map(({ started_at, events }) => [started_at, events.length])).toEqual([
    [START, 1],
    [START + 7, 1],
    [RANGE.to - 1, 2],
  ])
})

test("a filter selects visits and returns all their events", () => {
  using traffic = openTraffic(START)
  traffic.visit({
    visitor: 1,
    events: [
      { at: START, page: "/a" },
      { at: START + 1, page: "/b" },
    ],
  })
  traffic.visit({ visitor: 2, events: [{ at: START, page: "/a" }] })
  const onB: Filter = { op: "is", dimension: "page", values: ["/b"], missing: false, caseSensitive: true }
  expect(read(traffic, onB).map(({ events }) => events.map(({ page }) => page))).toEqual([["/a", "/b"]])
})

test("returns many visits in batches", () => {
  using traffic = openTraffic(START)
  for (let visitor = 0; visitor < 501; visitor++) traffic.visit({ visitor, events: [{ at: START + visitor }] })
  const batches = [...rowBatches(traffic.snapshot(), { site: SITE, range: RANGE })]
  expect(batches.map((batch) => batch.length)).toEqual([500, 1])
})
