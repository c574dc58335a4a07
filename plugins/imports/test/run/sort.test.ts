import { describe, expect, test } from "bun:test"
import { existsSync, readdirSync } from "node:fs"
import { join } from "node:path"
import { temporaryFolder } from "#plugin/test"
import { LineWriter, linesOf } from "../../run/files.ts"
import { ExternalSort } from "../../run/stage/sort.ts"

const MAX_RANK = 2 ** 44 - 1
const RANKS = [0, 1, 4_095, 4_096, 4_097, 2 ** 32 - 1, 2 ** 32, MAX_RANK - 1, MAX_RANK]
const TIES = ["", "a", "b", "aa", "é", "日本", "z".repeat(300)]

/** Records in an order that depends on nothing but their number. */
const records = (count: number) =>
  Array.from({ length: count }, (_, number) => ({
    rank: RANKS[(number * 7) % RANKS.length]!,
    tie: TIES[(number * 13) % TIES.length]!,
    rest: ` ${number}${number % 50 === 0 ? "x".repeat(5_000) : ""}`,
  }))

const inOrder = (given: ReturnType<typeof records>): string[] =>
  given.toSorted((a, b) => a.rank - b.rank || Buffer.compare(Buffer.from(a.tie), Buffer.from(b.tie))).map(({ tie, rest }) => tie + rest)

describe("the external sort", () => {
  // In memory, in chunks that are merged at once, and in chunks that are merged in several passes.
  for (const options of [{}, { chunkBytes: 2_000 }, { chunkBytes: 2_000, fanIn: 3 }]) {
    test(`orders by rank, then by the first part, then as added ${JSON.stringify(options)}`, () => {
      using folder = temporaryFolder()
      const path = join(folder.path, "sort")
      for (const count of [0, 1, 2, 700]) {
        const sort = new ExternalSort(path, options)
        const given = records(count)
        for (const { rank, tie, rest } of given) sort.add(rank, tie, rest)
        expect([...sort.sorted()]).toEqual(inOrder(given))
        expect(existsSync(path)).toBe(false)
      }
    })
  }

  test("keeps its records in chunks of the given size", () => {
    using folder = temporaryFolder()
    const sort = new ExternalSort(folder.path, { chunkBytes: 2_000 })
    for (let number = 0; number < 100; number++) sort.add(number, "", "x".repeat(180))
    // Room is kept for characters of three bytes: 16 + 3 × 180 bytes.
    expect(readdirSync(folder.path).length).toBeGreaterThan(8)
  })
})

test("lines are read as they were written, whatever their length", () => {
  using folder = temporaryFolder()
  const path = join(folder.path, "lines")
  const lines = ["", "a", "é".repeat(40_000), "x".repeat(65_535), "y".repeat(65_536), "z".repeat(300_000), "last"]
  const writer = new LineWriter(path)
  for (const line of lines) writer.write(line)
  writer.close()
  expect([...linesOf(path)]).toEqual(lines)
})
