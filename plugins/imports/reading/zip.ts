import { ImportFault } from "../source.ts"

/**
 * The directory of a zip archive, ZIP64 included. Entries are found by the directory at the end, never by scanning, and each must lie
 * where the directory says, under the same name, without overlapping another.
 */

export const MAX_ENTRIES = 200
/** Entries of that number have far shorter directories. */
const MAX_DIRECTORY_BYTES = 1024 ** 2
const MAX_NAME_CHARS = 1_000

export interface ZipEntry {
  name: string
  method: "stored" | "deflated"
  /** Bytes of the data in the archive. */
  packed: number
  /** Bytes of the unpacked content. */
  size: number
  checksum: number
  /** Where its local header begins. */
  offset: number
}

const END = 0x06054b50
const END_BYTES = 22
const LOCATOR_64 = 0x07064b50
const LOCATOR_64_BYTES = 20
const END_64 = 0x06064b50
const END_64_BYTES = 56
const DIRECTORY_HEADER = 0x02014b50
const DIRECTORY_HEADER_BYTES = 46
const LOCAL_HEADER = 0x04034b50
const LOCAL_HEADER_BYTES = 30
const MAX_COMMENT_BYTES = 65_535
/** Values that stand for one in the ZIP64 fields. */
const IN_64_16 = 0xffff
const IN_64_32 = 0xffffffff

/** Reads the entries of an archive that are files. Folders and the files that macOS adds are left out. */
export async function readZipEntries(archive: string, content: Blob): Promise<ZipEntry[]> {
  const damaged = (what: string) => fault(archive, what, "Make the archive again.")
  const { offset, bytes, entries: stated } = await findDirectory(archive, content)
  if (stated > MAX_ENTRIES || bytes > MAX_DIRECTORY_BYTES) throw tooMany(archive)
  if (offset + bytes > content.size) throw damaged("has a damaged directory")
  const view = await viewOf(content, offset, offset + bytes)
  const entries: ZipEntry[] = []
  let count = 0
  for (let at = 0; at + DIRECTORY_HEADER_BYTES <= view.byteLength; count++) {
    if (count === MAX_ENTRIES) throw tooMany(archive)
    if (view.getUint32(at, true) !== DIRECTORY_HEADER) throw damaged("has a damaged directory")
    const lengths = { name: view.getUint16(at + 28, true), extra: view.getUint16(at + 30, true), comment: view.getUint16(at + 32, true) }
    const next = at + DIRECTORY_HEADER_BYTES + lengths.name + lengths.extra + lengths.comment
    if (next > view.byteLength) throw damaged("has a damaged directory")
    const entry = readEntry(archive, view, at, lengths)
    if (entry) entries.push(entry)
    at = next
  }
  if (count !== stated) throw damaged(`is damaged: its directory lists ${count} entries instead of ${stated}`)
  refuseOverlaps(archive, entries, offset)
  if (entries.length === 0) throw fault(archive, "contains no files", "Send the archive as the other product made it.")
  return entries
}

/** Returns the packed data of an entry. Throws if the entry does not lie where the directory says. */
export async function zipEntryData(archive: string, content: Blob, entry: ZipEntry): Promise<Blob> {
  const damaged = () => fault(archive, `is damaged at ${entry.name}`, "Make the archive again.")
  if (entry.offset + LOCAL_HEADER_BYTES > content.size) throw damaged()
  const header = await viewOf(content, entry.offset, entry.offset + LOCAL_HEADER_BYTES)
  if (header.getUint32(0, true) !== LOCAL_HEADER) throw damaged()
  const nameEnd = entry.offset + LOCAL_HEADER_BYTES + header.getUint16(26, true)
  const name = nameText(await viewOf(content, entry.offset + LOCAL_HEADER_BYTES, nameEnd))
  const start = nameEnd + header.getUint16(28, true)
  if (name !== entry.name || start + entry.packed > content.size) throw damaged()
  return content.slice(start, start + entry.packed)
}

const fault = (archive: string, what: string, remedy: string) =>
  new ImportFault("invalid_archive", `The archive ${archive} ${what}. ${remedy}`)

const tooMany = (archive: string) =>
  new ImportFault("archive_too_large", `The archive ${archive} has more than ${MAX_ENTRIES} entries. Send only the files of the export.`)

async function viewOf(content: Blob, from: number, to: number): Promise<DataView> {
  return new DataView(await content.slice(from, to).arrayBuffer())
}

/** Where the directory begins, how long it is and how many entries it has. */
interface DirectoryPlace {
  offset: number
  bytes: number
  entries: number
}

/** Finds the directory from the record at the end of the archive, before which a comment can stand. */
async function findDirectory(archive: string, content: Blob): Promise<DirectoryPlace> {
  const tailStart = Math.max(0, content.size - END_BYTES - MAX_COMMENT_BYTES)
  const tail = await viewOf(content, tailStart, content.size)
  let at = tail.byteLength - END_BYTES
  while (at >= 0 && !isEnd(tail, at)) at--
  if (at < 0) throw fault(archive, "is incomplete: its directory is missing", "Upload it again.")
  const place = { entries: tail.getUint16(at + 10, true), bytes: tail.getUint32(at + 12, true), offset: tail.getUint32(at + 16, true) }
  const isIn64 = place.entries === IN_64_16 || place.bytes === IN_64_32 || place.offset === IN_64_32
  const found = isIn64 ? ((await findDirectory64(content, tailStart + at)) ?? place) : place
  const isSplit = !isIn64 && (tail.getUint16(at + 4, true) !== 0 || tail.getUint16(at + 8, true) !== place.entries)
  if (isSplit) throw fault(archive, "is one part of a split archive", "Send it as one file.")
  return found
}

const isEnd = (tail: DataView, at: number): boolean =>
  tail.getUint32(at, true) === END && at + END_BYTES + tail.getUint16(at + 20, true) === tail.byteLength

async function findDirectory64(content: Blob, endAt: number): Promise<DirectoryPlace | undefined> {
  if (endAt < LOCATOR_64_BYTES) return undefined
  const locator = await viewOf(content, endAt - LOCATOR_64_BYTES, endAt)
  if (locator.getUint32(0, true) !== LOCATOR_64) return undefined
  const at = Number(locator.getBigUint64(8, true))
  if (at + END_64_BYTES > content.size) return undefined
  const end = await viewOf(content, at, at + END_64_BYTES)
  if (end.getUint32(0, true) !== END_64) return undefined
  return {
    entries: Number(end.getBigUint64(32, true)),
    bytes: Number(end.getBigUint64(40, true)),
    offset: Number(end.getBigUint64(48, true)),
  }
}

/** Reads an entry of the directory. Returns undefined for one that is left out. */
function readEntry(archive: string, view: DataView, at: number, lengths: { name: number; extra: number }): ZipEntry | undefined {
  const nameAt = at + DIRECTORY_HEADER_BYTES
  const name = nameText(new DataView(view.buffer, nameAt, lengths.name))
  refuseName(archive, name)
  const [flags, method] = [view.getUint16(at + 8, true), view.getUint16(at + 10, true)]
  if (name.endsWith("/") || isOfMacOs(name)) return undefined
  if ((flags & 1) !== 0) throw fault(archive, `is encrypted (${name})`, "Make it again without a password.")
  if (method !== 0 && method !== 8)
    throw fault(archive, `uses a compression of ${name} that can't be read`, "Make it again as an ordinary zip.")
  const sizes = [view.getUint32(at + 24, true), view.getUint32(at + 20, true), view.getUint32(at + 42, true)]
  const [size = 0, packed = 0, offset = 0] = in64(new DataView(view.buffer, nameAt + lengths.name, lengths.extra), sizes)
  return { name, method: method === 0 ? "stored" : "deflated", size, packed, offset, checksum: view.getUint32(at + 16, true) }
}

/** Replaces values that are too large for 32 bits by those of the ZIP64 field, which holds them in the same order. */
function in64(extra: DataView, values: readonly number[]): number[] {
  if (!values.includes(IN_64_32)) return [...values]
  for (let at = 0; at + 4 <= extra.byteLength; at += 4 + extra.getUint16(at + 2, true)) {
    if (extra.getUint16(at, true) !== 1) continue
    const end = Math.min(extra.byteLength, at + 4 + extra.getUint16(at + 2, true))
    let from = at + 4
    return values.map((value) => {
      if (value !== IN_64_32 || from + 8 > end) return value
      from += 8
      return Number(extra.getBigUint64(from - 8, true))
    })
  }
  return [...values]
}

function nameText(bytes: DataView): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes)
  } catch {
    // Older programs write names in a code page of their own.
    return new TextDecoder("latin1").decode(bytes)
  }
}

function refuseName(archive: string, name: string): void {
  const isAbsolute = name.startsWith("/") || /^[a-z]:/i.test(name)
  // biome-ignore lint/suspicious/noControlCharactersInRegex: names with control characters are refused
  const isClean = name.length > 0 && name.length <= MAX_NAME_CHARS && !/[\u0000-\u001f\u007f\\]/.test(name)
  if (isAbsolute || !isClean || name.includes(".."))
    throw fault(archive, `contains an entry with an invalid name (${shown(name)})`, "Names must be relative, without .. and backslashes.")
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are not shown
const shown = (name: string): string => JSON.stringify(name.replace(/[\u0000-\u001f\u007f]/g, "?").slice(0, 100))

const isOfMacOs = (name: string): boolean => name.startsWith("__MACOSX/") || name.endsWith("/.DS_Store") || name === ".DS_Store"

/** Refuses archives whose entries share data, which is how small archives unpack to enormous ones, and entries of the same name. */
function refuseOverlaps(archive: string, entries: readonly ZipEntry[], directory: number): void {
  const sorted = entries.toSorted((a, b) => a.offset - b.offset)
  const shared = sorted.find(({ offset, packed }, at) => offset + LOCAL_HEADER_BYTES + packed > (sorted[at + 1]?.offset ?? directory))
  if (shared) {
    const message = `The archive ${archive} unpacks the same data several times (${shown(shared.name)}). Send its files unpacked.`
    throw new ImportFault("archive_too_large", message)
  }
  const names = new Set(entries.map(({ name }) => name))
  if (names.size < entries.length) throw fault(archive, "contains two entries of the same name", "Make it again with one of each.")
}
