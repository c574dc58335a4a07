import type { Mapped, MappedPayment } from "./mapped.ts"
import { currencyIn, detailIn, itemsOf, type Json, listIn, majorIn, namedValue, requiredId, textIn, timeIn } from "./reading.ts"

/** Statuses of an order that was paid. */
const PAID = ["processing", "completed"]

/** Maps an order, which is the whole body. The topic is in a header that is not signed, so the body alone decides. */
export function mapWooCommerce(order: Json): Mapped {
  if (!Array.isArray(order.line_items) || textIn(order, "status") === undefined) return { ignored: "The event is not about an order." }
  const status = textIn(order, "status")!
  // The status changes to refunded only after the order was paid.
  const wasPaid = PAID.includes(status) || (status === "refunded" && textIn(order, "date_paid_gmt") !== undefined)
  const refunds = listIn(order, "refunds")
  if (!wasPaid && refunds.length === 0) return { ignored: "The order is not paid." }
  return { payments: [...(wasPaid ? [saleOf(order)] : []), ...refunds.map((refund) => refundOf(order, refund))] }
}

const UTC = "Z"

function saleOf(order: Json): MappedPayment {
  const id = requiredId(order, "id")
  const currency = currencyIn(order, "currency")
  const details = listIn(order, "meta_data")
  const isRenewal = details.some(({ key }) => key === "_subscription_renewal")
  return {
    payment: {
      ...{ type: "sale", external_id: id, aliases: [], order_id: namedValue(details, "key", "order_id") ?? id, currency },
      amount_minor: majorIn(order, "total", currency),
      tax_minor: detailIn(() => majorIn(order, "total_tax", currency)),
      shipping_minor: detailIn(() => majorIn(order, "shipping_total", currency)),
      discount_minor: detailIn(() => majorIn(order, "discount_total", currency)),
      ...itemsOf(listIn(order, "line_items"), (line) => ({
        ...{ sku: textIn(line, "sku"), name: textIn(line, "name") },
        total: majorIn(line, "total", currency),
      })),
      ...(isRenewal && { recurring: "renewal" as const }),
      occurred_at: timeIn(order, ["date_paid_gmt", "date_created_gmt"], UTC),
    },
    userId: namedValue(details, "key", "user_id"),
  }
}

/** Refunds have only an id and a negative total. */
function refundOf(order: Json, refund: Json): MappedPayment {
  const currency = currencyIn(order, "currency")
  return {
    payment: {
      ...{ type: "refund", external_id: requiredId(refund, "id"), aliases: [], parent: requiredId(order, "id"), currency },
      amount_minor: Math.abs(majorIn(refund, "total", currency)),
      occurred_at: timeIn(order, ["date_modified_gmt", "date_created_gmt"], UTC),
    },
  }
}
