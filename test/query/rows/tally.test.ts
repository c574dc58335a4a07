import { expect, test } from "bun:test"
import fc from "fast-check"
import type { TallyQuery } from "../../../src/domain/query.ts"
import { tally } from "../../../src/query/rows/tally.ts"
import type { Snapshot } from "../../../src/store/events/part.ts"
import { rowBatches } from "../engine/row-batches.ts"
import { openTraffic, SITE } from "../traffic.ts"

const START = Date.UTC(2026, 10, 21)
const RANGE = { from: START, to: START + 1_000 }

/** Computes the same counts from whole rows, one by one. */
function countRows(snapshot: Snapshot, { range, after, upTo = Number.POSITIVE_INFINITY, by }: TallyQuery) {
  const groups = new Map<string, { values: string[]; count: number; lastAt: number }>()
  let sequence = after
  for (const row of [...rowBatches(snapshot, { site: SITE, range })].flat()) {
    if (row.sequence <= after || row.sequence > upTo) continue
    sequence = Math.max(sequence, row.sequence)
    const props = new Map(row.events[0]!.props)
    const values = by.map((key) => props.get(key) ?? "")
    const group = groups.get(values.join("\0")) ?? { values, count: 0, lastAt: 0 }
    groups.set(values.join("\0"), { values, count: group.count + 1, lastAt: Math.max(group.lastAt, row.started_at) })
  }
  return { groups: [...groups.values()].sort(byValues), sequence }
}

const byValues = (a: { values: string[] }, b: { values: string[] }): number => (a.values.join("\0") < b.values.join("\0") ? -1 : 1)

/** Includes visits before and after the range, visits without the property and sealed visits. */
const anyRecord = fc.record({
  at: fc.integer({ min: -100, max: 1_100 }),
  link: fc.constantFrom(undefined, "1", "2", "31"),
  human: fc.constantFrom("0", "1"),
  isSealed: fc.boolean(),
})

test("counts by property as the rows do, between any two positions", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(anyRecord, { minLength: 1, maxLength: 40 }),
      fc.nat(50),
      fc.option(fc.nat(50), { nil: undefined }),
      fc.constantFrom(["link_id", "human"], ["human"], ["nothing", "link_id"], []),
      async (records, after, upTo, by) => {
        using traffic = openTraffic(START)
        for (const { at, link, human, isSealed } of records) {
          const props: [string, string][] = [...(link === undefined ? [] : [["link_id", link] as [string, string]]), ["human", human]]
          traffic.visit({ visitor: 1, events: [{ at: START + at, name: "link_click", props }] })
          if (isSealed) await traffic.seal()
        }
        const query: TallyQuery = { site: SITE, records: "clicks", range: RANGE, after, ...(upTo !== undefined && { upTo }), by }
        const { groups, sequence } = tally(traffic.snapshot(), query, () => {})
        expect({ groups: groups.sort(byValues), sequence }).toEqual(countRows(traffic.snapshot(), query))
      },
    ),
    { numRuns: 60 },
  )
}, 60_000)
