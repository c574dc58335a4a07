import { expect, test } from "bun:test"
import { killInPhase } from "../../scripts/reliability/kill-in-phase.ts"
import { PHASES } from "../../scripts/reliability/phases.ts"
import { bySize } from "../size.ts"

/** Number of kills per phase. */
const KILLS = bySize({ check: 2, full: 6, release: 60 })

test.each(PHASES.map((phase) => [phase] as const))(
  `${KILLS} kills during %s lose or duplicate nothing that was acknowledged`,
  async (phase) => {
    const { faults, kills, acknowledged, rounds } = await killInPhase(phase, { kills: KILLS, seed: 7 })
    expect({ faults, kills }).toEqual({ faults: [], kills: KILLS })
    expect(acknowledged).toBeGreaterThan(0)
    expect(rounds).toBeGreaterThan(0)
  },
  60_000 + KILLS * 10_000,
)
