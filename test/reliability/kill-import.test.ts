import { expect, test } from "bun:test"
import { plugins } from "../../plugins/index.ts"
import { IMPORT_PHASES, killImport } from "../../scripts/reliability/kill-import.ts"
import { bySize } from "../size.ts"

/** Number of kills per phase. */
const KILLS = bySize({ check: 1, full: 6, release: 60 })

test.skipIf(!plugins.some(({ id }) => id === "imports")).each(IMPORT_PHASES.map((phase) => [phase] as const))(
  `${KILLS} kills while an import is in the phase %s leave the rows of an undisturbed run or none`,
  async (phase) => {
    const { faults, kills } = await killImport(phase, { kills: KILLS, seed: 7 })
    expect({ faults, kills }).toEqual({ faults: [], kills: KILLS })
  },
  60_000 + KILLS * 15_000,
)
