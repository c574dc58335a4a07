/** Returns numerator / denominator, rounded half away from zero to the given number of decimals; 0 if the denominator is 0. */
export function rounded(numerator: number, denominator: number, decimals: number): number {
  if (denominator === 0) return 0
  const scaled = BigInt(Math.abs(numerator)) * 10n ** BigInt(decimals)
  const doubled = 2n * BigInt(denominator)
  const whole = (2n * scaled + BigInt(denominator)) / doubled
  const size = Number(whole) / 10 ** decimals
  return numerator < 0 && size !== 0 ? -size : size
}

/** Returns the median; for an even number of values, the mean of the middle two. */
export function median(values: readonly number[], unit: number): number {
  const sorted = [...values].sort((a, b) => a - b)
  const [low, high] = [sorted[Math.floor((sorted.length - 1) / 2)]!, sorted[Math.floor(sorted.length / 2)]!]
  return rounded(low + high, 2 * unit, 0)
}

/** Returns the percentile by nearest rank: the smallest value that at least `percent` of the values do not exceed. */
export function percentile(values: readonly number[], percent: number): number {
  const sorted = [...values].sort((a, b) => a - b)
  return sorted.find((value) => sorted.filter((each) => each <= value).length * 100 >= percent * sorted.length)!
}

export const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0)
export const distinct = <T>(values: readonly T[]): number => new Set(values).size

export function compareCodePoints(a: string, b: string): number {
  const [one, other] = [Array.from(a, (each) => each.codePointAt(0)!), Array.from(b, (each) => each.codePointAt(0)!)]
  for (let i = 0; i < Math.min(one.length, other.length); i++) if (one[i] !== other[i]) return one[i]! - other[i]!
  return one.length - other.length
}
