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
  const key = new Uint8Array(hkdfSync("sha256", siteKey, new Uint8Array(), `footfall/pseudonym/${kind}`, 32))
  return (numbers) => {
    const cipher = createCipheriv("aes-256-ecb", key, null).setAutoPadding(false)
    const left = Uint32Array.from(numbers, (number) => Math.floor(number / 2 ** 32))
    const right = Uint32Array.from(numbers)
    const blocks = Buffer.alloc(numbers.length * BLOCK)
    for (let round = 0; round < ROUNDS; round++) {
      for (let i = 0; i < numbers.length; i++) {
        blocks[i * BLOCK] = round
        blocks.writeUInt32BE(right[i]!, i * BLOCK + BLOCK - 4)
      }
      const mixed = cipher.update(blocks)
      for (let i = 0; i < numbers.length; i++) {
        const next = (left[i]! ^ mixed.readUInt32BE(i * BLOCK)) >>> 0
        left[i] = right[i]!
        right[i] = next
      }
    }
    return numbers.map((_, i) => hex(left[i]!) + hex(right[i]!))
  }
}

const hex = (half: number): string => half.toString(16).padStart(8, "0")
