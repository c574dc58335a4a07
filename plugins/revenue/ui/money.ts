/** Texts of amounts, orders and groups. Apart from `answers.ts`, because dashboards that are shared by a link show them too. */
import { currencyStyle, locale, type Money, visible } from "#plugin/ui"

/** Formats an exact amount in its currency. Amounts are never converted to fractions: the text has every digit. */
export const moneyText = ({ amount, currency }: Money): string =>
  formatOf(currency)
    .format(amount as `${number}`)
    .replace("-", "−")

/** The same, shortened from 100,000 on, for figures. */
export function shortMoney(money: Money): string {
  const value = Number(money.amount)
  if (Math.abs(value) < 100_000) return moneyText(money)
  return formatOf(money.currency, true).format(value).replace("-", "−")
}

const formats = new Map<string, Intl.NumberFormat>()

function formatOf(currency: string, isShort = false): Intl.NumberFormat {
  const key = `${locale()} ${currency} ${isShort}`
  const found =
    formats.get(key) ??
    new Intl.NumberFormat(locale(), {
      ...currencyStyle(currency),
      ...(isShort && { notation: "compact", minimumFractionDigits: 0, maximumFractionDigits: 1 }),
    })
  formats.set(key, found)
  return found
}

/** Returns the amount as a number for drawing, which need not be exact. */
export const sizeOf = ({ amount }: Money): number => Number(amount)

/** Number of orders, which shared attribution makes fractions of. */
export const ordersText = (orders: number): string => new Intl.NumberFormat(locale(), { maximumFractionDigits: 2 }).format(orders)

interface Unconverted {
  gross: Money
  refunds: Money
  adjustments: Money
  orders: number
}

/** Names amounts without a rate: sales alone by their amount, otherwise each kind, because together they can be 0. */
export function unconvertedText({ gross, refunds, adjustments, orders }: Unconverted): string {
  const kinds = [
    ["sales", gross],
    ["refunds", refunds],
    ["adjustments", adjustments],
  ] as const
  const parts = kinds.filter(([, money]) => sizeOf(money) !== 0)
  if (parts.length === 0) return `${ordersText(orders)} ${orders === 1 ? "order" : "orders"} of ${moneyText(gross)}`
  if (parts.length === 1 && parts[0]![0] === "sales") return moneyText(gross)
  return parts.map(([kind, money]) => `${moneyText(money)} of ${kind}`).join(" and ")
}

const RECURRING: Readonly<Record<string, string>> = { first: "First payment", renewal: "Renewal", "(none)": "Not a subscription" }

/** Returns the name of a group of a breakdown. */
export function groupName(group: string, { key, label }: { key: string; label?: string }): string {
  if (group === "recurring") return RECURRING[key] ?? key
  if (group === "link" && key === "(none)") return "Without a short link"
  return visible(label ?? key)
}
