import { afterAll, beforeAll, expect, test } from "bun:test"
import { plugins } from "../../plugins/index.ts"
import { IMPORT_PHASES, importKiller } from "../../scripts/reliability/kill-import.ts"
import { bySize, sample } from "../size.ts"

/** Number of kills per phase. */
const KILLS = bySize({ check: 1, full: 6, release: 60 })

const hasImports = plugins.some(({ id }) => id === "imports")

let killer: Awaited<ReturnType<typeof importKiller>>
beforeAll(async () => {
  killer = await importKiller()
})
afterAll(() => killer[Symbol.asyncDispose]())

test.skipIf(!hasImports).each(sample(IMPORT_PHASES).map((phase) => [phase] as const))(
  `${KILLS} kills while an import is in the phase %s leave the rows of an undisturbed run or none`,
  async (phase) => {
    const { faults, kills } = await killer.kill(phase, { kills: KILLS, seed: 7 })
    expect({ faults, kills }).toEqual({ faults: [], kills: KILLS })
  },
  60_000 + KILLS * 15_000,
)
