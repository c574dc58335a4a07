/** Writes numbers and texts into a growing buffer. Integers are varints: seven bits per byte, so that small ones take one byte. */
export class ByteWriter {
  #bytes = new Uint8Array(16 << 10)
  #view = new DataView(this.#bytes.buffer)
  /** Writes texts in place. */
  #buffer = Buffer.from(this.#bytes.buffer)
  length = 0

  byte(value: number): void {
    this.#reserve(1)
    this.#bytes[this.length++] = value
  }

  /** Writes a whole number from 0 to 2^53 − 1. */
  uint(value: number): void {
    this.#reserve(8)
    while (value > 0x7fff_ffff) {
      this.#bytes[this.length++] = (value % 128) | 128
      value = Math.floor(value / 128)
    }
    while (value > 127) {
      this.#bytes[this.length++] = (value & 127) | 128
      value >>>= 7
    }
    this.#bytes[this.length++] = value
  }

  /** Writes a whole number of either sign. */
  int(value: number): void {
    this.uint(value < 0 ? -value * 2 - 1 : value * 2)
  }

  uint32(value: number): void {
    this.#reserve(4)
    this.#view.setUint32(this.length, value, true)
    this.length += 4
  }

  uint16(value: number): void {
    this.#reserve(2)
    this.#view.setUint16(this.length, value, true)
    this.length += 2
  }

  /** Writes a whole number in 8 bytes, a negative one in two's complement. */
  uint64(value: number | bigint): void {
    this.#reserve(8)
    this.#view.setBigUint64(this.length, BigInt.asUintN(64, BigInt(value)), true)
    this.length += 8
  }

  text(value: string): void {
    const length = Buffer.byteLength(value)
    this.uint(length)
    this.#reserve(length)
    this.length += this.#buffer.write(value, this.length)
  }

  bytes(value: Uint8Array): void {
    this.#reserve(value.length)
    this.#bytes.set(value, this.length)
    this.length += value.length
  }

  /** Appends a 64-bit checksum and returns a copy of all bytes. */
  seal(): Uint8Array {
    this.#reserve(8)
    this.#view.setBigUint64(this.length, Bun.hash.xxHash64(this.#bytes.subarray(0, this.length)), true)
    return this.#bytes.slice(0, this.length + 8)
  }

  /** Returns all bytes, which must not grow any more. */
  content(): Uint8Array<ArrayBuffer> {
    return this.#bytes.subarray(0, this.length)
  }

  #reserve(count: number): void {
    if (this.length + count <= this.#bytes.length) return
    const grown = new Uint8Array(Math.max(this.#bytes.length * 2, this.length + count))
    grown.set(this.#bytes)
    this.#bytes = grown
    this.#view = new DataView(grown.buffer)
    this.#buffer = Buffer.from(grown.buffer)
  }
}

/** Reads the output of a ByteWriter. It does not check bounds, because callers verify the checksum first. */
export class ByteReader {
  #at = 0
  readonly #view: DataView

  constructor(readonly bytes: Uint8Array) {
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  }

  get done(): boolean {
    return this.#at >= this.bytes.length
  }

  /** Place of the next byte. */
  get at(): number {
    return this.#at
  }

  byte(): number {
    return this.bytes[this.#at++]!
  }

  uint(): number {
    let byte = this.bytes[this.#at++]!
    if (byte < 128) return byte
    let value = byte & 127
    let factor = 128
    do {
      byte = this.bytes[this.#at++]!
      value += (byte & 127) * factor
      factor *= 128
    } while (byte > 127)
    return value
  }

  int(): number {
    const value = this.uint()
    return value % 2 === 1 ? -(value + 1) / 2 : value / 2
  }

  uint32(): number {
    const value = this.#view.getUint32(this.#at, true)
    this.#at += 4
    return value
  }

  text(): string {
    const length = this.uint()
    const text = Buffer.from(this.bytes.buffer, this.bytes.byteOffset + this.#at, length).toString()
    this.#at += length
    return text
  }

  skip(count: number): void {
    this.#at += count
  }

  /** Returns the bytes that are not read yet. */
  rest(): Uint8Array {
    return this.bytes.subarray(this.#at)
  }
}

/** Returns the content of a sealed record, or undefined when its checksum is wrong. */
export function unseal(sealed: Uint8Array): Uint8Array | undefined {
  if (sealed.length < 8) return undefined
  const content = sealed.subarray(0, sealed.length - 8)
  const stored = new DataView(sealed.buffer, sealed.byteOffset, sealed.byteLength).getBigUint64(content.length, true)
  return stored === Bun.hash.xxHash64(content) ? content : undefined
}
