import { closeSync, mkdtempSync, openSync, rmSync, writeSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"

/** Path of libSQL's compressed native part in the binary. `scripts/build.ts` sets it. When run from source, libSQL finds its own. */
const PACKED: string | undefined = undefined

/**
 * Bytes that are written at once. Recent kernels keep what was written together as one piece of the file, and map it whole when one page of
 * it is used: the library would take 8 MiB instead of what is used of it.
 */
const PIECE = 16_384

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
    writeInPieces(part, unpacked)
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

function writeInPieces(path: string, bytes: Uint8Array): void {
  const file = openSync(path, "wx", 0o700)
  try {
    for (let at = 0; at < bytes.length; ) at += writeSync(file, bytes, at, Math.min(PIECE, bytes.length - at))
  } finally {
    closeSync(file)
  }
}

/** Removes the folder if possible. Windows does not delete a loaded file, which then stays until the temporary folder is cleared. */
function remove(folder: string): void {
  try {
    rmSync(folder, { recursive: true, force: true })
  } catch {}
}
