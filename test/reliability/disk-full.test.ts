import { expect, test } from "bun:test"
import { canMountDisk, fillTheDisk } from "../../scripts/reliability/disk-full.ts"

// Mounting a small file system needs root; elsewhere the proof is skipped and counted so.
test.skipIf(!canMountDisk())(
  "a full disk refuses events, goes on answering, and accepts again without a restart",
  async () => {
    const result = await fillTheDisk()
    expect(result).toMatchObject({ different: 0, failedReads: 0, integrity: "ok" })
    expect(result!.refused).toBeGreaterThan(0)
    expect(result!.recoveryMs).toBeLessThan(3_000)
  },
  120_000,
)
