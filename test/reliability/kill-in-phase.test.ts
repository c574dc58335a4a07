import { describe, expect, test } from "bun:test"
import { killInPhase } from "../../scripts/reliability/kill-in-phase.ts"
import { PHASES, SHIPPED_PHASES } from "../../scripts/reliability/phases.ts"
import { migrateClickhouse } from "../../src/store/clickhouse/migrate.ts"
import { bySize } from "../size.ts"
import { hasClickhouse, startClickhouse } from "../store/clickhouse/server.ts"

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

describe.skipIf(!hasClickhouse())("a store that ships to ClickHouse", () => {
  test.each(SHIPPED_PHASES.map((phase) => [phase] as const))(
    `${KILLS} kills during %s leave the visits of the store on ClickHouse, each once`,
    async (phase) => {
      await using clickhouse = await startClickhouse()
      await migrateClickhouse(clickhouse.clickhouse, { version: "1.0.0", now: 1 })
      const { faults, kills, acknowledged, rounds } = await killInPhase(phase, { kills: KILLS, seed: 7, clickhouse })
      expect(acknowledged).toBeGreaterThan(0)
      expect({ faults, kills }).toEqual({ faults: [], kills: KILLS })
      expect(rounds).toBeGreaterThan(0)
    },
    120_000 + KILLS * 20_000,
  )
})
