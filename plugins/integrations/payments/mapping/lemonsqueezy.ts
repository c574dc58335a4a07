import { type Mapped, type PaymentDraft, paid, unknownType } from "./mapped.ts"
import { currencyIn, detailIn, entryOf, itemsOf, type Json, minorIn, objectIn, requiredId, textIn, timeIn } from "./reading.ts"

/** An order or a subscription invoice. Both have small numbers as ids, so their type is part of the id of the payment. */
interface Subject {
  /** Its id as the shop sees it. */
  id: string
  external_id: string
  attributes: Json
  custom: Json
  currency: string
}

export function mapLemonSqueezy(event: Json): Mapped {
  const meta = objectIn(event, "meta")
  const type = textIn(meta, "event_name")
  const map = entryOf(TYPES, type)
  if (!map) return unknownType(type)
  const data = objectIn(event, "data")
  const attributes = objectIn(data, "attributes")
  const id = requiredId(data, "id")
  return map({
    id,
    external_id: `${requiredId(data, "type")}:${id}`,
    attributes,
    custom: objectIn(meta, "custom_data"),
    currency: currencyIn(attributes, "currency"),
  })
}

const TYPES: Readonly<Record<string, (subject: Subject) => Mapped>> = {
  order_created: order,
  order_refunded: refund,
  subscription_payment_success: subscriptionInvoice,
  subscription_payment_refunded: (subject) => (isInitial(subject) ? COUNTED_BY_ORDER : refund(subject)),
}

/** Lemon Squeezy reports the first payment of a subscription twice: as an order and as an invoice. Only the order has custom data. */
const isInitial = ({ attributes }: Subject): boolean => textIn(attributes, "billing_reason") === "initial"
const COUNTED_BY_ORDER: Mapped = { ignored: "The first payment of a subscription is counted by its order." }

const amounts = ({ attributes, currency }: Subject): Pick<PaymentDraft, "amount_minor" | "tax_minor" | "discount_minor" | "currency"> => ({
  currency,
  amount_minor: minorIn(attributes, "total"),
  tax_minor: detailIn(() => minorIn(attributes, "tax")),
  discount_minor: detailIn(() => minorIn(attributes, "discount_total")),
})

function order(subject: Subject): Mapped {
  const { id, external_id, attributes, custom } = subject
  if (textIn(attributes, "status") !== "paid") return { ignored: "The order is not paid." }
  const item = objectIn(attributes, "first_order_item")
  return paid({
    payment: {
      ...amounts(subject),
      ...{ type: "sale", external_id, aliases: [], order_id: textIn(custom, "order_id") ?? id },
      occurred_at: timeIn(attributes, ["created_at"]),
      ...itemsOf([{ quantity: 1, ...item }], () => ({
        sku: textIn(item, "variant_id"),
        name: textIn(item, "product_name"),
        total: minorIn(item, "price") * Number(item.quantity ?? 1),
      })),
    },
    userId: textIn(custom, "user_id"),
  })
}

function subscriptionInvoice(subject: Subject): Mapped {
  if (isInitial(subject)) return COUNTED_BY_ORDER
  const { external_id, attributes, custom } = subject
  return paid({
    payment: {
      ...amounts(subject),
      // The custom data are those of the first order, so its id does not belong to this payment.
      ...{ type: "sale", external_id, aliases: [], recurring: "renewal" },
      occurred_at: timeIn(attributes, ["created_at"]),
    },
    userId: textIn(custom, "user_id"),
  })
}

function refund({ external_id, attributes, currency }: Subject): Mapped {
  const hasAmount = attributes.refunded_amount !== undefined && attributes.refunded_amount !== null
  return {
    payments: [
      {
        payment: {
          ...{ type: "refund", external_id, aliases: [], parent: external_id, currency },
          amount_minor: minorIn(attributes, hasAmount ? "refunded_amount" : "total"),
          occurred_at: timeIn(attributes, ["refunded_at", "updated_at"]),
        },
        isCumulative: true,
      },
    ],
  }
}
