import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"

/** Path of libSQL's compressed native part in the binary. `scripts/build.ts` sets it. When run from source, libSQL finds its own. */
const PACKED: string | undefined = undefined

let unpacking: Promise<void> | undefined
let unpacked: Uint8Array | undefined

/**
 * Resolves when libSQL can be loaded. Unpacking takes as long as loading the rest of the program and runs on another thread, so call
 * it at the very start of the process. Later calls return the same promise.
 */
export function unpackNativePart(): Promise<void> {
  unpacking ??= unpack()
  return unpacking
}

async function unpack(): Promise<void> {
  if (PACKED !== undefined) unpacked = await Bun.zstdDecompress(await Bun.file(PACKED).bytes())
}

/**
 * Loads the unpacked native part. Operating systems load libraries only from files, so it is written to a private temporary folder
 * and removed immediately where the system allows it. `scripts/build.ts` replaces the library's own `require` with a call of this.
 */
export function loadNativePart(): unknown {
  if (!unpacked) throw new Error("libSQL was loaded before its native part was unpacked")
  const folder = mkdtempSync(join(tmpdir(), "footfall-"))
  const part = join(folder, "libsql.node")
  const loaded: { exports: unknown } = { exports: {} }
  try {
    writeFileSync(part, unpacked)
    chmodSync(part, 0o700)
    process.dlopen(loaded, part)
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    process.stderr.write(`footfall: cannot unpack the program into ${tmpdir()} (${reason}); set TMPDIR to another folder\n`)
    process.exit(74)
  } finally {
    unpacked = undefined // frees several megabytes
    remove(folder)
  }
  return loaded.exports
}

/** Removes the folder if possible. Windows does not delete a loaded file, which then stays until the temporary folder is cleared. */
function remove(folder: string): void {
  try {
    rmSync(folder, { recursive: true, force: true })
  } catch {}
}
