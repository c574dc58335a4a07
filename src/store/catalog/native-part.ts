import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"

/**
 * Loads libSQL's native part out of the binary, where it lies compressed: a system loads such parts from a file only. The
 * file goes to a folder of ours alone and is removed at once where the system allows it. `scripts/build.ts` puts a call of
 * this in the place of the library's own `require`.
 */
export function loadNativePart(packed: string): unknown {
  const folder = mkdtempSync(join(tmpdir(), "footfall-"))
  const part = join(folder, "libsql.node")
  const loaded: { exports: unknown } = { exports: {} }
  try {
    writeFileSync(part, Bun.zstdDecompressSync(readFileSync(packed)))
    chmodSync(part, 0o700)
    process.dlopen(loaded, part)
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    process.stderr.write(`footfall: ${tmpdir()} cannot hold a part of the program (${reason}); name another folder with TMPDIR\n`)
    process.exit(74)
  } finally {
    remove(folder)
  }
  return loaded.exports
}

/** Windows keeps a loaded file: it stays there until the system clears its temporary folder. */
function remove(folder: string): void {
  try {
    rmSync(folder, { recursive: true, force: true })
  } catch {}
}
