import { currencyDecimals } from "#plugin"
import { type Mapped, type MappedPayment, type PaymentDraft, paid, unknownType } from "./mapped.ts"
import {
  aliasesOf,
  currencyIn,
  detailIn,
  entryOf,
  idIn,
  itemsOf,
  type Json,
  listIn,
  minorIn,
  objectIn,
  requiredId,
  secondsAsTime,
  textIn,
  Unmappable,
} from "./reading.ts"

/** An object of Stripe in an event, with what all mappings need of it. */
interface Subject {
  object: Json
  currency: string
  /** Returns an amount of an object in minor units. */
  amount(of: Json, name: string): number
  base: Pick<PaymentDraft, "currency" | "occurred_at">
}

export function mapStripe(event: Json): Mapped {
  const type = textIn(event, "type")
  const map = entryOf(TYPES, type)
  if (!map) return unknownType(type)
  const object = objectIn(objectIn(event, "data"), "object")
  const currency = currencyIn(object, "currency")
  return map({
    object,
    currency,
    amount: (of, name) => isoAmount(minorIn(of, name), currency),
    base: { currency, occurred_at: secondsAsTime(event, "created") },
  })
}

const TYPES: Readonly<Record<string, (subject: Subject) => Mapped>> = {
  "payment_intent.succeeded": paymentIntent,
  "charge.succeeded": charge,
  "invoice.paid": invoice,
  "checkout.session.completed": checkoutSession,
  "refund.created": (subject) => ({ payments: [refund(subject, subject.object)] }),
  "refund.updated": (subject) => ({ payments: [refund(subject, subject.object)] }),
  "charge.refunded": refundedCharge,
  "charge.dispute.created": (subject) => dispute(subject, "dispute"),
  "charge.dispute.closed": closedDispute,
}

/** Currencies of Stripe whose amounts have no decimals, and those with three. ISK and UGX have none in ISO 4217 but two at Stripe. */
const NO_DECIMALS = "BIF CLP DJF GNF JPY KMF KRW MGA PYG RWF VND VUV XAF XOF XPF".split(" ")
const THREE_DECIMALS = "BHD JOD KWD OMR TND".split(" ")

/** Converts an amount of Stripe to the minor units of ISO 4217. */
function isoAmount(amount: number, currency: string): number {
  const sent = NO_DECIMALS.includes(currency) ? 0 : THREE_DECIMALS.includes(currency) ? 3 : 2
  const wanted = currencyDecimals(currency)! // the currency is an active one
  const minor = wanted >= sent ? amount * 10 ** (wanted - sent) : amount / 10 ** (sent - wanted)
  if (!Number.isSafeInteger(minor)) throw new Unmappable(`The amount has more decimals than ${currency} has.`)
  return minor
}

const userIdIn = (object: Json): string | undefined => textIn(objectIn(object, "metadata"), "user_id")

function orderId(object: Json): { order_id?: string } {
  const id = textIn(objectIn(object, "metadata"), "order_id")
  return id === undefined ? {} : { order_id: id }
}

function paymentIntent({ object, amount, base }: Subject): Mapped {
  const external_id = requiredId(object, "id")
  const aliases = aliasesOf(external_id, [idIn(object, "latest_charge"), idIn(object, "invoice")])
  return paid({
    payment: {
      ...base,
      ...orderId(object),
      type: "sale",
      external_id,
      aliases,
      amount_minor: amount(object, "amount_received"),
      amount_rank: 1,
    },
    userId: userIdIn(object),
  })
}

function charge({ object, amount, base }: Subject): Mapped {
  if (object.captured === false) return { ignored: "The charge is authorized, but not captured." }
  const id = requiredId(object, "id")
  const external_id = idIn(object, "payment_intent") ?? id
  const aliases = aliasesOf(external_id, [id, idIn(object, "invoice")])
  return paid({
    payment: { ...base, ...orderId(object), type: "sale", external_id, aliases, amount_minor: amount(object, "amount"), amount_rank: 2 },
    userId: userIdIn(object),
  })
}

/** Reasons of invoices that belong to a subscription. */
const RECURRING: Readonly<Record<string, "first" | "renewal">> = {
  subscription_create: "first",
  subscription_cycle: "renewal",
  subscription_update: "renewal",
  subscription_threshold: "renewal",
}

function invoice({ object, amount, base }: Subject): Mapped {
  const id = requiredId(object, "id")
  const payments = listIn(objectIn(object, "payments"), "data").map((each) => objectIn(each, "payment"))
  const intent = idIn(object, "payment_intent") ?? first(payments, "payment_intent")
  const chargeId = idIn(object, "charge") ?? first(payments, "charge")
  const external_id = intent ?? chargeId ?? id
  // Metadata of the subscription are those of its checkout, so only its first invoice belongs to that order.
  const recurring = entryOf(RECURRING, textIn(object, "billing_reason"))
  const subscription = [object, objectIn(object, "parent")].map((of) => objectIn(of, "subscription_details"))
  const ofCheckout = recurring === "renewal" ? {} : (subscription.map(orderId).find(({ order_id }) => order_id !== undefined) ?? {})
  return paid({
    payment: {
      ...base,
      ...ofCheckout,
      ...orderId(object),
      ...{ type: "sale", external_id, aliases: aliasesOf(external_id, [intent, chargeId, id]) },
      ...{ amount_minor: amount(object, "amount_paid"), amount_rank: 3 },
      tax_minor: sumOf(object, ["total_taxes", "total_tax_amounts"], amount) || detailIn(() => amount(object, "tax")),
      shipping_minor: detailIn(() => amount(objectIn(object, "shipping_cost"), "amount_total")),
      discount_minor: sumOf(object, ["total_discount_amounts"], amount),
      ...itemsOf(listIn(objectIn(object, "lines"), "data"), (line) => ({
        name: textIn(line, "description"),
        total: amount(line, "amount"),
      })),
      ...(recurring && { recurring }),
    },
    userId: [object, ...subscription].map(userIdIn).find((found) => found !== undefined),
  })
}

const first = (objects: readonly Json[], name: string): string | undefined =>
  objects.map((each) => idIn(each, name)).find((id) => id !== undefined)

/** Returns the sum of the amounts in the first of these lists that the object has. */
function sumOf(object: Json, names: readonly string[], amount: Subject["amount"]): number {
  const name = names.find((each) => Array.isArray(object[each]))
  return name === undefined ? 0 : listIn(object, name).reduce((sum, each) => sum + detailIn(() => amount(each, "amount")), 0)
}

function checkoutSession({ object, amount, base }: Subject): Mapped {
  if (object.payment_status !== "paid") return { ignored: "The checkout session is not paid." }
  const id = requiredId(object, "id")
  const [intent, invoiceId] = [idIn(object, "payment_intent"), idIn(object, "invoice")]
  const external_id = intent ?? invoiceId ?? id
  const reference = textIn(object, "client_reference_id")
  const totals = objectIn(object, "total_details")
  return paid({
    payment: {
      ...base,
      ...(reference !== undefined && { order_id: reference }),
      ...orderId(object),
      ...{ type: "sale", external_id, aliases: aliasesOf(external_id, [intent, invoiceId, id]) },
      ...{ amount_minor: amount(object, "amount_total"), amount_rank: 4 },
      tax_minor: detailIn(() => amount(totals, "amount_tax")),
      shipping_minor: detailIn(() => amount(totals, "amount_shipping")),
      discount_minor: detailIn(() => amount(totals, "amount_discount")),
      ...(object.mode === "subscription" && { recurring: "first" as const }),
    },
    userId: userIdIn(object),
  })
}

/** Returns the id of the sale that a refund or dispute belongs to. Charges of a payment intent are known by it. */
function parentOf(object: Json): { parent?: string } {
  const parent = idIn(object, "payment_intent") ?? idIn(object, "charge")
  return parent === undefined ? {} : { parent }
}

const UNDONE = ["failed", "canceled"]

function refund({ amount, base }: Subject, object: Json): MappedPayment {
  return {
    payment: {
      ...base,
      ...parentOf(object),
      ...{ type: "refund", external_id: requiredId(object, "id"), aliases: [], amount_minor: amount(object, "amount") },
      ...(UNDONE.includes(textIn(object, "status") ?? "") && { voided: true }),
    },
  }
}

function refundedCharge(subject: Subject): Mapped {
  const { object } = subject
  const refunds = listIn(objectIn(object, "refunds"), "data")
  if (refunds.length === 0) throw new Unmappable("The charge does not list its refunds. Let Stripe send refund.created and refund.updated.")
  const parents = { charge: requiredId(object, "id"), payment_intent: object.payment_intent }
  return { payments: refunds.map((each) => refund(subject, { ...parents, ...each })) }
}

function dispute({ object, amount, base }: Subject, type: "dispute" | "adjustment"): Mapped {
  const external_id = requiredId(object, "id")
  return {
    payments: [{ payment: { ...base, ...parentOf(object), type, external_id, aliases: [], amount_minor: amount(object, "amount") } }],
  }
}

/** Statuses in which the money comes back, or was never withdrawn. */
const WON = ["won", "warning_closed"]

function closedDispute(subject: Subject): Mapped {
  const isWon = WON.includes(textIn(subject.object, "status") ?? "")
  return isWon ? dispute(subject, "adjustment") : { ignored: "The dispute was not won, so its amount stays withdrawn." }
}
