import { expect, test } from "bun:test"
import { killInPhase } from "../../scripts/reliability/kill-in-phase.ts"
import { PHASES } from "../../scripts/reliability/phases.ts"

/** Six kills of each phase on every run; `FOOTFALL_TEST_PHASE_KILLS=60 bun test test/reliability` for a release. */
const KILLS = Number(process.env.FOOTFALL_TEST_PHASE_KILLS ?? 6)

test.each(PHASES.map((phase) => [phase] as const))(
  `nothing acknowledged is lost or doubled by ${KILLS} kills during %s`,
  async (phase) => {
    const { faults, kills, acknowledged, rounds } = await killInPhase(phase, { kills: KILLS, seed: 7 })
    expect({ faults, kills }).toEqual({ faults: [], kills: KILLS })
    expect(acknowledged).toBeGreaterThan(0)
    expect(rounds).toBeGreaterThan(0)
  },
  KILLS * 10_000,
)
