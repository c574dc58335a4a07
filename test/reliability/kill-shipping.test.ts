import { describe, expect, test } from "bun:test"
import { killShippingNode } from "../../scripts/reliability/kill-shipping.ts"
import { bySize } from "../size.ts"
import { hasClickhouse } from "../store/clickhouse/server.ts"

const KILLS = bySize({ check: 3, full: 10, release: 100 })

describe.skipIf(!hasClickhouse())("a node that ships to ClickHouse", () => {
  test.each([
    ["", false],
    [" with the loss of its folder", true],
  ])(
    `${KILLS} kills under load%s lose or duplicate no acknowledged event`,
    async (_, losesFolder) => {
      const { acknowledged, restartP95Ms: _time, ...result } = await killShippingNode({ kills: KILLS, seed: 7, losesFolder })
      expect(result).toEqual({ kills: KILLS, lost: 0, doubled: 0 })
      expect(acknowledged).toBeGreaterThanOrEqual(KILLS * 20)
    },
    60_000 + KILLS * 30_000,
  )
})
