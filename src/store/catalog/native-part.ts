import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"

/** Where libSQL's native part lies in the binary, compressed. `scripts/build.ts` puts it here; from source libSQL finds its own. */
const PACKED: string | undefined = undefined

let unpacking: Promise<void> | undefined
let unpacked: Uint8Array | undefined

/**
 * Resolves when libSQL can be loaded. Unpacking takes as long as loading all the rest of the program and runs on another
 * thread, so it is begun in the first moment of the process; calling this again costs nothing.
 */
export function unpackNativePart(): Promise<void> {
  unpacking ??= unpack()
  return unpacking
}

async function unpack(): Promise<void> {
  if (PACKED !== undefined) unpacked = await Bun.zstdDecompress(await Bun.file(PACKED).bytes())
}

/**
 * Loads the unpacked part: a system loads such parts from a file only. The file goes to a folder of ours alone and is removed
 * at once where the system allows it. `scripts/build.ts` puts a call of this in the place of the library's own `require`.
 */
export function loadNativePart(): unknown {
  if (!unpacked) throw new Error("libSQL was asked for before its native part was unpacked")
  const folder = mkdtempSync(join(tmpdir(), "footfall-"))
  const part = join(folder, "libsql.node")
  const loaded: { exports: unknown } = { exports: {} }
  try {
    writeFileSync(part, unpacked)
    chmodSync(part, 0o700)
    process.dlopen(loaded, part)
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    process.stderr.write(`footfall: ${tmpdir()} cannot hold a part of the program (${reason}); name another folder with TMPDIR\n`)
    process.exit(74)
  } finally {
    unpacked = undefined // it is some megabytes
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
