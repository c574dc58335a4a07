import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import type { Clock } from "../src/domain/clock.ts"

/** A real folder for real stores; gone at the end of the test's scope: `using folder = temporaryFolder()`. */
export function temporaryFolder(): Disposable & { path: string } {
  const path = mkdtempSync(join(tmpdir(), "footfall-"))
  return { path, [Symbol.dispose]: () => rmSync(path, { recursive: true, force: true }) }
}

/** Time stands still until a test moves it. */
export function fixedClock(start: string): Clock & { advance(ms: number): void } {
  let at = Date.parse(start)
  return {
    now: () => at,
    // Both run together: nothing in a test jumps but on purpose.
    monotonic: () => at,
    advance: (ms: number) => {
      at += ms
    },
  }
}
