import { expect, test } from "bun:test"
import { canMountDisk, fillTheDisk } from "../../scripts/reliability/disk-full.ts"

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
