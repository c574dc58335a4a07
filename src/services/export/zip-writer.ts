import { open } from "node:fs/promises"
import { crc32, createDeflateRaw, type DeflateRaw } from "node:zlib"
import { Zip, type ZipInputFile } from "fflate"

/** A file of an archive. */
export interface ZippedFile {
  name: string
  /** Uncompressed size. */
  bytes: number
  sha256: string
}

/** Writes a zip archive to disk, file by file. Only the data that is being compressed is in memory. */
export interface ZipWriter {
  /** Adds a file with this content. */
  add(name: string, pieces: AsyncIterable<Uint8Array> | Iterable<Uint8Array>): Promise<ZippedFile>
  /** Finishes the archive. Resolves with its size once it is on disk. */
  finish(): Promise<number>
  /** Closes an incomplete archive. */
  abandon(): Promise<void>
}

/** Creates an archive that only its owner can read. The file must not exist yet. */
export async function zipWriter(path: string): Promise<ZipWriter> {
  const file = await open(path, "wx", 0o600)
  let bytes = 0
  // The pieces are produced in memory, and each is written after the previous one.
  let written: Promise<unknown> = Promise.resolve()
  let failure: unknown
  const zip = new Zip((error, chunk) => {
    failure ??= error
    const own = chunk.slice()
    bytes += own.length
    written = written.then(() => file.write(own))
  })
  const settled = async () => {
    await written
    if (failure) throw failure
  }
  return {
    async add(name, pieces) {
      const hash = new Bun.CryptoHasher("sha256")
      const packed = new PackedFile(name)
      zip.add(packed)
      for await (const piece of pieces) {
        hash.update(piece)
        await packed.push(piece)
        await settled()
      }
      await packed.end()
      await settled()
      return { name, bytes: packed.size, sha256: hash.digest("hex") }
    },
    async finish() {
      zip.end()
      await settled()
      await file.sync()
      await file.close()
      return bytes
    },
    async abandon() {
      await written.catch(() => {})
      await file.close()
    },
  }
}

const DEFLATE = 8

/** A file that the platform compresses outside the event loop. The library would block the event loop. */
class PackedFile implements ZipInputFile {
  readonly filename: string
  readonly compression = DEFLATE
  crc = 0
  size = 0
  ondata!: NonNullable<ZipInputFile["ondata"]>
  readonly #deflate: DeflateRaw = createDeflateRaw()

  constructor(name: string) {
    this.filename = name
    this.#deflate.on("data", (chunk: Uint8Array<ArrayBuffer>) => this.ondata(null, chunk, false))
  }

  push(piece: Uint8Array): Promise<void> {
    this.crc = crc32(piece, this.crc)
    this.size += piece.length
    return new Promise((resolve, reject) => this.#deflate.write(piece, (error) => (error ? reject(error) : resolve())))
  }

  end(): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#deflate.once("error", reject)
      this.#deflate.once("end", () => {
        this.ondata(null, new Uint8Array(0), true)
        resolve()
      })
      this.#deflate.end()
    })
  }
}
