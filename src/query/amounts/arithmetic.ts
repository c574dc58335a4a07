import { divideHalfEven, type Fraction, shareOf } from "../../domain/division.ts"
import type { PackedTexts } from "../../domain/packed-rows.ts"
import { bucketAt } from "../parse/buckets.ts"
import type { Conversion, RowAmounts } from "./amounts.ts"

/** Returns share `part` of an amount, as `shareOf` does. Numbers are divided exactly without big integers. */
export function dividedAmount(amount: number | bigint, part: number, parts: number): number | bigint {
  if (typeof amount === "bigint") return shareOf(amount, part, parts)
  const rest = amount % parts
  return (amount - rest) / parts + (part < Math.abs(rest) ? Math.sign(rest) : 0)
}

/** Largest sum to which another amount can be added without a loss: no amount that is a number is larger than 2^53. */
const CARRY = 2 ** 52

/** Sums of whole numbers by group, which are exact at any size. */
export class Totals {
  readonly #amounts: number[] = []
  readonly #weights: number[] = []
  readonly #carried = new Map<number, bigint>()

  /** Adds the amounts of rows, each to its group. */
  add(groups: Uint32Array, { amounts, weights, large }: RowAmounts): void {
    const [sums, counts] = [this.#amounts, this.#weights]
    for (let i = 0; i < groups.length; i++) {
      const group = groups[i]!
      while (group >= sums.length) {
        sums.push(0)
        counts.push(0)
      }
      counts[group]! += weights[i]!
      const amount = amounts[i]!
      if (amount > CARRY || amount < -CARRY) this.#carry(group, BigInt(amount))
      else sums[group]! += amount
      if (sums[group]! > CARRY || sums[group]! < -CARRY) {
        this.#carry(group, BigInt(sums[group]!))
        sums[group] = 0
      }
    }
    for (const [i, amount] of large) this.#carry(groups[i]!, amount)
  }

  of(group: number): { amount: bigint; weight: number } {
    return { amount: BigInt(this.#amounts[group]!) + (this.#carried.get(group) ?? 0n), weight: this.#weights[group]! }
  }

  #carry(group: number, amount: bigint): void {
    this.#carried.set(group, (this.#carried.get(group) ?? 0n) + amount)
  }
}

type Multiplier = (amount: number) => number | bigint

/** Creates the function that finds the factor of each of some rows, undefined without a rate. */
export function converter({ edges, factors }: Conversion) {
  const days = Float64Array.from(edges)
  const [first, end] = [days[0] ?? Number.POSITIVE_INFINITY, days[days.length - 1] ?? Number.NEGATIVE_INFINITY]
  const known = new Map(Object.entries(factors).map(([currency, list]) => [currency, list.map((one) => one && multiplier(one))]))
  return ({ values, codes }: PackedTexts, instants: Float64Array) => {
    const lists = values.map((currency) => known.get(currency))
    return (row: number): Multiplier | undefined => {
      const [list, at] = [lists[codes[row]!], instants[row]!]
      return list && at >= first && at < end ? (list[bucketAt(days, at)] ?? undefined) : undefined
    }
  }
}

/** Creates the multiplication by a fraction, rounded half to even. Products up to 2^52 need no big integers. */
function multiplier({ numerator, denominator }: Fraction): Multiplier {
  if (numerator === denominator) return (amount) => amount
  const [by, divisor] = [Number(numerator), Number(denominator)]
  const isSmall = by <= CARRY && divisor <= CARRY
  return (amount) => {
    const product = amount * by
    if (!isSmall || product > CARRY || product < -CARRY) return smallest(divideHalfEven(BigInt(amount) * numerator, denominator))
    const rest = product % divisor
    const quotient = (product - rest) / divisor
    const twice = 2 * Math.abs(rest)
    const isUp = twice > divisor || (twice === divisor && quotient % 2 !== 0)
    return isUp ? quotient + Math.sign(product) : quotient
  }
}

const smallest = (amount: bigint): number | bigint => (amount <= CARRY && amount >= -CARRY ? Number(amount) : amount)
