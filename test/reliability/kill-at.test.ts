import { expect, test } from "bun:test"
import { canKillAtCalls, killAtCalls } from "../../scripts/reliability/kill-at.ts"
import { OPERATIONS, type OperationName } from "../../scripts/reliability/killed-operations.ts"
import { bySize } from "../size.ts"

/** Number of kills per operation, spread over its calls. A release run kills at every call. */
const POINTS = bySize({ check: 2, full: 6, release: 1_000 })

// `cc` compiles the library that kills the process. Without it the test is skipped and counted as skipped.
test.skipIf(!canKillAtCalls()).each(Object.keys(OPERATIONS) as OperationName[])(
  "%s leaves a data folder that the next start can use when it is killed at an fsync or a rename",
  async (name) => {
    const { faults, killed, calls } = await killAtCalls(name, { calls: "sync", points: POINTS })
    expect(faults).toEqual([])
    expect(killed).toBeGreaterThan(0)
    expect(calls).toBeGreaterThanOrEqual(killed)
  },
  120_000 + POINTS * 20_000,
)
