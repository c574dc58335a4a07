import { createCipheriv, hkdfSync } from "node:crypto"

/** What numbers of a site are named by: each kind has names of its own. */
export type Named = "visitor" | "visit"

const ROUNDS = 10
const BLOCK = 16

/**
 * Names of a site's visitors and visits outside the house (metrics.md 2.1): 64 bits in 16 hex digits, one to one, and of
 * no meaning to who lacks the site key. A Feistel network over the two halves of the number; its round function is the
 * first half of an AES block. All numbers take each round together, because a call of the cipher costs more than its work.
 */
export function pseudonyms(siteKey: Uint8Array, kind: Named): (numbers: readonly number[]) => string[] {
  const mix = mixer(siteKey, kind)
  return (numbers) => {
    const left = Uint32Array.from(numbers, (number) => Math.floor(number / 2 ** 32))
    const right = Uint32Array.from(numbers)
    const round = mix(numbers.length)
    for (let number = 0; number < ROUNDS; number++) {
      const mixed = round(number, right)
      for (let i = 0; i < numbers.length; i++) {
        const next = (left[i]! ^ mixed(i)) >>> 0
        left[i] = right[i]!
        right[i] = next
      }
    }
    return numbers.map((_, i) => hex(left[i]!) + hex(right[i]!))
  }
}

/** The way back: numbers by the names that the same key gave them. */
export function numbersNamed(siteKey: Uint8Array, kind: Named): (names: readonly string[]) => number[] {
  const mix = mixer(siteKey, kind)
  return (names) => {
    const left = Uint32Array.from(names, (name) => Number.parseInt(name.slice(0, 8), 16))
    const right = Uint32Array.from(names, (name) => Number.parseInt(name.slice(8), 16))
    const round = mix(names.length)
    for (let number = ROUNDS - 1; number >= 0; number--) {
      const mixed = round(number, left)
      for (let i = 0; i < names.length; i++) {
        const before = (right[i]! ^ mixed(i)) >>> 0
        right[i] = left[i]!
        left[i] = before
      }
    }
    return names.map((_, i) => left[i]! * 2 ** 32 + right[i]!)
  }
}

/** The round function of the network: for so many numbers at once, what a half is mixed with in a round. */
function mixer(siteKey: Uint8Array, kind: Named) {
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
