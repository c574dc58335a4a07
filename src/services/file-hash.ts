import { closeSync, openSync, readSync } from "node:fs"

/** SHA-256 and size of a file that no engine has open. Blocks the thread; reads in pieces, so memory stays small. */
export function hashFile(path: string): { bytes: number; sha256: string } {
  const hash = new Bun.CryptoHasher("sha256")
  const piece = new Uint8Array(1 << 20)
  const file = openSync(path, "r")
  try {
    let bytes = 0
    for (let read = readSync(file, piece); read > 0; read = readSync(file, piece)) {
      hash.update(piece.subarray(0, read))
      bytes += read
    }
    return { bytes, sha256: hash.digest("hex") }
  } finally {
    closeSync(file)
  }
}
