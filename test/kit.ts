import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"

/** A real folder for real stores; gone at the end of the test's scope: `using folder = temporaryFolder()`. */
export function temporaryFolder(): Disposable & { path: string } {
  const path = mkdtempSync(join(tmpdir(), "footfall-"))
  return { path, [Symbol.dispose]: () => rmSync(path, { recursive: true, force: true }) }
}

/** Time stands still until a test moves it. */
export function fixedClock(start: string) {
  let at = Date.parse(start)
  return {
    now: () => at,
    advance: (ms: number) => {
      at += ms
    },
  }
}
