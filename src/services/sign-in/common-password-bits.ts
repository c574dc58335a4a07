/** Size of the Bloom filter: 20 bits for each of the 44,000 passwords. About 1 in 15,000 other passwords is rejected by mistake. */
export const FILTER_BITS = 880_000
const BITS_EACH = 14

/** Returns the bits of the filter that stand for a password. */
export function bitsOf(password: string): number[] {
  const hash = Bun.hash.xxHash64(password)
  // `>>> 0` keeps the step positive, because bit operations return signed numbers.
  const [start, step] = [Number(hash & 0xffffffffn), (Number(hash >> 32n) | 1) >>> 0]
  return Array.from({ length: BITS_EACH }, (_, round) => (start + round * step) % FILTER_BITS)
}
