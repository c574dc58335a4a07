import type { Mapped } from "./mapped.ts"
import {
  currencyIn,
  detailIn,
  itemsOf,
  type Json,
  listIn,
  majorIn,
  namedValue,
  objectIn,
  requiredId,
  textIn,
  timeIn,
  Unmappable,
} from "./reading.ts"

/** Maps an order or a refund, which is the whole body. The topic is in a header that is not signed, so the body alone decides. */
export function mapShopify(body: Json): Mapped {
  if (Array.isArray(body.refund_line_items) && textIn(body, "order_id") !== undefined) return refund(body)
  if (textIn(body, "financial_status") !== undefined && Array.isArray(body.line_items)) return order(body)
  return { ignored: "The event is not about an order or a refund." }
}

/** Statuses of an order that was paid in full. */
const PAID = ["paid", "partially_refunded", "refunded"]

function order(body: Json): Mapped {
  if (!PAID.includes(textIn(body, "financial_status")!)) return { ignored: "The order is not paid." } // the caller has read the status
  const id = requiredId(body, "id")
  const currency = currencyIn(body, "currency")
  const attributes = listIn(body, "note_attributes")
  return {
    payments: [
      {
        payment: {
          ...{ type: "sale", external_id: id, aliases: [], order_id: namedValue(attributes, "name", "order_id") ?? id, currency },
          amount_minor: majorIn(body, "total_price", currency),
          tax_minor: detailIn(() => majorIn(body, "total_tax", currency)),
          shipping_minor: detailIn(() => majorIn(objectIn(objectIn(body, "total_shipping_price_set"), "shop_money"), "amount", currency)),
          discount_minor: detailIn(() => majorIn(body, "total_discounts", currency)),
          ...itemsOf(listIn(body, "line_items"), (line) => ({
            ...{ sku: textIn(line, "sku"), name: textIn(line, "title") },
            // The price is that of one piece before discounts.
            total: majorIn(line, "price", currency) * Number(line.quantity) - detailIn(() => majorIn(line, "total_discount", currency)),
          })),
          occurred_at: timeIn(body, ["processed_at", "created_at"]),
        },
        userId: namedValue(attributes, "name", "user_id"),
      },
    ],
  }
}

/** Maps a refund by the payments back to the customer. One without any only puts articles back into stock. */
function refund(body: Json): Mapped {
  const payments = listIn(body, "transactions").filter(({ kind, status }) => kind === "refund" && status === "success")
  if (payments.length === 0) return { ignored: "The refund pays nothing back." }
  const currency = currencyIn(payments[0]!, "currency") // there is at least one
  if (payments.some((payment) => currencyIn(payment, "currency") !== currency)) throw new Unmappable("The refund has several currencies.")
  const amount_minor = payments.reduce((sum, payment) => sum + majorIn(payment, "amount", currency), 0)
  return {
    payments: [
      {
        payment: {
          ...{ type: "refund", external_id: requiredId(body, "id"), aliases: [], parent: requiredId(body, "order_id") },
          ...{ amount_minor, currency, occurred_at: timeIn(body, ["created_at", "processed_at"]) },
        },
      },
    ],
  }
}
