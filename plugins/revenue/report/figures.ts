import { type AmountGroup, currencyDecimals, divideHalfAway, formatMoney, type Money, type TransactionType } from "#plugin"
import type { Figures } from "./responses.ts"

/** Exact sums of some transactions of one currency. */
export interface Sums {
  gross: bigint
  refunds: bigint
  adjustments: bigint
  /** In hundredths. */
  orders: number
}

export const noSums = (): Sums => ({ gross: 0n, refunds: 0n, adjustments: 0n, orders: 0 })

/** Adds the amounts of one type. */
export function addSums(sums: Sums, type: TransactionType, { amount, weight }: Pick<AmountGroup, "amount" | "weight">): void {
  if (type === "sale") sums.gross += amount
  else if (type === "adjustment") sums.adjustments += amount
  else sums.refunds += amount
  sums.orders += weight
}

/** Sums by currency. */
export type CurrencySums = Map<string, Sums>

/** Returns the sums of a currency, and creates them. */
export function sumsOf(all: CurrencySums, currency: string): Sums {
  const found = all.get(currency) ?? noSums()
  all.set(currency, found)
  return found
}

export const netOf = ({ gross, refunds, adjustments }: Sums): bigint => gross - refunds + adjustments

export const ordersOf = ({ orders }: Sums): number => orders / 100

/** Returns an amount divided by a number of orders in hundredths. null without orders. */
export const perOrder = (amount: bigint, orders: number, currency: string): Money | null =>
  orders === 0 ? null : formatMoney(divideHalfAway(100n * amount, BigInt(orders)), currency)

/** Percent with one decimal, half away from zero; 0 without a whole. */
export const percentOf = (part: bigint, whole: bigint): number =>
  whole === 0n ? 0 : Number(divideHalfAway(1_000n * part, whole < 0n ? -whole : whole)) / 10

/** Returns the figures that every group, bucket and total has. */
export const booked = (currency: string, sums: Sums) => ({
  currency,
  gross: formatMoney(sums.gross, currency),
  refunds: formatMoney(sums.refunds, currency),
  net: formatMoney(netOf(sums), currency),
})

/** Returns amounts that can't be converted. Their net alone can be 0, although amounts are missing. */
export const unconvertedOf = (currency: string, sums: Sums) => ({
  currency,
  amount: formatMoney(netOf(sums), currency),
  gross: formatMoney(sums.gross, currency),
  refunds: formatMoney(sums.refunds, currency),
  adjustments: formatMoney(sums.adjustments, currency),
  orders: ordersOf(sums),
})

export function figuresOf(currency: string, sums: Sums, counts: { customers: number; refundedOrders: number }): Figures {
  const { orders, gross, refunds } = sums
  return {
    ...booked(currency, sums),
    orders: ordersOf(sums),
    refunded_orders: counts.refundedOrders,
    aov: perOrder(gross, orders, currency),
    net_per_order: perOrder(netOf(sums), orders, currency),
    customers: counts.customers,
    refund_rate: percentOf(refunds, gross),
  }
}

/** Orders currencies by their number of orders, then by code. */
export const byOrders = ([a, one]: readonly [string, Sums], [b, other]: readonly [string, Sums]): number =>
  other.orders - one.orders || (a < b ? -1 : 1)

/** Returns the factor that converts minor units of one currency to those of another, by a factor of major units. */
export function minorFactor(factor: { numerator: bigint; denominator: bigint }, from: string, to: string) {
  const unit = (currency: string): bigint => 10n ** BigInt(currencyDecimals(currency) ?? 2)
  return { numerator: factor.numerator * unit(to), denominator: factor.denominator * unit(from) }
}
