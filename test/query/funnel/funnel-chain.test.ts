import { expect, test } from "bun:test"
import fc from "fast-check"
import { BREAKS, followChains } from "../../../src/query/funnel/chain.ts"
import { type MarkedEvent, type Rules, slowly } from "../engine/slow-chains.ts"

function fast(events: readonly MarkedEvent[], rules: Rules) {
  const [at, marks] = [Float64Array.from(events, (event) => event.at), Uint32Array.from(events, (event) => event.marks)]
  const chains = followChains(rules)
  const reached = chains.furthest(at, marks, 0, events.length)
  return { reached, times: reached === 0 ? [] : [...chains.earliest(at, marks, 0, events.length, reached)].slice(0, reached) }
}

const anyEvents = fc
  .array(fc.record({ wait: fc.integer({ min: 0, max: 4 }), steps: fc.integer({ min: 0, max: 15 }), breaks: fc.boolean() }), {
    maxLength: 14,
  })
  .map((list) => {
    let at = 0
    return list.map(({ wait, steps, breaks }) => {
      at += wait
      return { at, marks: steps | (breaks ? BREAKS : 0) }
    })
  })
const anyRules = fc.record({
  steps: fc.integer({ min: 2, max: 4 }),
  strict: fc.boolean(),
  windowMs: fc.oneof(fc.constant(Number.POSITIVE_INFINITY), fc.integer({ min: 1, max: 12 })),
})

test("finds the same chains as an exhaustive search", () => {
  const agree = fc.property(anyEvents, anyRules, (events, rules) => {
    const within = events.map(({ at, marks }) => ({ at, marks: marks & (BREAKS | ((1 << rules.steps) - 1)) }))
    expect(fast(within, rules)).toEqual(slowly(within, rules))
  })
  fc.assert(agree, { seed: 7, numRuns: 3_000 })
})
