import { expect, test } from "bun:test"
import { killUnderLoad } from "../../scripts/reliability/kill.ts"
import { bySize } from "../size.ts"

const KILLS = bySize({ check: 5, full: 20, release: 200 })

test(
  `${KILLS} kills under load lose or duplicate no acknowledged event`,
  async () => {
    const { lost, doubled, damaged, acknowledged, kills } = await killUnderLoad({ kills: KILLS, seed: 7 })
    expect({ lost, doubled, damaged, kills }).toEqual({ lost: 0, doubled: 0, damaged: 0, kills: KILLS })
    expect(acknowledged).toBeGreaterThan(KILLS * 10)
  },
  KILLS * 15_000,
)
