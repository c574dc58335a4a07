import { describe, expect, test } from "bun:test"
import { type Coverage, coverageReader, coveredTo, NO_COVERAGE } from "../../sources/server-log/coverage.ts"
import { isDue, waitingSince } from "../../sources/server-log/open-visits.ts"

const KEY = new Uint8Array(32).fill(1)
const START = Date.parse("2024-02-01T00:00:00Z")
const minute = (number: number) => START + number * 60_000
/** Returns a line for each minute of a range, both ends inclusive. */
const minutes = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, index) => from + index)

/** Reads files whose lines are named by their minute. Returns the lines that are new. */
function run(
  before: Coverage,
  files: readonly (readonly (number | string)[])[],
  key = KEY,
): { added: (number | string)[]; after: Coverage } {
  const reader = coverageReader(before, key)
  const added: (number | string)[] = []
  for (const lines of files) {
    reader.startFile()
    for (const line of lines) {
      const at = minute(typeof line === "number" ? line : Number.parseFloat(line))
      if (!reader.isCovered(at, `line ${line}`)) added.push(line)
    }
  }
  return { added, after: reader.finish() }
}
const intervals = ({ intervals }: Coverage) => intervals.map(([from, to]) => [(from - START) / 60_000, (to - START) / 60_000])

describe("coverage of a stream", () => {
  const day = run(NO_COVERAGE, [minutes(0, 60)])

  test.each([
    ["the same lines", [minutes(0, 60)], [], [[0, 60]]],
    ["a log that has grown", [minutes(0, 70)], minutes(61, 70), [[0, 70]]],
    ["only the new part", [minutes(61, 70)], minutes(61, 70), [[0, 70]]],
    ["a rotated file and the new one", [minutes(40, 60), minutes(61, 65)], minutes(61, 65), [[0, 65]]],
    ["the same new lines in two files", [minutes(61, 65), minutes(61, 66)], minutes(61, 66), [[0, 66]]],
    [
      "a later log",
      [minutes(200, 210)],
      minutes(200, 210),
      [
        [0, 60],
        [200, 210],
      ],
    ],
    [
      "an earlier log",
      [minutes(-60, -30)],
      minutes(-60, -30),
      [
        [-60, -30],
        [0, 60],
      ],
    ],
    ["lines within the interval that were not there", [["30.5"]], [], [[0, 60]]],
    ["late lines near the end", [["57.5", 58, "58.2"]], ["57.5", "58.2"], [[0, 60]]],
    ["late lines near the start", [["2.5", 2, "-2.5"]], ["2.5", "-2.5"], [[-2.5, 60]]],
  ] as const)("reads %s", (_, files, added, covered) => {
    const second = run(day.after, files)
    expect(second.added).toEqual([...added])
    expect(intervals(second.after)).toEqual(covered as unknown as number[][])
    expect(run(second.after, files).added).toEqual([])
  })

  test("reads a range that was left out between two others, with its boundaries", () => {
    const apart = run(day.after, [minutes(121, 180)])
    const filled = run(apart.after, [minutes(50, 130)])
    expect(filled.added).toEqual(minutes(61, 120))
    expect(intervals(filled.after)).toEqual([[0, 180]])
  })

  test("keeps the pauses of a file open", () => {
    const quiet = run(NO_COVERAGE, [[0, 20, 40]])
    expect(run(quiet.after, [[0, 10, 20, 30, 40]]).added).toEqual([10, 30])
  })

  test("closes pauses of up to an hour after 30 days", () => {
    const quiet = run(NO_COVERAGE, [[0, 20, 40, 200], minutes(44_000, 44_010)])
    expect(intervals(quiet.after)).toEqual([
      [0, 40],
      [200, 200],
      [44_000, 44_010],
    ])
  })

  test("reads a second line that equals one that is known", () => {
    const once = run(NO_COVERAGE, [[0, 1, 1, 2]])
    expect(once.added).toEqual([0, 1, 1, 2])
    expect(run(once.after, [[0, 1, 1, 1, 2]]).added).toEqual([1])
  })

  test("accepts lines that are out of order", () => {
    const mixed = run(NO_COVERAGE, [[3, 1, 2, 7, 5, 12, 9]])
    expect(intervals(mixed.after)).toEqual([[1, 12]])
    expect(run(mixed.after, [[1, 2, 3, 5, 7, 9, 12]]).added).toEqual([])
  })

  test("stores neither lines nor hashes that another key would give", () => {
    const other = run(NO_COVERAGE, [minutes(0, 60)], new Uint8Array(32).fill(2))
    expect(other.after.lines).not.toBe(day.after.lines)
    expect(JSON.stringify(day.after)).not.toContain("line ")
  })

  test("stores the lines near the boundaries only", () => {
    // Six lines near each end, of ten bytes.
    expect(Buffer.from(day.after.lines, "base64").length).toBe(120)
    expect(coveredTo(day.after)).toBe(minute(60))
    expect(coveredTo(NO_COVERAGE)).toBeUndefined()
  })

  test("keeps little of a long log in memory", () => {
    const long = run(NO_COVERAGE, [minutes(0, 20_000)])
    expect(intervals(long.after)).toEqual([[0, 20_000]])
    expect(Buffer.from(long.after.lines, "base64").length).toBe(120)
  })
})

describe("visits that are open at the end of a run", () => {
  /** Returns the minute since which a visit waits. Its rows wait since the given minutes, those of this run since none. */
  const waits = (rows: (number | undefined)[], lastAt: number, now: number) => {
    const visit = rows.map((since) => (since === undefined ? {} : { since: minute(since) }))
    const since = waitingSince(visit, { lastAt: minute(lastAt), readTo: minute(60), now: minute(now) })
    return since === undefined ? "complete" : (since - START) / 60_000
  }

  test.each([
    ["a visit whose last event is recent", [undefined, undefined], 40, 62, 62],
    ["a visit that a late line can join", [undefined], 25, 62, 62],
    ["a visit whose last event is over 35 minutes old", [undefined], 24, 62, "complete"],
    ["a visit that goes on", [40, undefined], 45, 62, 40],
    ["a visit that did not go on", [40], 10, 62, "complete"],
    ["a visit that has waited 30 minutes", [32, undefined], 55, 62, "complete"],
  ] as const)("handles %s", (_, rows, lastAt, now, expected) => {
    expect(waits([...rows], lastAt, now)).toBe(expected)
  })

  test("lets rows wait no longer than 30 minutes", () => {
    expect([isDue(minute(0), minute(29)), isDue(minute(0), minute(30))]).toEqual([false, true])
  })
})
