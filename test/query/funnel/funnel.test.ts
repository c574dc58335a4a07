import { describe, expect, test } from "bun:test"
import type { Filter } from "../../../src/domain/filter.ts"
import type { FunnelQuery, FunnelStep } from "../../../src/domain/query.ts"
import { funnel } from "../../../src/query/funnel/funnel.ts"
import { openTraffic, SITE } from "../traffic.ts"

const START = Date.parse("2026-11-21T10:00:00Z")
const RANGE = { from: START, to: START + 86_400_000 }
const neverStop = () => {}

/** `a` is a pageview of /a, `A` a custom event, `~A` one that is not interactive; the seconds since the start follow the @. */
function toEvent(text: string) {
  const [, quiet, name, seconds] = /^(~?)(\w+)@(\d+)$/.exec(text)!
  const at = START + Number(seconds) * 1000
  return /[A-Z]/.test(name!) ? { at, name: name!, interactive: quiet === "" } : { at, page: `/${name}` }
}
const toStep = (text: string): FunnelStep =>
  /[A-Z]/.test(text) ? { type: "event", match: "exact", value: text } : { type: "page", match: "exact", value: `/${text}` }

/** Records the visits. Visitors are separated by `;`, the visits of a visitor by `|`. */
function record(traffic: ReturnType<typeof openTraffic>, people: string): void {
  people.split(";").forEach((visits, visitor) => {
    for (const events of visits.split("|")) traffic.visit({ visitor, events: events.trim().split(/\s+/).map(toEvent) })
  })
}

type Case = [name: string, people: string, steps: string, more: Partial<FunnelQuery>, visitors: number[], medians: (number | undefined)[]]
const window = (seconds: number) => ({ windowMs: seconds * 1000 })
const strict = { order: "strict" } as const

const CASES: Case[] = [
  ["reaches steps only in order", "a@0 b@10 c@30; b@0 a@10; c@0 b@5", "a b c", {}, [2, 1, 1], [10, 20]],
  ["allows other activity between steps", "a@0 x@5 X@6 b@10", "a b", {}, [1, 1], [10]],
  ["needs two events for equal steps", "a@0; a@0 a@7", "a a", {}, [2, 1], [7]],
  ["uses an event for one step only", "a@0 b@5", "a a b", {}, [1, 0, 0], [undefined, undefined]],
  ["orders events of the same moment by arrival", "a@0 b@0; b@3 a@3", "a b", {}, [2, 1], [0]],
  ["matches custom events by name", "S@0 a@5 S@9", "S a S", {}, [1, 1, 1], [5, 4]],
  ["joins the visits of a visitor", "a@0|b@4000; b@0|a@4000", "a b", {}, [2, 1], [4000]],
  ["joins overlapping visits", "a@0 c@100|b@50", "a b c", {}, [1, 1, 1], [50, 50]],
  ["orders events of the same moment by their visits' first events", "a@0 c@5|b@5; a@0 b@5|c@5", "a b c", {}, [2, 2, 1], [5, 0]],
  ["ignores visitors without the first step", "b@0 c@1|c@9; a@0|b@4", "a b c", {}, [1, 1, 0], [4, undefined]],
  ["computes the median as the mean of the middle two", "a@0 b@10; a@0 b@13; a@0 b@100; a@0 b@5", "a b", {}, [4, 4], [12]],
  ["takes the time from the earliest chain", "a@0 a@5 b@20 b@90", "a b", {}, [1, 1], [20]],

  ["ends a chain at its window", "a@0 b@60; a@0 b@61", "a b", window(60), [2, 1], [60]],
  ["counts the window from the first step to the last", "a@0 b@50 c@70; a@0 b@30 c@60", "a b c", window(60), [2, 2, 1], [40, 30]],
  ["restarts when an early start exceeds the window", "a@0 a@50 b@100", "a b", window(60), [1, 1], [50]],
  // The chain from the first a would end too late, although b lies within its window.
  ["restarts after a second step as well", "a@0 b@40 a@50 b@80 c@105", "a b c", window(60), [1, 1, 1], [30, 25]],
  // The chain from a@0 uses b@40 first but ends too late; the chain from a@30 continues over the same b.
  ["allows a later start to use the same second step", "a@0 a@30 b@40 c@85", "a b c", window(60), [1, 1, 1], [10, 45]],
  ["takes the time from the earliest chain that fits the window", "a@0 a@100 b@110 a@200 b@205", "a b", window(60), [1, 1], [10]],

  ["breaks at another pageview when strict", "a@0 x@5 b@10; a@0 b@10", "a b", strict, [2, 1], [10]],
  ["breaks at an interactive event when strict", "a@0 X@5 b@10", "a b", strict, [1, 0], [undefined]],
  ["skips other events that are not interactive when strict", "a@0 ~X@5 b@10", "a b", strict, [1, 1], [10]],
  ["accepts events that are not interactive as steps when strict", "a@0 ~S@5 b@10", "a S b", strict, [1, 1, 1], [5, 5]],
  ["restarts after a break when strict", "a@0 x@5 a@10 b@12", "a b", strict, [1, 1], [2]],
  ["breaks across visits when strict", "a@0|x@4000|b@8000; a@0|b@4000|x@8000", "a b", strict, [2, 1], [4000]],
  // After ~S@5 the next break is S@7, which is not b: only the chain over S@7 continues.
  ["finds the chain that continues when strict", "a@0 ~S@5 S@7 b@9", "a S b", strict, [1, 1, 1], [7, 2]],
  ["respects the window when strict", "a@0 b@61; a@0 b@60", "a b", { ...strict, ...window(60) }, [2, 1], [60]],
  ["restarts when strict and outside the window", "a@0 a@30 b@70", "a b", { ...strict, ...window(60) }, [1, 1], [40]],
]

describe.each(["the tail", "a segment", "both"])("a funnel over %s", (where) => {
  test.each(CASES)("%s", async (_, people, steps, more, visitors, medians) => {
    using traffic = openTraffic(START)
    if (where === "both") {
      const [first, ...others] = people.split(/(?<=[;|])/)
      const sealed = first!.replace(/[;|]$/, "")
      record(traffic, sealed)
      await traffic.seal()
      // The rest arrives after the first visit was sealed.
      const rest = others.join("")
      if (rest !== "") recordAfter(traffic, rest, first!.endsWith("|"))
    } else record(traffic, people)
    if (where === "a segment") await traffic.seal()
    const query: FunnelQuery = { site: SITE, range: RANGE, steps: steps.split(" ").map(toStep), order: "sequential", ...more }
    const expected = visitors.map((count, step) => {
      const median = step === 0 ? undefined : medians[step - 1]
      return median === undefined ? { visitors: count } : { visitors: count, medianSeconds: median }
    })
    expect(funnel(traffic.snapshot(), query, neverStop)).toEqual({ steps: expected })
  })
})

/** Records the visits after the first one: those of the same visitor, or of the following visitors. */
function recordAfter(traffic: ReturnType<typeof openTraffic>, people: string, isSameVisitor: boolean): void {
  people.split(";").forEach((visits, index) => {
    for (const events of visits.split("|")) {
      traffic.visit({ visitor: isSameVisitor ? index : index + 1, events: events.trim().split(/\s+/).map(toEvent) })
    }
  })
}

const ask = (traffic: ReturnType<typeof openTraffic>, more: Partial<FunnelQuery>) =>
  funnel(
    traffic.snapshot(),
    { site: SITE, range: RANGE, steps: [toStep("a"), toStep("b")], order: "sequential", ...more },
    neverStop,
  ).steps.map(({ visitors }) => visitors)
const is = (dimension: "country" | "title", value: string): Filter => ({
  op: "is",
  dimension,
  values: [value],
  missing: false,
  caseSensitive: true,
})

test("applies a filter to the first step's event and visit, not to later steps", () => {
  using traffic = openTraffic(START)
  const day = (at: number, page: string, title = "") => ({ at: START + at, page, title })
  traffic.visit({ visitor: 1, traits: { country: "DE" }, events: [day(0, "/a", "x")] })
  traffic.visit({ visitor: 1, traits: { country: "FR" }, events: [day(9_000_000, "/b", "y")] })
  traffic.visit({ visitor: 2, traits: { country: "FR" }, events: [day(0, "/a", "x"), day(1, "/a", "y"), day(2, "/b", "z")] })
  expect(ask(traffic, {})).toEqual([2, 2])
  expect(ask(traffic, { filter: is("country", "DE") })).toEqual([1, 1])
  expect(ask(traffic, { filter: is("title", "y") })).toEqual([1, 1])
  expect(ask(traffic, { filter: is("title", "z") })).toEqual([0, 0])
})

test("uses only events within the range, even if their visit began before it", () => {
  using traffic = openTraffic(START)
  traffic.visit({
    visitor: 1,
    events: [
      { at: START - 1, page: "/a" },
      { at: START, page: "/b" },
    ],
  })
  traffic.visit({
    visitor: 2,
    events: [
      { at: START - 1, page: "/x" },
      { at: START, page: "/a" },
      { at: RANGE.to - 1, page: "/b" },
    ],
  })
  traffic.visit({
    visitor: 3,
    events: [
      { at: RANGE.to - 1, page: "/a" },
      { at: RANGE.to, page: "/b" },
    ],
  })
  expect(ask(traffic, {})).toEqual([2, 1])
})

test("counts only identified visitors when the window is longer than the identity", () => {
  using traffic = openTraffic(START)
  const events = [
    { at: START, page: "/a" },
    { at: START + 1, page: "/b" },
  ]
  traffic.visit({ visitor: 1, events })
  traffic.visit({ visitor: 2, kind: "user", events })
  traffic.visit({ visitor: 3, kind: "device", events })
  expect(ask(traffic, { identifiedOnly: true })).toEqual([2, 2])
})

test("engagement never matches a step, even if the step names it", () => {
  using traffic = openTraffic(START)
  traffic.visit({
    visitor: 1,
    events: [
      { at: START, page: "/a" },
      { at: START + 1, name: "engagement", page: "/b", engagement: { engagedMs: 5 } },
    ],
  })
  expect(ask(traffic, {})).toEqual([1, 0])
  expect(ask(traffic, { steps: [toStep("a"), { type: "event", match: "prefix", value: "eng" }] })).toEqual([1, 0])
})

test("matches steps by prefix, substring and wildcard", () => {
  using traffic = openTraffic(START)
  traffic.visit({
    visitor: 1,
    events: [
      { at: START, page: "/shop/shoes" },
      { at: START + 1, page: "/cart/7/pay" },
      { at: START + 2, name: "Paid by card" },
    ],
  })
  const steps: FunnelStep[] = [
    { type: "page", match: "prefix", value: "/shop" },
    { type: "page", match: "wildcard", value: "/cart/*/pay" },
    { type: "event", match: "contains", value: "by" },
  ]
  expect(ask(traffic, { steps })).toEqual([1, 1, 1])
})
