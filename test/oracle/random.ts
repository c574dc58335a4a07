/** Pseudorandom numbers, the same for the same seed. */
export interface Random {
  /** At least 0 and below 1. */
  next(): number
  /** Both bounds inclusive. */
  whole(from: number, to: number): number
  chance(probability: number): boolean
  pick<T>(from: readonly T[]): T
  some<T>(from: readonly T[], atLeast: number, atMost: number): T[]
  shuffled<T>(from: readonly T[]): T[]
}

export function seededRandom(seed: number): Random {
  let state = seed >>> 0
  // mulberry32
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
  const whole = (from: number, to: number) => from + Math.floor(next() * (to - from + 1))
  const shuffled = <T>(from: readonly T[]) => {
    const left = [...from]
    return from.map(() => left.splice(whole(0, left.length - 1), 1)[0]!)
  }
  return {
    next,
    whole,
    chance: (probability) => next() < probability,
    pick: (from) => from[whole(0, from.length - 1)]!,
    some: (from, atLeast, atMost) => shuffled(from).slice(0, whole(atLeast, Math.min(atMost, from.length))),
    shuffled,
  }
}
