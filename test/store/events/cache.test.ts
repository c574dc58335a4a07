import { describe, expect, test } from "bun:test"
import { ColumnCache } from "../../../src/store/events/cache.ts"

const COLUMN_BYTES = 1 << 20
const LIMIT = 64 << 20
/** Number of columns that the cache holds, and of those that were read in passing. */
const ALL = LIMIT / COLUMN_BYTES
const PASSING = 16

const column = () => new Uint32Array(COLUMN_BYTES / 4)
const names = (of: string, count: number) => Array.from({ length: count }, (_, number) => `${of} ${number}`)

function read(cache: ColumnCache, keys: readonly string[], isPassing = false): void {
  cache.beginReport(isPassing)
  for (const key of keys) if (!cache.get(key)) cache.set(key, column())
}

function cached(cache: ColumnCache, keys: readonly string[]): number {
  cache.beginReport(true)
  return keys.filter((key) => cache.get(key)).length
}

describe("cache of columns", () => {
  test("keeps the columns of reports while others are read in passing", () => {
    const cache = new ColumnCache(LIMIT)
    const report = names("report", ALL - PASSING)
    read(cache, report)
    read(cache, names("export", 5 * ALL), true)
    expect(cached(cache, report)).toBe(report.length)
  })

  test("holds few columns that were read in passing, those that were used last", () => {
    const cache = new ColumnCache(LIMIT)
    const keys = names("export", 2 * PASSING)
    read(cache, keys.slice(0, PASSING), true)
    read(cache, [keys[0]!, ...keys.slice(PASSING, -1)], true)
    expect(cached(cache, keys)).toBe(PASSING)
    expect(cached(cache, [keys[0]!])).toBe(1)
    expect(cached(cache, keys.slice(1, PASSING))).toBe(0)
  })

  test("keeps a column that was read in passing once a report has used it", () => {
    const cache = new ColumnCache(LIMIT)
    read(cache, names("shared", 4), true)
    read(cache, names("shared", 4))
    read(cache, names("export", 2 * ALL), true)
    expect(cached(cache, names("shared", 4))).toBe(4)
  })

  test("evicts what was read in passing before the columns of reports, and stays within its limit", () => {
    const cache = new ColumnCache(LIMIT)
    read(cache, names("export", PASSING), true)
    read(cache, names("report", ALL))
    expect(cached(cache, names("export", PASSING))).toBe(0)
    expect(cached(cache, names("report", ALL))).toBe(ALL)
    read(cache, names("export", PASSING), true)
    expect(cached(cache, [...names("report", ALL), ...names("export", PASSING)])).toBe(ALL)
  })

  test("takes at most half of a small cache for what is read in passing", () => {
    const cache = new ColumnCache(4 * COLUMN_BYTES)
    read(cache, names("report", 2))
    read(cache, names("export", 20), true)
    expect(cached(cache, names("export", 20))).toBe(2)
    expect(cached(cache, names("report", 2))).toBe(2)
  })
})
