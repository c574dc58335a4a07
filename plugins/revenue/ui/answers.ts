/** Queries, rights and texts of the area. */
import { areaQueries, canOnSite, locale, type Money, useMe } from "#plugin/ui"
import type { TransactionResponse } from "../transactions/responses.ts"

export const { useSiteQuery, useRefresh } = areaQueries("revenue")

export const revenuePath = (siteId: number): string => `/api/private/sites/${siteId}/revenue`
export const revenueAddress = (siteId: number): string => `/sites/${siteId}/revenue`

/** Returns what the user may do with the revenue of a site. */
export function useRights(siteId: number) {
  const me = useMe()
  return { writes: canOnSite(me, siteId, "revenue:write"), changesSettings: canOnSite(me, siteId, "revenue:settings") }
}

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
      style: "currency",
      currency,
      ...(isShort && { notation: "compact", maximumFractionDigits: 1 }),
    })
  formats.set(key, found)
  return found
}

/** Returns the amount as a number for drawing, which need not be exact. */
export const sizeOf = ({ amount }: Money): number => Number(amount)

/** Number of orders, which shared attribution makes fractions of. */
export const ordersText = (orders: number): string => new Intl.NumberFormat(locale(), { maximumFractionDigits: 2 }).format(orders)

export const TYPE_LABELS: Readonly<Record<TransactionResponse["type"], string>> = {
  sale: "Sale",
  refund: "Refund",
  dispute: "Dispute",
  adjustment: "Adjustment",
}
export const PROVIDER_LABELS: Readonly<Record<TransactionResponse["provider"], string>> = {
  tracker: "Event",
  manual: "Added by hand",
  import: "Import",
  stripe: "Stripe",
  paddle: "Paddle",
  lemonsqueezy: "Lemon Squeezy",
  woocommerce: "WooCommerce",
  shopify: "Shopify",
  generic: "Webhook",
}
export const TRUST_LABELS: Readonly<Record<TransactionResponse["trust"], string>> = {
  client: "Unverified",
  server: "Server",
  webhook: "Payment provider",
}
export const FLAG_LABELS: Readonly<Record<TransactionResponse["flags"][number], string>> = {
  disputed: "Disputed",
  over_refunded: "Refunded more than paid",
  unattributed: "Unattributed",
}
