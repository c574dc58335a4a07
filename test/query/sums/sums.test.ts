import { expect, test } from "bun:test"
import { type PackedColumns, packRows } from "../../../src/domain/packed-rows.ts"
import { type SumsPlace, type SumsQuery, sums } from "../../../src/query/sums/sums.ts"
import type { Snapshot } from "../../../src/store/events/part.ts"
import { SEED } from "../../size.ts"

const COLUMNS: PackedColumns = { numbers: ["term", "clicks", "impressions"], texts: ["device"] }
type Row = Record<"term" | "clicks" | "impressions", number> & { device: string; day: number }

/** Rows by day, as the row table of an area has them. The query needs nothing else of a snapshot. */
const packed = (rows: readonly Row[]) =>
  ({
    eachRow(_: unknown, take: (row: object) => void) {
      for (const [day, ofDay] of Map.groupBy(rows, (row) => row.day)) take({ day, rows: packRows(ofDay, COLUMNS) })
    },
  }) as unknown as Snapshot

const QUERY: SumsQuery = {
  site: { id: 1 },
  statement: { text: "", values: [] },
  keep: [],
  by: "term",
  columns: ["clicks", "impressions"],
  order: { of: 0, descending: true },
  limit: 10,
}
const ask = (rows: readonly Row[], query: Partial<SumsQuery> = {}) => sums(packed(rows), { ...QUERY, ...query }, () => {})
const row = (day: number, term: number, clicks: number, impressions: number, device = "mobile"): Row => ({
  day,
  term,
  clicks,
  impressions,
  device,
})

const ROWS = [row(1, 7, 2, 10), row(1, 9, 5, 10, "desktop"), row(2, 7, 3, 90), row(2, 12_000_000, 1, 1), row(2, 8, 0, 4)]

test("sums columns by a number, by a text and by a column of the statement", () => {
  const result = ask(ROWS)
  expect(result.totals).toEqual([11, 115])
  expect(result.groups.map(({ key, sums: [clicks, impressions] }) => [key, clicks, impressions])).toEqual([
    [7, 5, 100],
    [9, 5, 10],
    [12_000_000, 1, 1],
    [8, 0, 4],
  ])
  expect(ask(ROWS, { by: "device" }).groups.map(({ key, sums: [clicks] }) => [key, clicks])).toEqual([
    ["mobile", 6],
    ["desktop", 5],
  ])
  const byDay = ask(ROWS, { by: "day", order: { of: "key", descending: true } })
  expect(byDay.groups.map(({ key, sums: [clicks] }) => [key, clicks])).toEqual([
    [2, 4],
    [1, 7],
  ])
})

test("orders by a ratio of sums, not by a mean of ratios, and keeps only what meets the conditions", () => {
  const byRatio = { order: { of: 0, per: 1, descending: false } } as const
  expect(ask(ROWS, byRatio).groups.map(({ key, value }) => [key, value])).toEqual([
    [8, 0],
    [7, 0.05],
    [9, 0.5],
    [12_000_000, 1],
  ])
  const kept = ask(ROWS, {
    keep: [
      { column: "device", values: ["mobile"] },
      { column: "term", values: [7, 9] },
    ],
  })
  expect([kept.totals, kept.groups.map(({ key }) => key)]).toEqual([[5, 100], [7]])
  expect(ask(ROWS, { keep: [{ column: "term", values: [-1] }] })).toEqual({ totals: [0, 0], groups: [], hasMore: false })
})

test("pages through all groups in the order of a plain sort, without gaps or doubles", () => {
  let state = SEED || 1
  const random = (limit: number): number => {
    state = (state * 48_271) % 2_147_483_647
    return state % limit
  }
  const rows = Array.from({ length: 3_000 }, () => row(random(9), random(400), random(4), 1 + random(20)))
  for (const order of [
    { of: 0, descending: true },
    { of: 1, descending: false },
    { of: 0, per: 1, descending: true },
    { of: "key", descending: false },
  ] as const) {
    const seen: SumsPlace[] = []
    for (let after: SumsPlace | undefined, more = true; more; ) {
      const page = ask(rows, { order, limit: 7, ...(after && { after }) })
      seen.push(...page.groups.map(({ key, value }) => ({ key, value })))
      after = seen.at(-1)
      more = page.hasMore
    }
    const plain = [...Map.groupBy(rows, ({ term }) => term)].map(([key, members]) => {
      const sum = (name: "clicks" | "impressions") => members.reduce((total, member) => total + member[name], 0)
      const values = [sum("clicks"), sum("impressions")]
      const value = order.of === "key" ? 0 : "per" in order ? values[0]! / values[1]! : values[order.of]!
      return { key, value }
    })
    plain.sort((a, b) => (order.descending ? b.value - a.value : a.value - b.value) || a.key - b.key)
    expect(seen).toEqual(plain)
  }
})
