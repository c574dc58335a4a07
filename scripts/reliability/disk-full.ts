/**
 * A full disk: events are refused with 503, reads go on, and acceptance comes back without a restart; what is stored is what
 * was acknowledged. Needs root, for a small file system of its own. `bun scripts/reliability/disk-full.ts --cycles 20`
 */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { parseArgs } from "node:util"
import { askStats, FROM_SOURCE, type Prepared, prepareSite, serveFootfall } from "../instance.ts"
import { sendNumbered, storedNumbers } from "./numbered-events.ts"

const DISK = "8m"
const BALLAST_BYTES = 2 << 20
const WAIT_MS = 60_000

export interface DiskFullResult {
  acknowledged: number
  /** Acknowledged and not stored, or stored and not acknowledged. */
  different: number
  refused: number
  /** Answers to reads that were no 200 while the disk was full. */
  failedReads: number
  /** From the moment space came back to the first 202, the longest of all cycles. */
  recoveryMs: number
  integrity: string
}

/** Undefined when this machine lets us mount nothing. */
export async function fillTheDisk({ cycles = 1, command = FROM_SOURCE } = {}): Promise<DiskFullResult | undefined> {
  using disk = smallDisk()
  if (!disk) return undefined
  const dataDir = join(disk.path, "data")
  const site = await prepareSite(command, dataDir)
  const load = new Load(site)
  let failedReads = 0
  let recoveryMs = 0
  await using server = await serveFootfall({ command, dataDir, flags: ["--backup-time", "off"] })
  for (let cycle = 0; cycle < cycles; cycle++) {
    const ballast = join(disk.path, `ballast-${cycle}`)
    writeFileSync(ballast, new Uint8Array(BALLAST_BYTES / cycles))
    await load.untilRefused(server.address)
    for (let read = 0; read < 10; read++)
      failedReads += await askStats(server.address, site, "summary?period=7d").then(
        () => 0,
        () => 1,
      )
    rmSync(ballast)
    recoveryMs = Math.max(recoveryMs, await load.untilAccepted(server.address))
  }
  await server.kill("SIGKILL")
  return { ...load.compare(dataDir), refused: load.refused, failedReads, recoveryMs: Math.round(recoveryMs) }
}

class Load {
  readonly #site: Prepared
  readonly #acknowledged = new Set<number>()
  #next = 1
  refused = 0

  constructor(site: Prepared) {
    this.#site = site
  }

  /** Large properties fill a small disk within seconds. */
  async #send(address: string): Promise<number> {
    const number = this.#next++
    const props = Object.fromEntries(Array.from({ length: 20 }, (_, key) => [`key${key}`, crypto.randomUUID().repeat(50)]))
    const status = await sendNumbered(address, this.#site, number, { p: props })
    if (status === 202) this.#acknowledged.add(number)
    else if (status === 503) this.refused++
    else throw new Error(`An event was answered with ${status}`)
    return status
  }

  async untilRefused(address: string): Promise<void> {
    await this.#until(503, address)
  }

  async untilAccepted(address: string): Promise<number> {
    const from = performance.now()
    await this.#until(202, address)
    return performance.now() - from
  }

  async #until(status: number, address: string): Promise<void> {
    const over = performance.now() + WAIT_MS
    while ((await this.#send(address)) !== status) {
      if (performance.now() > over) throw new Error(`No ${status} within ${WAIT_MS / 1_000} s`)
      if (status === 202) await Bun.sleep(50)
    }
  }

  compare(dataDir: string): Pick<DiskFullResult, "acknowledged" | "different" | "integrity"> {
    const { numbers, integrity } = storedNumbers(dataDir, this.#site.siteId)
    const stored = new Set(numbers.keys())
    return { acknowledged: this.#acknowledged.size, different: stored.symmetricDifference(this.#acknowledged).size, integrity }
  }
}

/** Whether this machine lets us make a small file system: Linux, root, and no container that forbids it. */
export function canMountDisk(): boolean {
  using disk = smallDisk()
  return disk !== undefined
}

function smallDisk(): ({ path: string } & Disposable) | undefined {
  const path = mkdtempSync(join(tmpdir(), "footfall-disk-"))
  const mounted = process.getuid?.() === 0 && Bun.spawnSync(["mount", "-t", "tmpfs", "-o", `size=${DISK}`, "tmpfs", path]).success
  if (!mounted) {
    rmSync(path, { recursive: true })
    return undefined
  }
  return {
    path,
    [Symbol.dispose]() {
      Bun.spawnSync(["umount", "--lazy", path])
      rmSync(path, { recursive: true, force: true })
    },
  }
}

if (import.meta.main) {
  const { values } = parseArgs({ options: { cycles: { type: "string", default: "1" } } })
  console.log((await fillTheDisk({ cycles: Number(values.cycles) })) ?? "not run: mounting a small disk needs root")
}
