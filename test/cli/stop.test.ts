import { expect, setDefaultTimeout, test } from "bun:test"
import { existsSync, readdirSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { temporaryFolder } from "../kit.ts"
import { bySize } from "../size.ts"
import { createInstance, footfall, serving } from "./footfall.ts"
import { clients, send, storedPages } from "./load.ts"

// Each test starts processes, which is slow on a busy machine.
setDefaultTimeout(300_000)

const STOPS = bySize({ check: 1, full: 3, release: 100 })
const KILLS = bySize({ check: 2, full: 4, release: 200 })

async function makeSite(dataDir: string): Promise<void> {
  await createInstance(dataDir)
  await footfall(["site", "create", "--name", "Shop", "--hosts", "shop.example", "--data-dir", dataDir])
}

/** Compares the acknowledged pages with the stored ones. An interrupted request may be stored as well, because it was not answered. */
function compare(acknowledged: readonly string[], dataDir: string): { lost: string[]; doubled: string[] } {
  const stored = storedPages(dataDir)
  return {
    lost: acknowledged.filter((page) => !stored.has(page)),
    doubled: [...stored].filter(([, count]) => count > 1).map(([page]) => page),
  }
}

test("a stop under load loses nothing, exits with 0 and leaves no lock or socket behind", async () => {
  using folder = temporaryFolder()
  await makeSite(folder.path)
  for (let round = 0; round < STOPS; round++) {
    await using server = await serving(folder.path, "--limit-visitor-events", "0")
    const load = clients(server.address, 8, `stop${round}`)
    await load.reach(30)
    await Bun.sleep((round % 10) * 40)
    const begun = performance.now()
    expect(await server.end("SIGTERM")).toBe(0)
    expect(performance.now() - begun).toBeLessThan(10_000)
    await load.end()
    expect(compare(load.acknowledged, folder.path)).toEqual({ lost: [], doubled: [] })
    expect([...load.refused.keys()].filter((outcome) => outcome !== "no connection" && outcome !== 503)).toEqual([])
    expect(readdirSync(folder.path).filter((name) => name === "run.json" || name === "control.sock")).toEqual([])
  }
})

test("a kill under load loses nothing, and resent events count once", async () => {
  using folder = temporaryFolder()
  await makeSite(folder.path)
  const acknowledged: string[] = []
  let cut: string[] = []
  for (let round = 0; round <= KILLS; round++) {
    await using server = await serving(folder.path, "--limit-visitor-events", "0")
    for (const page of cut) expect(await send(server.address, page, 1)).toBe(202)
    acknowledged.push(...cut)
    const load = clients(server.address, 8, `kill${round}`)
    await load.reach(20)
    await Bun.sleep((round * 97) % 250)
    expect(await server.end("SIGKILL")).toBe(null)
    await load.end()
    acknowledged.push(...load.acknowledged)
    cut = load.cut
    expect(compare(acknowledged, folder.path)).toEqual({ lost: [], doubled: [] })
    expect(existsSync(join(folder.path, "run.json"))).toBe(true)
  }
  expect(acknowledged.length).toBeGreaterThan(KILLS * 20)
})

const canMount = process.getuid?.() === 0 && process.platform === "linux" && Bun.which("mount") !== null

test.skipIf(!canMount)(
  "a full disk rejects events but answers queries, and accepts events again when there is space",
  async () => {
    using folder = temporaryFolder()
    if (!Bun.spawnSync(["mount", "-t", "tmpfs", "-o", "size=6m,mode=700", "tmpfs", folder.path]).success)
      throw new Error("tmpfs cannot be mounted")
    try {
      await makeSite(folder.path)
      const { out } = await footfall(["key", "create", "--name", "k", "--scopes", "stats:read", "--data-dir", folder.path, "--json"])
      const authorization = `Bearer ${JSON.parse(out).key}`
      await using server = await serving(folder.path, "--limit-visitor-events", "0")
      const ask = async () => (await fetch(`${server.address}/api/public/v1/sites/1/stats/summary`, { headers: { authorization } })).status
      const health = async () =>
        (await (await fetch(`${server.address}/health`)).json()) as { status: string; reasons?: { code: string }[] }
      const load = clients(server.address, 4)
      await Bun.sleep(200)
      fill(join(folder.path, "ballast"))
      const until = performance.now() + 20_000
      while (!load.refused.has(503) && performance.now() < until) await Bun.sleep(50)
      await load.end()
      expect([...load.refused.keys()]).toEqual([503])
      expect(await health()).toMatchObject({ status: "degraded", reasons: [{ code: "storage_full" }] })
      expect(await ask()).toBe(200)

      rmSync(join(folder.path, "ballast"))
      const freed = performance.now()
      while ((await send(server.address, "/after-room", 1)) !== 202 && performance.now() - freed < 10_000) await Bun.sleep(50)
      expect(performance.now() - freed).toBeLessThan(3_000)
      expect((await health()).status).toBe("ok")
      expect(await ask()).toBe(200)
      expect(await server.end("SIGTERM")).toBe(0)
      expect(compare([...load.acknowledged, "/after-room"], folder.path).lost).toEqual([])
    } finally {
      Bun.spawnSync(["umount", "-l", folder.path])
    }
  },
  60_000,
)

function fill(path: string): void {
  for (let size = 8 << 20; size >= 1_024; size >>= 1) {
    try {
      writeFileSync(path, new Uint8Array(size), { flag: "a" })
    } catch {}
  }
}
