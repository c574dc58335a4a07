/** Queries, rights and labels of the area. */
import { areaQueries, canOnSite, useMe } from "#plugin/ui"
import type { TransactionResponse } from "../transactions/responses.ts"

export const { useSiteQuery, useRefresh } = areaQueries("revenue")

export const revenuePath = (siteId: number): string => `/api/private/sites/${siteId}/revenue`
export const revenueAddress = (siteId: number): string => `/sites/${siteId}/revenue`

/** Returns what the user may do with the revenue of a site. */
export function useRights(siteId: number) {
  const me = useMe()
  return { writes: canOnSite(me, siteId, "revenue:write"), changesSettings: canOnSite(me, siteId, "revenue:settings") }
}

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
