/**
 * numerator / denominator, rounded once, half away from zero, to so many decimals; 0 without a denominator (metrics.md
 * 5.2). Exact for whole numbers: the half is decided by the remainder, not by a quotient that is itself rounded.
 */
export function roundedRatio(numerator: number, denominator: number, decimals: number): number {
  if (denominator === 0) return 0
  const scale = 10 ** decimals
  const size = Math.abs(numerator) * scale
  const rest = size % denominator
  const whole = (size - rest) / denominator + (rest * 2 >= denominator ? 1 : 0)
  return whole === 0 ? 0 : (Math.sign(numerator) * whole) / scale
}
