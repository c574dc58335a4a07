import { currencyDecimals, parseCurrency } from "../domain/currency.ts"
import type { NewEvent } from "../domain/event.ts"

type Money = NonNullable<NewEvent["revenue"]>
export type RevenueFault = "invalid_currency" | "invalid_amount" | "too_many_decimals"

const AMOUNT = /^([+-]?)(\d{0,20})(?:\.(\d{0,40}))?$/
const MOST_MINOR_UNITS = 1e15

/** An amount in major units as whole minor units of its currency, by the text of the number and so without rounding. */
export function moneyOf(sent: { amount: unknown; currency: unknown }, siteCurrency: string): Money | RevenueFault {
  const currency = sent.currency === undefined || sent.currency === null ? siteCurrency : codeOf(sent.currency)
  const decimals = currency === undefined ? undefined : currencyDecimals(currency)
  if (currency === undefined || decimals === undefined) return "invalid_currency"
  const [, sign, whole = "", fraction = ""] = AMOUNT.exec(amountText(sent.amount)) ?? []
  if (whole + fraction === "") return "invalid_amount"
  const digits = fraction.replace(/0+$/, "")
  if (digits.length > decimals) return "too_many_decimals"
  const units = Number(whole + digits.padEnd(decimals, "0"))
  if (units > MOST_MINOR_UNITS) return "invalid_amount"
  // Not -0, which no column can tell from 0.
  return { amount: sign === "-" && units > 0 ? -units : units, currency }
}

const codeOf = (value: unknown): string | undefined => (typeof value === "string" ? parseCurrency(value.trim()) : undefined)

/** Numbers that JavaScript writes with an exponent are beyond every bound. */
const amountText = (amount: unknown): string =>
  typeof amount === "number" ? String(amount) : typeof amount === "string" ? amount.trim() : ""
