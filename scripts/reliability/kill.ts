/**
 * Verifies that `kill -9` at random moments under load loses or duplicates no acknowledged event, also if the sender retries with the
 * same id. `bun scripts/reliability/kill.ts --kills 200 --seed 1`
 */
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { parseArgs } from "node:util"
import { seededRandom } from "../../src/services/demo/random.ts"
import { quantile } from "../bench/timing.ts"
import { PROGRAM, type Prepared, prepareSite, serveFootfall } from "../instance.ts"
import { sendNumbered, storedNumbers } from "./numbered-events.ts"

const CLIENTS = 32

export interface KillResult {
  kills: number
  acknowledged: number
  lost: number
  doubled: number
  /** Number of faults that `integrity_check` found over all kills. */
  damaged: number
  /** Time from the start of the process until it listens. */
  restartP95Ms: number
}

interface KillOptions {
  kills: number
  seed: number
  command?: readonly string[]
}

export async function killUnderLoad({ kills, seed, command = PROGRAM }: KillOptions): Promise<KillResult> {
  const dataDir = mkdtempSync(join(tmpdir(), "footfall-kill-"))
  const random = seededRandom(seed)
  const load = new Load()
  const restarts: number[] = []
  let worst = { lost: 0, doubled: 0, damaged: 0 }
  try {
    const site = await prepareSite(command, dataDir)
    for (let kill = 0; kill < kills; kill++) {
      const from = performance.now()
      await using server = await serveFootfall({ command, dataDir })
      restarts.push(performance.now() - from)
      const clients = load.run(server.address, site)
      await Bun.sleep(50 + random.below(250))
      await server.kill("SIGKILL")
      await clients
      worst = worstOf(worst, judge(load, dataDir, site))
    }
    // Interrupted events are sent again; then every number must be stored once.
    await using server = await serveFootfall({ command, dataDir })
    await load.finish(server.address, site)
    await server.kill("SIGKILL")
    worst = worstOf(worst, judge(load, dataDir, site))
    return { kills, acknowledged: load.acknowledged.size, ...worst, restartP95Ms: Math.round(quantile(restarts, 0.95)) }
  } finally {
    rmSync(dataDir, { recursive: true, force: true })
  }
}

type Faults = Pick<KillResult, "lost" | "doubled" | "damaged">
const worstOf = (left: Faults, right: Faults): Faults => ({ ...greatest(left, right), damaged: left.damaged + right.damaged })

function judge(load: Load, dataDir: string, { siteId }: Prepared): Faults {
  const { numbers, integrity } = storedNumbers(dataDir, siteId)
  return { ...load.compare(numbers), damaged: integrity === "ok" ? 0 : 1 }
}

/** Numbers of acknowledged events that are not stored, and of stored ones that are there twice. */
type Differences = Pick<KillResult, "lost" | "doubled">
export const greatest = (left: Differences, right: Differences): Differences => ({
  lost: Math.max(left.lost, right.lost),
  doubled: Math.max(left.doubled, right.doubled),
})

/** Starts clients that send numbers until the server stops answering, beginning with those that had no answer before. */
export class Load {
  readonly acknowledged = new Set<number>()
  #unanswered: number[] = []
  #next = 1

  async run(address: string, site: Prepared): Promise<void> {
    const again = this.#unanswered
    this.#unanswered = []
    await Promise.all(Array.from({ length: CLIENTS }, () => this.#client(address, site, again)))
    this.#unanswered.push(...again)
  }

  async #client(address: string, site: Prepared, again: number[]): Promise<void> {
    for (let answered = true; answered; ) answered = await this.#send(address, site, again.pop() ?? this.#next++)
  }

  async #send(address: string, site: Prepared, number: number): Promise<boolean> {
    const status = await sendNumbered(address, site, number)
    if (status === 202) this.acknowledged.add(number)
    else this.#unanswered.push(number)
    return status !== 0
  }

  async finish(address: string, site: Prepared): Promise<void> {
    const left = this.#unanswered
    this.#unanswered = []
    for (const number of left) await this.#send(address, site, number)
    if (this.#unanswered.length > 0) throw new Error(`${this.#unanswered.length} events were refused by a healthy server`)
  }

  /** Sends nothing again that had no answer. */
  giveUpUnanswered(): void {
    this.#unanswered = []
  }

  /** Compares what was acknowledged with how often each number is stored. */
  compare(stored: ReadonlyMap<number, number>): Differences {
    const lost = [...this.acknowledged].filter((number) => !stored.has(number)).length
    return { lost, doubled: [...stored.values()].filter((times) => times > 1).length }
  }
}

if (import.meta.main) {
  const { values } = parseArgs({ options: { kills: { type: "string", default: "20" }, seed: { type: "string", default: "1" } } })
  console.log(await killUnderLoad({ kills: Number(values.kills), seed: Number(values.seed) }))
}
