/** Conversion between currencies by rates in decimal text, with big integers. Only the result is rounded, half to even. */
import { currencyDecimals, divideHalfEven, type Fraction, parseDay } from "#plugin"

/** A rate of one day: the price of one unit of `base` in `quote`, as decimal text. */
export interface Rate {
  /** 0 for a rate of the instance. */
  site_id: number
  day: string
  base: string
  quote: string
  rate: string
}

/** The factor from major units of one currency to those of another, as a fraction of whole numbers. */
export interface Factor {
  numerator: bigint
  denominator: bigint
  /** The factor as it was found: `1.0853`, `1/1.0853`, or `0.86/1.0853` through a third currency. */
  text: string
  /** Day of the rate, which can be earlier than the day asked for. */
  day: string
}

/** Number of days before a day in which a rate is looked for. */
export const RATE_DAYS = 7
const MAX_DIGITS = 12
const RATE = /^(\d{0,30})(?:\.(\d{0,30}))?$/

/** Returns a rate without superfluous zeros. Returns undefined unless it is a positive decimal number of at most 12 significant digits. */
export function parseRate(sent: unknown): string | undefined {
  const text = typeof sent === "number" ? String(sent) : typeof sent === "string" ? sent.trim() : ""
  const [, whole = "", fraction = ""] = RATE.exec(text) ?? []
  const [before, after] = [whole.replace(/^0+/, ""), fraction.replace(/0+$/, "")]
  const significant = (before + after).replace(/^0+/, "").replace(/0+$/, "")
  if (significant === "" || significant.length > MAX_DIGITS) return undefined
  return `${before === "" ? "0" : before}${after === "" ? "" : `.${after}`}`
}

const ONE: Fraction = { numerator: 1n, denominator: 1n }

function fractionOf(rate: string): Fraction {
  const [whole = "0", decimals = ""] = rate.split(".")
  return { numerator: BigInt(whole + decimals), denominator: 10n ** BigInt(decimals.length) }
}

/** Converts minor units of one currency to those of another. Rounds half to even. */
export function convert(minor: number | bigint, from: string, to: string, { numerator, denominator }: Fraction): bigint {
  const scaled = BigInt(minor) * numerator * 10n ** BigInt(decimalsOf(to))
  return divideHalfEven(scaled, denominator * 10n ** BigInt(decimalsOf(from)))
}

const decimalsOf = (currency: string): number => currencyDecimals(currency) ?? 2

/** Finds the factor between two currencies on a day. */
export type RateLookup = (from: string, to: string, day: string) => Factor | undefined

/** Creates the lookup over a list of rates. */
export function createRateLookup(rates: Iterable<Rate>): RateLookup {
  const days = Map.groupBy(rates, ({ day }) => day)
  return rateLookup((day) => days.get(day) ?? [])
}

/**
 * Creates the lookup over the rates of days, each of which is read once. The rate of the day wins, otherwise that of the nearest of the 7
 * days before. On each day, the site's own rates come before those of the instance; a direct rate comes before an inverse one, and this
 * before two rates with the same base, EUR first.
 */
export function rateLookup(ratesOf: (day: string) => readonly Rate[]): RateLookup {
  const days = new Map<string, DayRates>()
  const found = new Map<string, Factor | null>()
  const dayRates = (day: string): DayRates => {
    const known = days.get(day) ?? byPair(ratesOf(day))
    days.set(day, known)
    return known
  }
  return (from, to, day) => {
    if (from === to) return { ...ONE, text: "1", day }
    const key = `${from}${to}${day}`
    const cached = found.get(key)
    if (cached !== undefined) return cached ?? undefined
    const factor = nearest(dayRates, from, to, day)
    found.set(key, factor ?? null)
    return factor
  }
}

/** The rates of a day by pair, such as `EURUSD`: those of the site alone, and these with those of the instance. */
interface DayRates {
  own: Map<string, string>
  all: Map<string, string>
}

function byPair(rates: readonly Rate[]): DayRates {
  const [own, all] = [new Map<string, string>(), new Map<string, string>()]
  for (const { site_id, base, quote, rate } of rates) {
    const pair = base + quote
    if (site_id !== 0) own.set(pair, rate)
    if (site_id !== 0 || !own.has(pair)) all.set(pair, rate)
  }
  return { own, all }
}

function nearest(dayRates: (day: string) => DayRates, from: string, to: string, day: string): Factor | undefined {
  const asked = parseDay(day)
  for (let back = 0; asked && back <= RATE_DAYS; back++) {
    const each = asked.subtract({ days: back }).toString()
    const { own, all } = dayRates(each)
    const found = factorIn(own, from, to) ?? factorIn(all, from, to)
    if (found) return { ...found, day: each }
  }
  return undefined
}

type UndatedFactor = Omit<Factor, "day">

function factorIn(rates: ReadonlyMap<string, string>, from: string, to: string): UndatedFactor | undefined {
  const direct = rates.get(from + to)
  if (direct !== undefined) return { ...fractionOf(direct), text: direct }
  const inverse = rates.get(to + from)
  if (inverse !== undefined) return { ...quotient(ONE, fractionOf(inverse)), text: `1/${inverse}` }
  for (const base of basesOf(rates)) {
    const [toFrom, toTo] = [rates.get(base + from), rates.get(base + to)]
    if (toFrom !== undefined && toTo !== undefined) return { ...quotient(fractionOf(toTo), fractionOf(toFrom)), text: `${toTo}/${toFrom}` }
  }
  return undefined
}

const quotient = (dividend: Fraction, divisor: Fraction): Fraction => ({
  numerator: dividend.numerator * divisor.denominator,
  denominator: dividend.denominator * divisor.numerator,
})

/** Returns the bases of some rates: EUR first, then by code. */
const basesOf = (rates: ReadonlyMap<string, string>): string[] =>
  [...new Set([...rates.keys()].map((pair) => pair.slice(0, 3)))].sort((a, b) => (a === "EUR" ? -1 : b === "EUR" ? 1 : a < b ? -1 : 1))
