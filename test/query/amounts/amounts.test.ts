import { describe, expect, test } from "bun:test"
import { divideHalfEven, shareOf } from "../../../src/domain/division.ts"
import { type PackedColumns, packRows } from "../../../src/domain/packed-rows.ts"
import { type AmountsQuery, amounts } from "../../../src/query/amounts/amounts.ts"
import type { Snapshot } from "../../../src/store/events/part.ts"
import { bySize, SEED } from "../../size.ts"

const COLUMNS: PackedColumns = { numbers: ["at", "amount", "weight", "part", "parts", "visitor", "bits"], texts: ["currency", "source"] }
type Row = Record<"at" | "amount" | "weight" | "part" | "parts" | "visitor" | "bits", number> & Record<"currency" | "source", string>

/** Rows in packs of a few, as the row table of an area has them. The query needs nothing else of a snapshot. */
const packed = (rows: readonly Row[], size = 7) =>
  ({
    imports: [],
    visitorLimit: 100,
    eachRow(_: unknown, take: (row: object) => void) {
      for (let at = 0; at < rows.length; at += size) take({ rows: packRows(rows.slice(at, at + size), COLUMNS) })
    },
  }) as unknown as Snapshot

const QUERY: AmountsQuery = {
  site: { id: 1 },
  statement: { text: "", values: [] },
  time: { column: "at", edges: [0, 10, 20] },
  keep: [],
  sums: [["bucket", "currency"], ["source"]],
  distinct: [],
}
const ROW: Row = { at: 5, amount: 100, weight: 100, part: 0, parts: 1, visitor: 1, bits: 1, currency: "EUR", source: "Google" }
const ask = (rows: readonly Row[], query: Partial<AmountsQuery> = {}) => amounts(packed(rows), { ...QUERY, ...query }, () => {})

test("sums amounts by time and value, and leaves out rows outside the range", () => {
  const rows = [
    ROW,
    { ...ROW, at: 19, amount: -30 },
    { ...ROW, at: 0, currency: "JPY", source: "" },
    { ...ROW, at: 20 },
    { ...ROW, at: -1 },
  ]
  expect(ask(rows).sums).toEqual([
    [
      { keys: [0, "EUR"], amount: 100n, weight: 100 },
      { keys: [1, "EUR"], amount: -30n, weight: 100 },
      { keys: [0, "JPY"], amount: 100n, weight: 100 },
    ],
    [
      { keys: ["Google"], amount: 70n, weight: 200 },
      { keys: [""], amount: 100n, weight: 100 },
    ],
  ])
})

test("adds 200,000 amounts of 10^15 exactly", () => {
  const rows = Array.from({ length: 200_000 }, () => ({ ...ROW, amount: 1_000_000_000_000_001 }))
  const result = amounts(packed(rows, 50_000), { ...QUERY, sums: [[]] }, () => {})
  expect(result.sums).toEqual([[{ keys: [], amount: 200_000_000_000_000_200_000n, weight: 20_000_000 }]])
})

test("divides the shares of linear attribution so that they add up", () => {
  const shares = ["Google", "newsletter", "Google"].map((source, part) => ({ ...ROW, amount: 1_000, source, part, parts: 3 }))
  expect(ask(shares, { isShared: true, sums: [["source"]] }).sums).toEqual([
    [
      { keys: ["Google"], amount: 667n, weight: 67 },
      { keys: ["newsletter"], amount: 333n, weight: 33 },
    ],
  ])
})

test("converts before it divides, and keeps amounts without a rate apart", () => {
  const conversion = { column: "at", edges: [0, 10], factors: { EUR: [{ numerator: 5n, denominator: 2n }] } }
  const rows = [
    { ...ROW, amount: 1 },
    { ...ROW, amount: 3 },
    { ...ROW, at: 11 },
    { ...ROW, currency: "JPY" },
  ]
  expect(ask(rows, { conversion, sums: [["converted", "currency"]] }).sums).toEqual([
    [
      // 2.5 and 7.5 are rounded half to even.
      { keys: [1, "EUR"], amount: 10n, original: 4n, weight: 200 },
      { keys: [0, "EUR"], amount: 100n, original: 100n, weight: 100 },
      { keys: [0, "JPY"], amount: 100n, original: 100n, weight: 100 },
    ],
  ])
})

test("counts distinct visitors by group and lists them", () => {
  const rows = [
    ROW,
    ROW,
    { ...ROW, visitor: 3 },
    { ...ROW, visitor: 0 },
    { ...ROW, visitor: 3, source: "" },
    { ...ROW, visitor: 9, bits: 2 },
  ]
  const result = ask(rows, {
    distinct: [
      { by: ["source"], of: "visitor" },
      { by: [], of: "visitor", among: { column: "bits", values: [2] } },
    ],
    visitorsOf: { column: "bits", values: [1] },
  })
  expect(result.distinct).toEqual([
    [
      { keys: ["Google"], count: 3 },
      { keys: [""], count: 1 },
    ],
    [{ keys: [], count: 1 }],
  ])
  expect([...result.visitors]).toEqual([0, 2])
})

describe("a filter", () => {
  const rows = [ROW, { ...ROW, source: "google.de" }, { ...ROW, source: "" }]
  const sources = (filter: AmountsQuery["filter"]) =>
    ask(rows, { ...(filter && { filter }), sums: [["source"]] }).sums[0]!.map(({ keys }) => keys[0]!)
  const contains = { op: "contains", dimension: "source", values: ["GOOGLE"], missing: false, caseSensitive: false } as const
  test.each([
    ["ignores case", contains, ["Google", "google.de"]],
    ["is negated", { op: "not", filter: contains } as const, [""]],
    ["matches the missing value", { op: "is", dimension: "source", values: ["(none)"], missing: true, caseSensitive: true } as const, [""]],
    ["combines conditions", { op: "and", filters: [contains, { ...contains, values: [".de"] }] } as const, ["google.de"]],
    ["is met by one of several", { op: "or", filters: [] } as const, []],
  ])("%s", (_, filter, expected) => {
    expect(sources(filter)).toEqual(expected)
  })
})

test("agrees with big integers over random rows", () => {
  let state = SEED
  const random = (below: number): number => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0
    return Math.floor((state / 2 ** 32) * below)
  }
  for (let run = 0; run < bySize({ check: 100, full: 1_000, release: 20_000 }); run++) {
    const fraction = () => ({ numerator: 1n + BigInt(random(1e9)) ** 2n, denominator: 1n + BigInt(random(1e6)) ** 2n })
    const factors = { EUR: [fraction(), null], JPY: [fraction(), fraction()] }
    const rows = Array.from({ length: random(40) }, (): Row => {
      const parts = 1 + random(5)
      const size = 10 ** random(16)
      return {
        ...ROW,
        ...{ at: random(25) - 2, amount: random(2) === 0 ? random(size) : -random(size), part: random(parts), parts },
        ...{ weight: 100 * random(2), visitor: random(5), currency: ["EUR", "JPY", "USD"][random(3)]!, source: `s${random(4)}` },
      }
    })
    const isShared = random(2) === 0
    const result = ask(rows, {
      isShared,
      conversion: { column: "at", edges: [0, 10, 20], factors },
      sums: [["bucket", "converted", "currency", "source"]],
    })
    const expected = new Map<string, { amount: bigint; original: bigint; weight: bigint }>()
    for (const { at, amount, weight, part, parts, currency, source } of rows) {
      if (at < 0 || at >= 20) continue
      const bucket = at < 10 ? 0 : 1
      const factor = factors[currency as "EUR"]?.[bucket]
      const whole = factor ? divideHalfEven(BigInt(amount) * factor.numerator, factor.denominator) : BigInt(amount)
      const share = (value: bigint) => (isShared ? shareOf(value, part, parts) : value)
      const key = JSON.stringify([bucket, factor ? 1 : 0, currency, source])
      const before = expected.get(key) ?? { amount: 0n, original: 0n, weight: 0n }
      const original = before.original + share(BigInt(amount))
      expected.set(key, { amount: before.amount + share(whole), original, weight: before.weight + share(BigInt(weight)) })
    }
    const found = result.sums[0]!.map(({ keys, weight, ...sums }) => [JSON.stringify(keys), { ...sums, weight: BigInt(weight) }] as const)
    expect<unknown>(new Map(found)).toEqual(expected)
  }
})

test("counts, lists and follows visitors whose numbers have up to 53 bits", () => {
  const [long, other] = [2 ** 53 - 1, 2 ** 40]
  const rows = [
    { ...ROW, visitor: long, at: 1 },
    { ...ROW, visitor: long, at: 15 },
    { ...ROW, visitor: other, at: 15 },
    { ...ROW, visitor: other - 2 ** 32, at: 15 },
    { ...ROW, visitor: 7, at: 15 },
  ]
  const anyOf = { column: "bits", bits: 1 }
  const result = ask(rows, { first: anyOf, visitorsOf: anyOf, distinct: [{ by: ["first"], of: "visitor" }] })
  expect(result.distinct).toEqual([
    [
      { keys: [0], count: 1 },
      { keys: [1], count: 3 },
    ],
  ])
  expect([...result.visitors]).toEqual([6, other - 2 ** 32 - 1, other - 1, long - 1])
})
