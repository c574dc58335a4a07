import { expect, test } from "bun:test"
import { canKillAtCalls, killAtCalls } from "../../scripts/reliability/kill-at.ts"
import { OPERATIONS, type OperationName } from "../../scripts/reliability/killed-operations.ts"
import { bySize } from "../size.ts"

/** Kills of each operation, spread over its calls; a release run kills at every one. */
const POINTS = bySize({ check: 2, full: 6, release: 1_000 })

// The library that kills is compiled by `cc`; without it the proof is skipped and counted so.
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
