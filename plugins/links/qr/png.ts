import { deflateSync } from "bun"

export type Colour = readonly [red: number, green: number, blue: number]

const SIGNATURE = [137, 80, 78, 71, 13, 10, 26, 10]
const PALETTE = 3

/** Encodes an image of two colours as PNG with one bit per dot. `isFront` returns the colour of a dot. */
export function twoColourPng(
  size: number,
  colours: { back: Colour; front: Colour },
  isFront: (x: number, y: number) => boolean,
): Uint8Array<ArrayBuffer> {
  const rowBytes = Math.ceil(size / 8)
  // Each row begins with the byte of its filter, which is 0 for none.
  const rows = new Uint8Array((rowBytes + 1) * size)
  for (let y = 0; y < size; y++)
    for (let x = 0; x < size; x++) if (isFront(x, y)) rows[y * (rowBytes + 1) + 1 + (x >> 3)]! |= 0x80 >> (x & 7)
  const header = new DataView(new ArrayBuffer(13))
  header.setUint32(0, size)
  header.setUint32(4, size)
  header.setUint8(8, 1)
  header.setUint8(9, PALETTE)
  const parts = [
    Uint8Array.from(SIGNATURE),
    chunk("IHDR", new Uint8Array(header.buffer)),
    chunk("PLTE", Uint8Array.from([...colours.back, ...colours.front])),
    chunk("IDAT", zlib(rows)),
    chunk("IEND", new Uint8Array()),
  ]
  return new Uint8Array(Buffer.concat(parts))
}

function chunk(type: string, data: Uint8Array): Uint8Array {
  const bytes = new Uint8Array(data.length + 12)
  const view = new DataView(bytes.buffer)
  view.setUint32(0, data.length)
  bytes.set(new TextEncoder().encode(type), 4)
  bytes.set(data, 8)
  view.setUint32(data.length + 8, Bun.hash.crc32(bytes.subarray(4, data.length + 8)))
  return bytes
}

/** Compresses with raw deflate and adds the header and the checksum of zlib. */
function zlib(data: Uint8Array<ArrayBuffer>): Uint8Array {
  const sum = new DataView(new ArrayBuffer(4))
  sum.setUint32(0, Bun.hash.adler32(data))
  return Buffer.concat([Uint8Array.from([0x78, 0x9c]), deflateSync(data), new Uint8Array(sum.buffer)])
}
