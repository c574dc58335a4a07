/**
 * The part of the tar format that backups need: plain files, one after the other, however large. Written and read as a stream.
 */
import { closeSync, openSync, writeSync } from "node:fs"

export interface TarFile {
  name: string
  path: string
  bytes: number
}

const BLOCK = 512
/** Eleven octal digits. */
const OCTAL_MOST = 8 ** 11

/** The bytes of an archive of these files. They must not change meanwhile. */
export async function* tarOf(files: readonly TarFile[], at: number): AsyncGenerator<Uint8Array> {
  for (const { name, path, bytes } of files) {
    yield headerOf(name, bytes, at)
    for await (const chunk of Bun.file(path).stream() as unknown as AsyncIterable<Uint8Array>) yield chunk
    if (bytes % BLOCK > 0) yield new Uint8Array(BLOCK - (bytes % BLOCK))
  }
  yield new Uint8Array(2 * BLOCK)
}

/** Bytes of the archive as a whole. */
export const tarBytes = (files: readonly Pick<TarFile, "bytes">[]): number =>
  files.reduce((sum, { bytes }) => sum + BLOCK + Math.ceil(bytes / BLOCK) * BLOCK, 2 * BLOCK)

/**
 * Unpacks an archive: each file goes where `placeOf` says. Throws what `refuse` makes for anything that is no plain file of a
 * known name, comes twice, or is cut off.
 */
export async function unpackTar(
  source: AsyncIterable<Uint8Array>,
  placeOf: (name: string, bytes: number) => string,
  refuse: (says: string) => Error,
): Promise<void> {
  const bytes = chunked(source)
  for (;;) {
    const header = await bytes.take(BLOCK)
    if (header === undefined) throw refuse("The archive is cut off.")
    if (header.every((byte) => byte === 0)) return
    const { name, size } = readHeader(header, refuse)
    const file = openSync(placeOf(name, size), "wx", 0o600)
    try {
      for (let left = size; left > 0; ) {
        const part = await bytes.some(left)
        if (part === undefined) throw refuse(`${name} is cut off.`)
        writeSync(file, part)
        left -= part.length
      }
    } finally {
      closeSync(file)
    }
    if (size % BLOCK > 0 && (await bytes.take(BLOCK - (size % BLOCK))) === undefined) throw refuse("The archive is cut off.")
  }
}

function headerOf(name: string, bytes: number, at: number): Uint8Array {
  const header = Buffer.alloc(BLOCK)
  header.write(name, 0, 100)
  header.write("0000600\0", 100)
  header.write("0000000\0", 108)
  header.write("0000000\0", 116)
  writeSize(header, bytes)
  header.write(
    `${Math.floor(at / 1_000)
      .toString(8)
      .padStart(11, "0")}\0`,
    136,
  )
  header.write("        ", 148)
  header.write("0", 156)
  header.write("ustar\x0000", 257)
  header.write(`${sumOf(header).toString(8).padStart(6, "0")}\0 `, 148)
  return new Uint8Array(header)
}

/** Above 8 GiB in base 256, as every tar of today reads it. */
function writeSize(header: Buffer, bytes: number): void {
  if (bytes < OCTAL_MOST) header.write(`${bytes.toString(8).padStart(11, "0")}\0`, 124)
  else {
    header.writeUInt8(0x80, 124)
    header.writeBigUInt64BE(BigInt(bytes), 128)
  }
}

const sumOf = (header: Uint8Array): number => header.reduce((sum, byte, i) => sum + (i >= 148 && i < 156 ? 32 : byte), 0)

function readHeader(header: Buffer, refuse: (says: string) => Error): { name: string; size: number } {
  const text = (from: number, length: number) => header.toString("latin1", from, from + length).split("\0")[0]!
  if (Number.parseInt(text(148, 8), 8) !== sumOf(header)) throw refuse("The file is no tar archive.")
  const type = text(156, 1)
  if (type !== "0" && type !== "") throw refuse("The archive holds more than plain files.")
  const size = header[124] === 0x80 ? Number(header.readBigUInt64BE(128)) : Number.parseInt(text(124, 12), 8)
  if (!Number.isSafeInteger(size) || size < 0) throw refuse("The archive has a size that is none.")
  return { name: text(0, 100), size }
}

/** Takes bytes out of a stream in pieces of a chosen length. */
function chunked(source: AsyncIterable<Uint8Array>) {
  const iterator = source[Symbol.asyncIterator]()
  let rest: Buffer = Buffer.alloc(0)
  async function fill(): Promise<boolean> {
    const { value, done } = await iterator.next()
    if (done) return false
    rest = rest.length === 0 ? Buffer.from(value) : Buffer.concat([rest, value])
    return true
  }
  return {
    /** Exactly so many bytes; undefined when there are fewer. */
    async take(length: number): Promise<Buffer | undefined> {
      while (rest.length < length) if (!(await fill())) return undefined
      const taken = rest.subarray(0, length)
      rest = rest.subarray(length)
      return taken
    },
    /** At least one byte and at most so many; undefined at the end. */
    async some(most: number): Promise<Buffer | undefined> {
      while (rest.length === 0) if (!(await fill())) return undefined
      const taken = rest.subarray(0, most)
      rest = rest.subarray(most)
      return taken
    },
  }
}
