import { createCipheriv, hkdfSync } from "node:crypto"

/** Kind of the numbers. Equal numbers of different kinds have different pseudonyms. */
type PseudonymKind = "visitor" | "visit"

const ROUNDS = 10
const BLOCK = 16

/**
 * Creates the function that converts numbers of visitors or visits to pseudonyms (metrics.md 2.1): 64 bits in 16 hex digits, one to one,
 * and meaningless without the site key. A Feistel network over the two halves of the number, whose round function is the first half
 * of an AES block. Each round encrypts all numbers in one call, because the call costs more than the encryption.
 */
export function pseudonyms(siteKey: Uint8Array, kind: PseudonymKind): (numbers: readonly number[]) => string[] {
  const convert = pseudonymHalves(siteKey, kind)
  return (numbers) => {
    const left = Uint32Array.from(numbers, (number) => Math.floor(number / 2 ** 32))
    const right = Uint32Array.from(numbers)
    convert(left, right)
    return numbers.map((_, i) => hex(left[i]!) + hex(right[i]!))
  }
}

/** Creates the function that does the same in place, on the upper and lower halves of the numbers, for lists too long for texts. */
export function pseudonymHalves(siteKey: Uint8Array, kind: PseudonymKind): (left: Uint32Array, right: Uint32Array) => void {
  const mix = mixer(siteKey, kind)
  return (left, right) => {
    const round = mix(left.length)
    for (let number = 0; number < ROUNDS; number++) {
      const mixed = round(number, right)
      for (let i = 0; i < left.length; i++) {
        const next = (left[i]! ^ mixed(i)) >>> 0
        left[i] = right[i]!
        right[i] = next
      }
    }
  }
}

/** Returns the upper and lower halves of numbers. */
export function halvesOfNumbers(numbers: Float64Array): { left: Uint32Array; right: Uint32Array } {
  const [left, right] = [new Uint32Array(numbers.length), new Uint32Array(numbers.length)]
  for (let i = 0; i < numbers.length; i++) {
    left[i] = numbers[i]! / 2 ** 32
    right[i] = numbers[i]!
  }
  return { left, right }
}

/** Creates the inverse of `pseudonyms`: the function that converts pseudonyms back to numbers with the same key. */
export function numbersOfPseudonyms(siteKey: Uint8Array, kind: PseudonymKind): (names: readonly string[]) => number[] {
  const invert = inverse(siteKey, kind)
  return (names) => {
    const left = Uint32Array.from(names, (name) => Number.parseInt(name.slice(0, 8), 16))
    const right = Uint32Array.from(names, (name) => Number.parseInt(name.slice(8), 16))
    invert(left, right)
    return names.map((_, i) => left[i]! * 2 ** 32 + right[i]!)
  }
}

/** Upper halves of the numbers below 2^53. */
const UPPER_LIMIT = 2 ** 21

/** Does the same for pseudonyms of 8 bytes, big-endian. Returns the numbers below 2^53; others were made with another key. */
export function numbersOfPseudonymBytes(siteKey: Uint8Array, kind: PseudonymKind): (bytes: Uint8Array) => Float64Array {
  const invert = inverse(siteKey, kind)
  return (bytes) => {
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
    const count = bytes.byteLength >>> 3
    const [left, right] = [new Uint32Array(count), new Uint32Array(count)]
    for (let i = 0; i < count; i++) {
      left[i] = view.getUint32(8 * i)
      right[i] = view.getUint32(8 * i + 4)
    }
    invert(left, right)
    return Float64Array.from(right, (low, i) => left[i]! * 2 ** 32 + low).filter((_, i) => left[i]! < UPPER_LIMIT)
  }
}

/** Inverts the network in place, over the halves of several numbers. */
function inverse(siteKey: Uint8Array, kind: PseudonymKind): (left: Uint32Array, right: Uint32Array) => void {
  const mix = mixer(siteKey, kind)
  return (left, right) => {
    const round = mix(left.length)
    for (let number = ROUNDS - 1; number >= 0; number--) {
      const mixed = round(number, left)
      for (let i = 0; i < left.length; i++) {
        const before = (right[i]! ^ mixed(i)) >>> 0
        right[i] = left[i]!
        left[i] = before
      }
    }
  }
}

/** Creates the round function of the network: for `count` numbers at once, the bits that a half is combined with in a round. */
function mixer(siteKey: Uint8Array, kind: PseudonymKind) {
  const key = new Uint8Array(hkdfSync("sha256", siteKey, new Uint8Array(), `footfall/pseudonym/${kind}`, 32))
  return (count: number) => {
    const cipher = createCipheriv("aes-256-ecb", key, null).setAutoPadding(false)
    const blocks = Buffer.alloc(count * BLOCK)
    return (round: number, half: Uint32Array): ((i: number) => number) => {
      for (let i = 0; i < count; i++) {
        blocks[i * BLOCK] = round
        blocks.writeUInt32BE(half[i]!, i * BLOCK + BLOCK - 4)
      }
      const mixed = cipher.update(blocks)
      return (i) => mixed.readUInt32BE(i * BLOCK)
    }
  }
}

const hex = (half: number): string => half.toString(16).padStart(8, "0")
