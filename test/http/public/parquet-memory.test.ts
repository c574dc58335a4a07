import { expect } from "bun:test"
import { fillDataDir } from "../../../scripts/bench/server/memory.ts"
import { footfall, PROGRAM, serveFootfall } from "../../../scripts/instance.ts"
import { bySize, longTest } from "../../size.ts"

const DAY_MS = 86_400_000
const MIB = 2 ** 20
const EVENTS = bySize({ check: 0, full: 1_000_000, release: 5_000_000 })

longTest(
  "a Parquet file of 60 days needs hardly more memory than one of 10 days",
  async () => {
    const end = Math.floor(Date.now() / DAY_MS) * DAY_MS
    await using filled = await fillDataDir(PROGRAM, { events: EVENTS, sites: 1, days: 60, seed: 7, end })
    const { dataDir, site } = filled
    const scopes = ["--name", "Export", "--scopes", "export:read"]
    const { key } = await footfall<{ key: string }>(PROGRAM, dataDir, "key", "create", ...scopes)

    /** Exports from a new process, and returns its highest memory and the length of the file. */
    async function exportFrom(range: string): Promise<{ peak: number; bytes: number }> {
      await using server = await serveFootfall({ dataDir })
      const url = `${server.address}/api/public/v1/sites/${site.siteId}/export?type=events&format=parquet&${range}`
      const answer = await fetch(url, { headers: { authorization: `Bearer ${key}` } })
      expect(answer.status).toBe(200)
      let bytes = 0
      for await (const chunk of answer.body!) bytes += chunk.length
      const status = await Bun.file(`/proc/${server.pid}/status`).text()
      return { peak: Number(/VmHWM:\s+(\d+)/.exec(status)![1]) * 1024, bytes }
    }

    const day = (before: number) => new Date(end - before * DAY_MS).toISOString().slice(0, 10)
    const few = await exportFrom(`from=${day(10)}&to=${day(1)}`)
    const all = await exportFrom("period=all")
    expect(all.bytes).toBeGreaterThan(4 * few.bytes)
    // As text, the additional rows of a million events take 380 MB, and as objects several times that.
    expect(all.peak - few.peak).toBeLessThan(128 * MIB)
  },
  600_000,
)
