import { pipeline, Readable } from "node:stream"
import { crc32, createGunzip, createInflateRaw } from "node:zlib"
import { ImportFault } from "../source.ts"
import { readZipEntries, type ZipEntry, zipEntryData } from "./zip.ts"

/**
 * Unpacks archives in memory, a piece at a time: nothing is written to disk, and names are never paths. A zip yields its entries, a gzip
 * its content, any other file itself. Reading stops with a fault as soon as a limit is exceeded.
 */

/** Unpacked bytes of one import: 4 GiB for files in a request, 50 GiB for staged uploads. */
export const MAX_UNPACKED = { inline: 4 * 1024 ** 3, staged: 50 * 1024 ** 3 } as const
/** Unpacked bytes per packed byte, once an archive has yielded a MiB. */
export const MAX_RATIO = 100
const RATIO_FREE_BYTES = 1024 ** 2
/** Bytes of the beginning of a file by which it is recognized. */
export const HEAD_BYTES = 65_536
/** Unpacked bytes of a piece. */
const PIECE_BYTES = 131_072

/** A file as it was sent: a file on disk is a `Bun.file(path)`. */
export interface PackedFile {
  name: string
  content: Blob
}

/** A file outside of any archive. */
export interface UnpackedFile {
  /** Name of the file, or of the entry of an archive with its folders. */
  name: string
  /** Name of the archive. */
  archive?: string
  /** Up to `HEAD_BYTES` of its beginning. */
  head: Uint8Array
  /** Returns the content in pieces. Can be called again. */
  chunks(): AsyncIterable<Uint8Array>
}

/** Unpacks files. Throws `invalid_archive`, or `archive_too_large` if the beginnings of the files already show it. */
export async function unpack(files: readonly PackedFile[], maxBytes: number): Promise<UnpackedFile[]> {
  const limited = () => allowance(maxBytes, (limit) => tooLarge(`The files unpack to more than ${mebibytes(limit)}. Import them in parts.`))
  // A zip that states too much is refused before it is read. What it states is not relied upon.
  const [total, stated] = [limited(), limited()]
  const unpacked: UnpackedFile[] = []
  for (const file of files) {
    const first = await bytesOf(file.content.slice(0, HEAD_BYTES))
    const format = formatOf(first)
    if (format === "zip") unpacked.push(...(await zipFiles(file, { total, stated })))
    else if (format === "gzip") unpacked.push(await gzipFile(file, total))
    else if (format) throw invalid(`${file.name} is packed as ${format}, which can't be read. Send the file itself, a zip or a gzip.`)
    else unpacked.push({ name: file.name, head: first, chunks: () => pieces(file.content.stream()) })
  }
  return unpacked
}

/** Returns the name of a file without the folders of its archive. */
export const fileName = (name: string): string => name.slice(name.lastIndexOf("/") + 1)

const invalid = (message: string) => new ImportFault("invalid_archive", message)
const tooLarge = (message: string) => new ImportFault("archive_too_large", message)
const mebibytes = (bytes: number): string => (bytes >= 1024 ** 3 ? `${bytes / 1024 ** 3} GiB` : `${Math.floor(bytes / 1024 ** 2)} MiB`)
const bytesOf = async (blob: Blob): Promise<Uint8Array> => new Uint8Array(await blob.arrayBuffer())

/** Charges unpacked bytes to a limit. */
type Allowance = (bytes: number) => void

function allowance(limit: number, fault: (limit: number) => ImportFault, wider?: Allowance): Allowance {
  let used = 0
  return (bytes) => {
    used += bytes
    if (used > limit) throw fault(limit)
    wider?.(bytes)
  }
}

function ratioAllowance({ name, content }: PackedFile, total: Allowance): Allowance {
  const limit = Math.max(RATIO_FREE_BYTES, MAX_RATIO * content.size)
  const message = `${name} unpacks to more than ${MAX_RATIO} times its size. Send its files unpacked.`
  return allowance(limit, () => tooLarge(message), total)
}

interface Allowances {
  total: Allowance
  /** Charged with the sizes that a directory states. */
  stated: Allowance
}

async function zipFiles(file: PackedFile, { total, stated }: Allowances): Promise<UnpackedFile[]> {
  const entries = await readZipEntries(file.name, file.content)
  const chargeStated = ratioAllowance(file, stated)
  for (const { size } of entries) chargeStated(size)
  const charge = ratioAllowance(file, total)
  const unpacked: UnpackedFile[] = []
  for (const entry of entries) {
    const charged = chargeOnce(charge)
    const chunks = () => charged(entryPieces(file, entry))
    unpacked.push({ name: entry.name, archive: file.name, head: await headOf(chunks(), `${entry.name} in ${file.name}`), chunks })
  }
  return unpacked
}

async function gzipFile(file: PackedFile, total: Allowance): Promise<UnpackedFile> {
  const charged = chargeOnce(ratioAllowance(file, total))
  const chunks = () => charged(inflated(file.content, createGunzip, file.name))
  return { name: file.name.replace(/\.gz$/i, ""), archive: file.name, head: await headOf(chunks(), file.name), chunks }
}

/** Charges the bytes of a file for its first pass only, so that it can be read again. */
function chargeOnce(charge: Allowance): (content: AsyncIterable<Uint8Array>) => AsyncGenerator<Uint8Array> {
  let charged = 0
  return async function* (content) {
    let position = 0
    for await (const piece of content) {
      position += piece.length
      if (position > charged) {
        charge(position - charged)
        charged = position
      }
      yield piece
    }
  }
}

/** Reads the beginning of a packed file. Throws if it is an archive itself. */
async function headOf(content: AsyncIterable<Uint8Array>, name: string): Promise<Uint8Array> {
  const head = new Uint8Array(HEAD_BYTES)
  let length = 0
  for await (const piece of content) {
    const part = piece.subarray(0, HEAD_BYTES - length)
    head.set(part, length)
    length += part.length
    if (length === HEAD_BYTES) break
  }
  const format = formatOf(head.subarray(0, length))
  if (format) throw tooLarge(`${name} contains another archive (${format}). Unpack it and send its files.`)
  return head.subarray(0, length)
}

/** Yields the content of an entry and checks its length and checksum. */
async function* entryPieces(file: PackedFile, entry: ZipEntry): AsyncGenerator<Uint8Array> {
  const name = `${entry.name} in ${file.name}`
  const damaged = (what: string) => invalid(`${name} is damaged: ${what}. Make the archive again.`)
  const packed = await zipEntryData(file.name, file.content, entry)
  const content = entry.method === "stored" ? pieces(packed.stream()) : inflated(packed, createInflateRaw, name)
  let [length, checksum] = [0, 0]
  for await (const piece of content) {
    length += piece.length
    checksum = crc32(piece, checksum)
    yield piece
  }
  if (length !== entry.size) throw damaged(`it has ${length} bytes instead of the ${entry.size} that the archive states`)
  if (checksum !== entry.checksum) throw damaged("its checksum doesn't match")
}

/** Yields unpacked pieces. The unpacking library pauses until a piece is taken, so a bomb costs no more memory than other files. */
async function* inflated(packed: Blob, create: typeof createInflateRaw | typeof createGunzip, name: string): AsyncGenerator<Uint8Array> {
  const unpacking = create({ chunkSize: PIECE_BYTES })
  // The callback reports what the loop below throws anyway.
  pipeline(Readable.from(pieces(packed.stream()), { objectMode: false }), unpacking, () => {})
  try {
    for await (const piece of unpacking) yield piece as Uint8Array // chunks of a binary stream
  } catch (error) {
    if (!isZlibError(error)) throw error
    throw invalid(`${name} is damaged and can't be unpacked (${error.message}). Make the archive again.`)
  } finally {
    unpacking.destroy()
  }
}

const isZlibError = (error: unknown): error is Error => error instanceof Error && "code" in error && String(error.code).startsWith("Z_")

async function* pieces(stream: ReadableStream<Uint8Array>): AsyncGenerator<Uint8Array> {
  for await (const chunk of stream) {
    for (let at = 0; at < chunk.length; at += PIECE_BYTES) yield chunk.subarray(at, at + PIECE_BYTES)
  }
}

/** First bytes of packed files. Only zip and gzip are read. */
const SIGNATURES: readonly (readonly [format: string, bytes: readonly number[], offset?: number])[] = [
  ["zip", [0x50, 0x4b, 0x03, 0x04]],
  ["zip", [0x50, 0x4b, 0x05, 0x06]],
  ["gzip", [0x1f, 0x8b, 0x08]],
  ["bzip2", [0x42, 0x5a, 0x68]],
  ["xz", [0xfd, 0x37, 0x7a, 0x58, 0x5a, 0x00]],
  ["zstd", [0x28, 0xb5, 0x2f, 0xfd]],
  ["7z", [0x37, 0x7a, 0xbc, 0xaf, 0x27, 0x1c]],
  ["rar", [0x52, 0x61, 0x72, 0x21, 0x1a, 0x07]],
  ["tar", [0x75, 0x73, 0x74, 0x61, 0x72], 257],
]

/** Returns the format of a packed file by its first bytes, or undefined for any other file. */
function formatOf(head: Uint8Array): string | undefined {
  return SIGNATURES.find(([, bytes, offset = 0]) => bytes.every((byte, index) => head[offset + index] === byte))?.[0]
}
