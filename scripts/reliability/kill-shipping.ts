/**
 * Verifies that `kill -9` of a node that ships its events to ClickHouse loses or duplicates no acknowledged event: at the moment of each kill
 * ClickHouse has all of them, so that the next node can also begin with an empty folder.
 * `bun scripts/reliability/kill-shipping.ts --kills 60 --seed 1 [--lose-folder]`
 */
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { parseArgs } from "node:util"
import { seededRandom } from "../../src/services/demo/random.ts"
import { quantile } from "../bench/timing.ts"
import { startServers } from "../clickhouse-servers.ts"
import { PROGRAM, prepareSite, serveFootfall } from "../instance.ts"
import { greatest, type KillResult, Load } from "./kill.ts"

interface KillOptions {
  kills: number
  seed: number
  /** Whether each kill also loses the data folder. What was not acknowledged is then not sent again: only the lost folder knew its ids. */
  losesFolder: boolean
  command?: readonly string[]
}

/** Number of events that are acknowledged at least before a kill. */
const ACKNOWLEDGED = 20
/** An acknowledgement never relies on the disk of the node alone. */
const SETTINGS = { ack_wait: "30000", backup_time: "off" }

export async function killShippingNode({ kills, seed, losesFolder, command = PROGRAM }: KillOptions): Promise<Omit<KillResult, "damaged">> {
  const folder = mkdtempSync(join(tmpdir(), "footfall-kill-"))
  const random = seededRandom(seed)
  const load = new Load()
  const restarts: number[] = []
  let worst = { lost: 0, doubled: 0 }
  try {
    await using servers = await startServers(folder, SETTINGS)
    const { flags, storedNumbers } = servers
    const folderOf = (kill: number) => join(folder, `data-${losesFolder ? kill : 0}`)
    const site = await prepareSite(command, folderOf(0), flags)
    for (let kill = 0; kill < kills; kill++) {
      const dataDir = folderOf(kill)
      const from = performance.now()
      await using server = await serveFootfall({ command, dataDir, flags })
      restarts.push(performance.now() - from)
      const clients = load.run(server.address, site)
      // On a busy machine ClickHouse takes long to confirm the first events.
      for (const before = load.acknowledged.size; load.acknowledged.size < before + ACKNOWLEDGED; ) await Bun.sleep(20)
      await Bun.sleep(random.below(1_000))
      await server.kill("SIGKILL")
      await clients
      if (losesFolder) {
        rmSync(dataDir, { recursive: true })
        load.giveUpUnanswered()
      }
      worst = greatest(worst, load.compare(await storedNumbers(site.siteId)))
    }
    await using server = await serveFootfall({ command, dataDir: folderOf(kills), flags })
    await load.finish(server.address, site)
    worst = greatest(worst, load.compare(await storedNumbers(site.siteId)))
    return { kills, acknowledged: load.acknowledged.size, ...worst, restartP95Ms: Math.round(quantile(restarts, 0.95)) }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

if (import.meta.main) {
  const { values } = parseArgs({
    options: {
      kills: { type: "string", default: "20" },
      seed: { type: "string", default: "1" },
      "lose-folder": { type: "boolean", default: false },
    },
  })
  console.log(await killShippingNode({ kills: Number(values.kills), seed: Number(values.seed), losesFolder: values["lose-folder"] }))
}
