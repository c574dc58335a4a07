/** About twenty bits for each of the 44,000 passwords: of 15,000 good passwords one is refused in error. */
export const FILTER_BITS = 880_000
const BITS_EACH = 14

/** The bits of the filter that a password sets, or must find set. */
export function bitsOf(password: string): number[] {
  const hash = Bun.hash.xxHash64(password)
  // Shifted by nothing to stay positive: bit operations make signed numbers.
  const [start, step] = [Number(hash & 0xffffffffn), (Number(hash >> 32n) | 1) >>> 0]
  return Array.from({ length: BITS_EACH }, (_, round) => (start + round * step) % FILTER_BITS)
}
