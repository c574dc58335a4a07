import { crc32, deflateRawSync } from "node:zlib"

/** An entry of an archive as a test writes it. Fields that are not given are true to the content. */
export interface WrittenEntry {
  name: string
  content: Uint8Array | string
  method?: number
  flags?: number
  /** Size of the content that the archive states. */
  size?: number
  checksum?: number
  /** Offset of the entry whose data this entry shares. */
  offset?: number
  /** Name in the local header. */
  localName?: string
  /** Writes sizes and offset in the ZIP64 field. */
  isZip64?: boolean
}

export interface WrittenEnd {
  /** Number of entries that the end of the directory states. */
  entries?: number
  directoryBytes?: number
  comment?: string
  isZip64?: boolean
}

/** Writes an archive byte by byte, so that a test can also write one that no program makes. */
export function zipOf(entries: readonly WrittenEntry[], end: WrittenEnd = {}): Uint8Array {
  const parts: Buffer[] = []
  const directory: Buffer[] = []
  let offset = 0
  for (const entry of entries) {
    const content = Buffer.from(entry.content)
    const method = entry.method ?? 8
    const packed = method === 8 ? deflateRawSync(content) : content
    const facts = { method, packed: packed.length, size: entry.size ?? content.length, checksum: entry.checksum ?? crc32(content) }
    const isShared = entry.offset !== undefined
    directory.push(directoryHeader(entry, facts, entry.offset ?? offset))
    if (isShared) continue
    const local = Buffer.concat([localHeader(entry, facts), packed])
    parts.push(local)
    offset += local.length
  }
  const listed = Buffer.concat(directory)
  return Buffer.concat([...parts, listed, endOf(end, { entries: entries.length, bytes: listed.length, offset })])
}

interface Facts {
  method: number
  packed: number
  size: number
  checksum: number
}

function localHeader({ name, localName, flags = 0 }: WrittenEntry, { method, packed, size, checksum }: Facts): Buffer {
  const text = Buffer.from(localName ?? name)
  const header = Buffer.alloc(30)
  header.writeUInt32LE(0x04034b50, 0)
  header.writeUInt16LE(flags, 6)
  header.writeUInt16LE(method, 8)
  header.writeUInt32LE(checksum, 14)
  header.writeUInt32LE(packed, 18)
  header.writeUInt32LE(size, 22)
  header.writeUInt16LE(text.length, 26)
  return Buffer.concat([header, text])
}

function directoryHeader({ name, flags = 0, isZip64 }: WrittenEntry, { method, packed, size, checksum }: Facts, offset: number): Buffer {
  const text = Buffer.from(name)
  const header = Buffer.alloc(46)
  const extra = isZip64 ? Buffer.alloc(28) : Buffer.alloc(0)
  header.writeUInt32LE(0x02014b50, 0)
  header.writeUInt16LE(flags, 8)
  header.writeUInt16LE(method, 10)
  header.writeUInt32LE(checksum, 16)
  header.writeUInt32LE(isZip64 ? 0xffffffff : packed, 20)
  header.writeUInt32LE(isZip64 ? 0xffffffff : size, 24)
  header.writeUInt16LE(text.length, 28)
  header.writeUInt16LE(extra.length, 30)
  header.writeUInt32LE(isZip64 ? 0xffffffff : offset, 42)
  if (isZip64) {
    extra.writeUInt16LE(1, 0)
    extra.writeUInt16LE(24, 2)
    for (const [index, value] of [size, packed, offset].entries()) extra.writeBigUInt64LE(BigInt(value), 4 + 8 * index)
  }
  return Buffer.concat([header, text, extra])
}

function endOf(
  { entries, directoryBytes, comment = "", isZip64 }: WrittenEnd,
  found: { entries: number; bytes: number; offset: number },
): Buffer {
  const text = Buffer.from(comment)
  const end = Buffer.alloc(22)
  const [count, bytes] = [entries ?? found.entries, directoryBytes ?? found.bytes]
  end.writeUInt32LE(0x06054b50, 0)
  end.writeUInt16LE(isZip64 ? 0xffff : count, 8)
  end.writeUInt16LE(isZip64 ? 0xffff : count, 10)
  end.writeUInt32LE(isZip64 ? 0xffffffff : bytes, 12)
  end.writeUInt32LE(isZip64 ? 0xffffffff : found.offset, 16)
  end.writeUInt16LE(text.length, 20)
  if (!isZip64) return Buffer.concat([end, text])
  const [end64, locator] = [Buffer.alloc(56), Buffer.alloc(20)]
  end64.writeUInt32LE(0x06064b50, 0)
  end64.writeBigUInt64LE(44n, 4)
  end64.writeBigUInt64LE(BigInt(count), 32)
  end64.writeBigUInt64LE(BigInt(bytes), 40)
  end64.writeBigUInt64LE(BigInt(found.offset), 48)
  locator.writeUInt32LE(0x07064b50, 0)
  locator.writeBigUInt64LE(BigInt(found.offset + found.bytes), 8)
  locator.writeUInt32LE(1, 16)
  return Buffer.concat([end64, locator, end, text])
}
