import { type PaymentReceived, TRANSACTION_TYPES, type TransactionType } from "#plugin"
import { type Mapped, unknownType } from "./mapped.ts"
import { currencyIn, type Json, requiredId, textIn, timeIn } from "./reading.ts"

/** Fields of the payment object that a sender may add as they are. They are checked together with the whole payment. */
const ADDITIONAL = ["tax_minor", "shipping_minor", "discount_minor", "items", "aliases", "recurring", "voided"] as const

/** Maps an event in the form of the product, for shops and providers that have none of their own. */
export function mapGeneric(event: Json): Mapped {
  const type = textIn(event, "type")
  if (!isTransactionType(type)) return unknownType(type)
  const additional = ADDITIONAL.filter((name) => event[name] !== undefined).map((name) => [name, event[name]] as const)
  const [order_id, parent] = [textIn(event, "order_id"), textIn(event, "parent")]
  return {
    payments: [
      {
        payment: {
          aliases: [],
          ...(Object.fromEntries(additional) as Partial<Pick<PaymentReceived, (typeof ADDITIONAL)[number]>>), // checked by the caller
          ...{ type, external_id: requiredId(event, "id"), currency: currencyIn(event, "currency") },
          ...(order_id !== undefined && { order_id }),
          ...(parent !== undefined && { parent }),
          amount_minor: event.amount_minor as number, // checked by the caller
          occurred_at: timeIn(event, ["occurred_at"]),
        },
        userId: textIn(event, "customer_reference"),
        visitor: textIn(event, "visitor"),
      },
    ],
  }
}

const isTransactionType = (type: string | undefined): type is TransactionType => TRANSACTION_TYPES.some((known) => known === type)
