import { expect, test } from "bun:test"
import { startServers } from "../../scripts/clickhouse-servers.ts"
import { canMountDisk, fillTheDisk } from "../../scripts/reliability/disk-full.ts"
import { temporaryFolder } from "../kit.ts"
import { hasClickhouse } from "../store/clickhouse/server.ts"

// Mounting a small file system needs root. Elsewhere the test is skipped and counted as skipped.
test.skipIf(!canMountDisk())(
  "a full disk rejects events but answers queries, and accepts events again without a restart",
  async () => {
    const result = await fillTheDisk()
    expect(result).toMatchObject({ different: 0, failedReads: 0, integrity: "ok" })
    expect(result!.refused).toBeGreaterThan(0)
    expect(result!.recoveryMs).toBeLessThan(3_000)
  },
  120_000,
)

test.skipIf(!canMountDisk() || !hasClickhouse())(
  "a node that ships rejects events on a full disk but answers queries, and ClickHouse has exactly those that it acknowledged",
  async () => {
    using folder = temporaryFolder()
    // An acknowledgement never relies on the disk alone, so that ClickHouse has all of them at the kill.
    await using servers = await startServers(folder.path, { ack_wait: "30000" })
    const result = await fillTheDisk({ servers })
    expect(result).toMatchObject({ different: 0, failedReads: 0, integrity: "ok" })
    expect(result!.refused).toBeGreaterThan(0)
    expect(result!.recoveryMs).toBeLessThan(3_000)
  },
  240_000,
)
