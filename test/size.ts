import { test } from "bun:test"

/**
 * The three sizes of the long tests. `check` runs on every change, `full` is `bun run check:full`, for a resolved issue and before a
 * release, and `release` is started by hand with `FOOTFALL_TEST_SIZE=release`. A smaller size repeats a test less often, and omits
 * one only if a larger size includes it.
 */
const SIZES = ["check", "full", "release"] as const
type Size = (typeof SIZES)[number]

const SIZE: Size = readSize(process.env.FOOTFALL_TEST_SIZE)

/** Seed of the random tests. Fixed, so that every run is the same; `FOOTFALL_TEST_SEED` sets another one. */
export const SEED = Number(process.env.FOOTFALL_TEST_SEED ?? 7)

/** Number of random tables that are compared with the oracle. */
export const ORACLE_QUERIES = bySize({ check: 100, full: 600, release: 20_000 })

/** Returns the value for the size of this run. */
export function bySize<Value>(values: Record<Size, Value>): Value {
  return values[SIZE]
}

/**
 * Returns all elements, or every third one in the smallest size, whose runs would otherwise repeat a proof for each screen, command or
 * phase.
 */
export const sample = <Element>(all: readonly Element[]): readonly Element[] =>
  bySize({ check: all.filter((_, index) => index % 3 === 0), full: all, release: all })

/** A test that takes long by its nature, and runs from `full` on. */
export const longTest = bySize({ check: test.skip, full: test, release: test })

function readSize(given = "check"): Size {
  const size = SIZES.find((one) => one === given)
  if (!size) throw new Error(`FOOTFALL_TEST_SIZE is "${given}", but must be one of: ${SIZES.join(", ")}.`)
  return size
}
