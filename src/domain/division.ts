/** Exact division of amounts. */

/** A factor as a fraction of whole numbers; the denominator is positive. */
export interface Fraction {
  numerator: bigint
  denominator: bigint
}

/** Divides by a positive number and rounds half to even. */
export function divideHalfEven(dividend: bigint, divisor: bigint): bigint {
  const size = dividend < 0n ? -dividend : dividend
  const quotient = size / divisor
  const twice = 2n * (size % divisor)
  const isUp = twice > divisor || (twice === divisor && quotient % 2n === 1n)
  const rounded = isUp ? quotient + 1n : quotient
  return dividend < 0n ? -rounded : rounded
}

/** Divides by a positive number and rounds half away from zero. */
export function divideHalfAway(dividend: bigint, divisor: bigint): bigint {
  const size = dividend < 0n ? -dividend : dividend
  const rounded = (2n * size + divisor) / (2n * divisor)
  return dividend < 0n ? -rounded : rounded
}

/** Returns share `part`, counted from 0, of an amount that is divided evenly. What cannot be divided goes to the first shares, so shares add up. */
export function shareOf(amount: bigint, part: number, parts: number): bigint {
  const size = amount < 0n ? -amount : amount
  const share = size / BigInt(parts) + (BigInt(part) < size % BigInt(parts) ? 1n : 0n)
  return amount < 0n ? -share : share
}
