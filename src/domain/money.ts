/** Amounts of money: whole minor units of a currency, read from and written as exact decimal text. Nothing passes through a fraction. */
import { type Static, Type as t } from "@sinclair/typebox"
import { currencyDecimals } from "./currency.ts"

/** Maximum size of an amount in minor units. Every amount is therefore exact as a number; a sum may not be. */
export const MAX_AMOUNT_MINOR = 1e15

/** Schema of an amount in responses of the private API (areas/00 section 2). */
export const Money = t.Object(
  {
    amount_minor: t.Union([t.Integer(), t.Null()], { description: "Amount in minor units. null beyond ±(2^53 − 1)." }),
    currency: t.String({ description: "ISO 4217 code." }),
    amount: t.String({ description: "Exact amount as decimal text, such as `12.34`." }),
  },
  { title: "Money" },
)
export type Money = Static<typeof Money>

/** Formats an amount in minor units of an active currency. */
export const formatMoney = (minor: number | bigint, currency: string): Money => ({
  amount_minor: Number.isSafeInteger(Number(minor)) ? Number(minor) : null,
  currency,
  amount: decimalText(minor, currencyDecimals(currency) ?? 2),
})

/** Writes minor units as a decimal number with all decimals of the currency: 5 with 2 decimals is `0.05`. */
export function decimalText(minor: number | bigint, decimals: number): string {
  const digits = (minor < 0 ? -BigInt(minor) : BigInt(minor)).toString().padStart(decimals + 1, "0")
  const sign = minor < 0 ? "-" : ""
  return decimals === 0 ? sign + digits : `${sign}${digits.slice(0, -decimals)}.${digits.slice(-decimals)}`
}

export type AmountFault = "invalid_amount" | "too_many_decimals" | "amount_out_of_range"

const AMOUNT = /^([+-]?)(\d*)(?:\.(\d*))?$/
/** A number closer to 0 has more decimals than any currency. */
const SMALLEST = 1e-6

/**
 * Reads an amount in major units, sent as a number or as decimal text, and returns whole minor units. Works on the digits, so that
 * nothing is rounded.
 */
export function parseAmount(sent: unknown, decimals: number): number | AmountFault {
  if (typeof sent === "number" && Math.abs(sent) > MAX_AMOUNT_MINOR) return "amount_out_of_range"
  if (typeof sent === "number" && sent !== 0 && Math.abs(sent) < SMALLEST) return "too_many_decimals"
  const [, sign, whole = "", fraction = ""] = AMOUNT.exec(amountText(sent)) ?? []
  if (whole + fraction === "") return "invalid_amount"
  const digits = fraction.replace(/0+$/, "")
  if (digits.length > decimals) return "too_many_decimals"
  const minor = Number(whole + digits.padEnd(decimals, "0"))
  if (minor > MAX_AMOUNT_MINOR) return "amount_out_of_range"
  // Avoids -0, which columns cannot distinguish from 0.
  return sign === "-" && minor > 0 ? -minor : minor
}

/** Returns an amount as text. JavaScript writes the numbers between the bounds above without an exponent. */
const amountText = (sent: unknown): string => (typeof sent === "number" ? String(sent) : typeof sent === "string" ? sent.trim() : "")
