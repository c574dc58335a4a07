/**
 * Returns numerator / denominator, rounded half away from zero to a number of decimals; 0 for a zero denominator (metrics.md
 * 5.2). Exact for whole numbers: the remainder decides about the half, not a quotient that is itself rounded.
 */
export function roundedRatio(numerator: number, denominator: number, decimals: number): number {
  if (denominator === 0) return 0
  const scale = 10 ** decimals
  const size = Math.abs(numerator) * scale
  const whole = size <= Number.MAX_SAFE_INTEGER ? quotient(size, denominator) : largeQuotient(numerator, denominator, scale)
  return whole === 0 ? 0 : (Math.sign(numerator) * whole) / scale
}

function quotient(size: number, denominator: number): number {
  const rest = size % denominator
  return (size - rest) / denominator + (rest * 2 >= denominator ? 1 : 0)
}

/** Divides with BigInt, for sums of money in minor units that exceed the safe integers. */
function largeQuotient(numerator: number, denominator: number, scale: number): number {
  const [size, by] = [BigInt(Math.abs(numerator)) * BigInt(scale), BigInt(denominator)]
  return Number((2n * size + by) / (2n * by))
}
