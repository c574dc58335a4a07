/**
 * Verifies the behaviour on a full disk: events are rejected with 503, reads keep working, events are accepted again without a
 * restart, and exactly the acknowledged events are stored. Needs root to mount a small file system.
 * `bun scripts/reliability/disk-full.ts --cycles 20`
 */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { parseArgs } from "node:util"
import type { ClickhouseServers } from "../clickhouse-servers.ts"
import { askStats, PROGRAM, type Prepared, prepareSite, serveFootfall } from "../instance.ts"
import { sendNumbered, storedNumbers } from "./numbered-events.ts"

const DISK = "20m"
/** Freed space: more than the write-ahead log that a full disk leaves behind, which must fit into the store again. */
const BALLAST_BYTES = 10 << 20
const WAIT_MS = 60_000

export interface DiskFullResult {
  acknowledged: number
  /** Events that were acknowledged and not stored, stored and not acknowledged, or stored twice. */
  different: number
  refused: number
  /** Reads that were not answered with 200 while the disk was full. */
  failedReads: number
  /** Time from the moment space was freed to the first 202. */
  recoveryMs: number
  integrity: string
}

interface DiskOptions {
  command?: readonly string[]
  /** The servers of a node that ships its events. Default: the events are in the data folder only. */
  servers?: Pick<ClickhouseServers, "flags" | "storedNumbers">
}

/** Fills and frees a small disk. Returns undefined if this machine does not allow mounting. */
export async function fillTheDisk({ command = PROGRAM, servers }: DiskOptions = {}): Promise<DiskFullResult | undefined> {
  using disk = smallDisk()
  if (!disk) return undefined
  const dataDir = join(disk.path, "data")
  const flags = servers?.flags ?? []
  const site = await prepareSite(command, dataDir, flags)
  const load = new Load(site)
  await using server = await serveFootfall({ command, dataDir, flags: [...flags, "--backup-time", "off"] })
  const ballast = join(disk.path, "ballast")
  writeFileSync(ballast, new Uint8Array(BALLAST_BYTES))
  await load.untilRefused(server.address)
  let failedReads = 0
  for (let read = 0; read < 10; read++) failedReads += await fails(askStats(server.address, site, "summary?period=7d"))
  rmSync(ballast)
  const recoveryMs = await load.untilAccepted(server.address)
  await server.kill("SIGKILL")
  const { numbers, integrity } = storedNumbers(dataDir, site.siteId)
  const different = load.differences(numbers) + (servers ? load.differences(await servers.storedNumbers(site.siteId)) : 0)
  return { acknowledged: load.accepted, different, integrity, refused: load.refused, failedReads, recoveryMs: Math.round(recoveryMs) }
}

const fails = (answer: Promise<unknown>): Promise<number> =>
  answer.then(
    () => 0,
    () => 1,
  )

class Load {
  readonly #site: Prepared
  readonly #acknowledged = new Set<number>()
  #next = 1
  refused = 0

  constructor(site: Prepared) {
    this.#site = site
  }

  async #send(address: string, props: object): Promise<number> {
    const number = this.#next++
    const status = await sendNumbered(address, this.#site, number, { p: props })
    if (status === 202) this.#acknowledged.add(number)
    else if (status === 503) this.refused++
    else throw new Error(`An event was answered with ${status}`)
    return status
  }

  /** Large properties fill a small disk within seconds. */
  async untilRefused(address: string): Promise<void> {
    const large = () => Object.fromEntries(Array.from({ length: 20 }, (_, key) => [`key${key}`, crypto.randomUUID().repeat(50)]))
    await within(WAIT_MS, async () => (await this.#send(address, large())) === 503)
  }

  async untilAccepted(address: string): Promise<number> {
    const from = performance.now()
    await within(WAIT_MS, async () => {
      await Bun.sleep(50)
      return (await this.#send(address, {})) === 202
    })
    return performance.now() - from
  }

  get accepted(): number {
    return this.#acknowledged.size
  }

  /** Returns how many events were acknowledged and not stored, stored and not acknowledged, or stored twice. */
  differences(stored: ReadonlyMap<number, number>): number {
    const repeated = [...stored.values()].filter((times) => times > 1).length
    return new Set(stored.keys()).symmetricDifference(this.#acknowledged).size + repeated
  }
}

async function within(ms: number, reached: () => Promise<boolean>): Promise<void> {
  const over = performance.now() + ms
  while (!(await reached())) if (performance.now() > over) throw new Error(`Not reached within ${ms / 1_000} s`)
}

/** Reports whether a small file system can be mounted: on Linux, as root, and not in a container that forbids it. */
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
  for (let cycle = 0; cycle < Number(values.cycles); cycle++)
    console.log((await fillTheDisk()) ?? "not run: mounting a small disk needs root")
}
