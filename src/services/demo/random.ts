/** Pseudo-random numbers, which are equal for the same seed on every machine. */
export interface Random {
  /** Returns a number from 0 to less than 1. */
  next(): number
  /** Returns a whole number from 0 to less than `limit`. */
  below(limit: number): number
  chance(probability: number): boolean
  pick<Item>(items: readonly Item[]): Item
  /** Returns an item with a probability proportional to its weight. */
  weighted<Item>(items: readonly (readonly [weight: number, item: Item])[]): Item
  /** Returns a whole number from an exponential distribution with this mean, like times between clicks. */
  around(mean: number): number
}

/** Creates a mulberry32 generator: small and fast, but not secure, so it must not be used for keys and salts. */
export function seededRandom(seed: number): Random {
  let state = seed >>> 0
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
  const below = (limit: number): number => Math.floor(next() * limit)
  return {
    next,
    below,
    chance: (probability) => next() < probability,
    pick: (items) => items[below(items.length)]!,
    weighted(items) {
      let left = next() * items.reduce((sum, [weight]) => sum + weight, 0)
      for (const [weight, item] of items) {
        left -= weight
        if (left < 0) return item
      }
      return items.at(-1)![1]
    },
    around: (mean) => Math.round(-mean * Math.log(1 - next())),
  }
}
