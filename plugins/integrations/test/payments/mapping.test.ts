import { describe, expect, test } from "bun:test"
import fc from "fast-check"
import { bySize, SEED } from "#plugin/test"
import { HOOK_KINDS, type HookKind } from "../../payments/hook.ts"
import { mapEvent } from "../../payments/mapping/mapping.ts"
import { Unmappable } from "../../payments/mapping/reading.ts"
import { PAYMENT_INTENT, stripeEvent } from "./providers.ts"
import {
  lemonEvent,
  lemonInvoice,
  lemonOrder,
  paddleAdjustment,
  paddleTransaction,
  shopifyOrder,
  shopifyRefund,
  wooOrder,
} from "./shops.ts"

const AT = "2026-11-26T12:00:00.000Z"

/** Returns the only payment of an event, or why it has none. */
function paymentOf(kind: HookKind, body: unknown): unknown {
  const mapped = mapEvent(kind, body)
  return "payments" in mapped && mapped.payments.length === 1 ? mapped.payments[0] : mapped
}

const stripe = (type: string, object: object) => paymentOf("stripe", stripeEvent(type, object))

const CHARGE = {
  ...{ id: "ch_3Q1", object: "charge", amount: 4900, amount_captured: 4900, amount_refunded: 0, captured: true, currency: "eur" },
  ...{ payment_intent: "pi_3Q1", paid: true, status: "succeeded", metadata: {} },
}
const INVOICE = {
  ...{ id: "in_1", object: "invoice", amount_due: 4900, amount_paid: 4900, currency: "eur", billing_reason: "subscription_cycle" },
  payments: { object: "list", data: [{ id: "inpay_1", payment: { type: "payment_intent", payment_intent: "pi_3Q1" } }] },
  parent: {
    type: "subscription_details",
    subscription_details: { subscription: "sub_1", metadata: { user_id: "user-7", order_id: "A-1" } },
  },
  total_taxes: [{ amount: 500 }, { amount: 282 }],
  total_discount_amounts: [{ amount: 1000, discount: "di_1" }],
  lines: { object: "list", data: [{ id: "il_1", description: "1 × Pro (at €49.00 / month)", quantity: 1, amount: 4900 }] },
  metadata: {},
}
const SESSION = {
  ...{ id: "cs_1", object: "checkout.session", mode: "payment", payment_status: "paid", amount_total: 4900, currency: "eur" },
  ...{ payment_intent: "pi_3Q1", invoice: null, client_reference_id: "CART-5", metadata: { user_id: "user-7" } },
  total_details: { amount_discount: 100, amount_shipping: 450, amount_tax: 782 },
}
const REFUND = {
  ...{ id: "re_1", object: "refund", amount: 1200, charge: "ch_3Q1", payment_intent: "pi_3Q1", currency: "eur", status: "succeeded" },
}
const DISPUTE = {
  ...{ id: "dp_1", object: "dispute", amount: 4900, charge: "ch_3Q1", payment_intent: "pi_3Q1", currency: "eur", status: "needs_response" },
}
const SALE = { type: "sale", external_id: "pi_3Q1", amount_minor: 4900, currency: "EUR", occurred_at: AT }

describe("Stripe", () => {
  test.each([
    [
      "a succeeded payment intent",
      stripe("payment_intent.succeeded", PAYMENT_INTENT),
      { payment: { ...SALE, aliases: ["ch_3Q1"], amount_rank: 1, order_id: "A-1001" }, userId: "user-7" },
    ],
    ["a charge of a payment intent", stripe("charge.succeeded", CHARGE), { payment: { ...SALE, aliases: ["ch_3Q1"], amount_rank: 2 } }],
    [
      "a charge without a payment intent",
      stripe("charge.succeeded", { ...CHARGE, payment_intent: null }),
      { payment: { ...SALE, external_id: "ch_3Q1", aliases: [], amount_rank: 2 } },
    ],
    [
      "the invoice of a renewal, without the order of its subscription",
      stripe("invoice.paid", INVOICE),
      {
        payment: {
          ...{ ...SALE, aliases: ["in_1"], amount_rank: 3, recurring: "renewal" },
          ...{ tax_minor: 782, shipping_minor: 0, discount_minor: 1000 },
          items: [{ name: "1 × Pro (at €49.00 / month)", quantity: 1, total_minor: 4900 }],
        },
        userId: "user-7",
      },
    ],
    [
      "the first invoice of a subscription in an older API version",
      stripe("invoice.paid", {
        ...{ id: "in_1", amount_paid: 4900, currency: "eur", billing_reason: "subscription_create", tax: 782 },
        ...{ payment_intent: "pi_3Q1", charge: "ch_3Q1", subscription_details: { metadata: { order_id: "A-1" } } },
      }),
      {
        payment: {
          ...{ ...SALE, aliases: ["ch_3Q1", "in_1"], amount_rank: 3, recurring: "first", order_id: "A-1" },
          ...{ tax_minor: 782, shipping_minor: 0, discount_minor: 0 },
        },
      },
    ],
    [
      "an invoice that was paid by a charge alone",
      stripe("invoice.paid", { id: "in_1", amount_paid: 4900, currency: "eur", charge: "ch_3Q1", billing_reason: "manual" }),
      {
        payment: {
          ...{ ...SALE, external_id: "ch_3Q1", aliases: ["in_1"], amount_rank: 3 },
          ...{ tax_minor: 0, shipping_minor: 0, discount_minor: 0 },
        },
      },
    ],
    [
      "an invoice that was paid outside Stripe",
      stripe("invoice.paid", { id: "in_1", amount_paid: 4900, currency: "eur", billing_reason: "manual" }),
      {
        payment: {
          ...{ ...SALE, external_id: "in_1", aliases: [], amount_rank: 3 },
          ...{ tax_minor: 0, shipping_minor: 0, discount_minor: 0 },
        },
      },
    ],
    [
      "a paid checkout session",
      stripe("checkout.session.completed", SESSION),
      {
        payment: {
          ...{ ...SALE, aliases: ["cs_1"], amount_rank: 4, order_id: "CART-5" },
          ...{ tax_minor: 782, shipping_minor: 450, discount_minor: 100 },
        },
        userId: "user-7",
      },
    ],
    [
      "a checkout session of a subscription, whose metadata name the order",
      stripe("checkout.session.completed", {
        ...SESSION,
        ...{ mode: "subscription", payment_intent: null, invoice: "in_1", metadata: { order_id: "A-1" } },
      }),
      {
        payment: {
          ...{ ...SALE, external_id: "in_1", aliases: ["cs_1"], amount_rank: 4, order_id: "A-1", recurring: "first" },
          ...{ tax_minor: 782, shipping_minor: 450, discount_minor: 100 },
        },
      },
    ],
    [
      "a refund",
      stripe("refund.created", REFUND),
      {
        payment: {
          type: "refund",
          external_id: "re_1",
          aliases: [],
          parent: "pi_3Q1",
          amount_minor: 1200,
          currency: "EUR",
          occurred_at: AT,
        },
      },
    ],
    [
      "a refund of a charge without a payment intent that failed",
      stripe("refund.updated", { ...REFUND, payment_intent: null, status: "failed" }),
      {
        payment: {
          ...{ type: "refund", external_id: "re_1", aliases: [], parent: "ch_3Q1", amount_minor: 1200, currency: "EUR", occurred_at: AT },
          voided: true,
        },
      },
    ],
    [
      "a dispute",
      stripe("charge.dispute.created", DISPUTE),
      {
        payment: {
          type: "dispute",
          external_id: "dp_1",
          aliases: [],
          parent: "pi_3Q1",
          amount_minor: 4900,
          currency: "EUR",
          occurred_at: AT,
        },
      },
    ],
    [
      "a dispute that was won, which books the amount back",
      stripe("charge.dispute.closed", { ...DISPUTE, status: "won" }),
      {
        payment: {
          ...{
            type: "adjustment",
            external_id: "dp_1",
            aliases: [],
            parent: "pi_3Q1",
            amount_minor: 4900,
            currency: "EUR",
            occurred_at: AT,
          },
        },
      },
    ],
    [
      "a dispute that was lost",
      stripe("charge.dispute.closed", { ...DISPUTE, status: "lost" }),
      { ignored: "The dispute was not won, so its amount stays withdrawn." },
    ],
    [
      "an unpaid checkout session",
      stripe("checkout.session.completed", { ...SESSION, payment_status: "unpaid" }),
      { ignored: "The checkout session is not paid." },
    ],
    [
      "a charge that is only authorized",
      stripe("charge.succeeded", { ...CHARGE, captured: false }),
      { ignored: "The charge is authorized, but not captured." },
    ],
    ["the invoice of a trial", stripe("invoice.paid", { ...INVOICE, amount_paid: 0 }), { ignored: "Nothing was paid." }],
    ["another event", stripe("customer.created", { id: "cus_1" }), { ignored: "Events of the type customer.created report no payment." }],
  ])("maps %s", (_, mapped, expected) => expect(withoutUndefined(mapped)).toEqual(expected as never))

  test("maps each refund that a charge lists", () => {
    const refunds = { data: [REFUND, { ...REFUND, id: "re_2", amount: 300, status: "failed" }] }
    const { payment_intent: _, ...withoutIntent } = REFUND
    const old = mapEvent("stripe", stripeEvent("charge.refunded", { ...CHARGE, refunds: { data: [withoutIntent] } }))
    const mapped = mapEvent("stripe", stripeEvent("charge.refunded", { ...CHARGE, refunds }))
    const refund = { type: "refund", aliases: [], parent: "pi_3Q1", currency: "EUR", occurred_at: AT }
    expect(mapped).toEqual({
      payments: [
        { payment: { ...refund, external_id: "re_1", amount_minor: 1200 } },
        { payment: { ...refund, external_id: "re_2", amount_minor: 300, voided: true } },
      ],
    } as never)
    expect(old).toEqual({ payments: [{ payment: { ...refund, external_id: "re_1", amount_minor: 1200 } }] } as never)
  })

  test.each([
    ["jpy", 5000, 5000],
    ["isk", 500_000, 5000],
    ["ugx", 1_250_000, 12_500],
    ["mga", 5000, 500_000],
    ["kwd", 12_340, 12_340],
    ["huf", 250_000, 250_000],
  ])("converts an amount in %s of %i to %i minor units", (currency, amount_received, amount_minor) => {
    const object = { ...PAYMENT_INTENT, currency, amount_received }
    expect(stripe("payment_intent.succeeded", object)).toMatchObject({ payment: { amount_minor, currency: currency.toUpperCase() } })
  })
})

describe("Paddle", () => {
  const sale = {
    ...{ type: "sale", external_id: "txn_01", aliases: ["inv_01"], order_id: "A-1001", amount_minor: 2900, currency: "USD" },
    ...{ tax_minor: 463, discount_minor: 0, occurred_at: "2026-11-26T10:18:49.621Z" },
    items: [{ sku: "pri_01", name: "Pro", quantity: 1, total_minor: 2900 }],
  }
  test.each([
    ["a first transaction", paddleTransaction({ origin: "web" }), { payment: { ...sale, recurring: "first" }, userId: "user-7" }],
    [
      "a renewal, as an order of its own",
      paddleTransaction({ origin: "subscription_recurring" }),
      { payment: { ...sale, order_id: "txn_01", recurring: "renewal" }, userId: "user-7" },
    ],
    [
      "a transaction without a subscription and custom data",
      paddleTransaction({ subscription_id: null, custom_data: null }),
      { payment: { ...sale, order_id: "txn_01" } },
    ],
    [
      "a refund",
      paddleAdjustment("refund"),
      {
        payment: {
          ...{ type: "refund", external_id: "adj_01", aliases: [], parent: "txn_01", amount_minor: 1000, currency: "USD" },
          occurred_at: "2026-11-26T10:18:49.621Z",
        },
      },
    ],
    ["a refund that Paddle rejects", paddleAdjustment("refund", { status: "rejected" }), { payment: { type: "refund", voided: true } }],
    ["a chargeback", paddleAdjustment("chargeback"), { payment: { type: "dispute", external_id: "adj_01", amount_minor: 1000 } }],
    ["a reversed chargeback", paddleAdjustment("chargeback_reverse"), { payment: { type: "adjustment", amount_minor: 1000 } }],
    ["a credit", paddleAdjustment("credit"), { ignored: "The adjustment pays nothing back." }],
    [
      "another event",
      { event_id: "evt_1", event_type: "customer.updated" },
      { ignored: "Events of the type customer.updated report no payment." },
    ],
  ])("maps %s", (_, body, expected) => expect(paymentOf("paddle", body)).toMatchObject(expected as never))
})

describe("Lemon Squeezy", () => {
  const sale = {
    ...{ type: "sale", external_id: "orders:501", aliases: [], order_id: "A-1001", amount_minor: 1199, currency: "USD" },
    ...{ tax_minor: 200, discount_minor: 100, occurred_at: "2026-11-26T11:00:00.000Z" },
    items: [{ sku: "11", name: "Lemonade", quantity: 1, total_minor: 999 }],
  }
  test.each([
    ["an order", lemonEvent("order_created", lemonOrder()), { payment: sale, userId: "user-7" }],
    ["an order without custom data", lemonEvent("order_created", lemonOrder(), null), { payment: { ...sale, order_id: "501" } }],
    ["a pending order", lemonEvent("order_created", lemonOrder({ status: "pending" })), { ignored: "The order is not paid." }],
    [
      "the refunds of an order so far",
      lemonEvent(
        "order_refunded",
        lemonOrder({ status: "partial_refund", refunded_amount: 300, refunded_at: "2026-11-26T11:30:00.000000Z" }),
      ),
      {
        payment: {
          ...{ type: "refund", external_id: "orders:501", parent: "orders:501", amount_minor: 300, currency: "USD" },
          occurred_at: "2026-11-26T11:30:00.000Z",
        },
        isCumulative: true,
      },
    ],
    [
      "a full refund of an older API version",
      lemonEvent("order_refunded", lemonOrder({ status: "refunded", refunded_at: "2026-11-26T11:30:00.000000Z" })),
      { payment: { type: "refund", amount_minor: 1199 } },
    ],
    [
      "a renewal, without the order of its subscription",
      lemonEvent("subscription_payment_success", lemonInvoice("renewal")),
      { payment: { type: "sale", external_id: "subscription-invoices:501", amount_minor: 1199, recurring: "renewal" }, userId: "user-7" },
    ],
    [
      "a first payment, which the order reports as well",
      lemonEvent("subscription_payment_success", lemonInvoice("initial")),
      { ignored: "The first payment of a subscription is counted by its order." },
    ],
    [
      "a refund of a renewal",
      lemonEvent("subscription_payment_refunded", lemonInvoice("renewal", { refunded_amount: 1199, refunded_at: "2026-11-26T11:30:00Z" })),
      { payment: { type: "refund", external_id: "subscription-invoices:501", parent: "subscription-invoices:501", amount_minor: 1199 } },
    ],
    ["another event", lemonEvent("license_key_created", {}), { ignored: "Events of the type license_key_created report no payment." }],
  ])("maps %s", (_, body, expected) => expect(paymentOf("lemonsqueezy", body)).toMatchObject(expected as never))

  test("gives a renewal no order", () =>
    expect(paymentOf("lemonsqueezy", lemonEvent("subscription_payment_success", lemonInvoice("renewal")))).not.toHaveProperty(
      "payment.order_id",
    ))
})

describe("WooCommerce", () => {
  const sale = {
    ...{ type: "sale", external_id: "727", aliases: [], order_id: "A-1001", amount_minor: 2935, currency: "USD" },
    ...{ tax_minor: 135, shipping_minor: 1000, discount_minor: 0, occurred_at: "2026-11-26T10:05:00.000Z" },
    items: [{ sku: "TEA-1", name: "Tea", quantity: 2, total_minor: 600 }],
  }
  test.each([
    ["an order in progress", wooOrder({ status: "processing" }), { payment: sale, userId: "user-7" }],
    ["an order without meta data", wooOrder({ status: "completed", meta_data: [] }), { payment: { ...sale, order_id: "727" } }],
    ["an order that is not paid yet", wooOrder({ status: "pending", date_paid_gmt: null }), { ignored: "The order is not paid." }],
    ["a product", { id: 1, name: "Tea", status: "publish" }, { ignored: "The event is not about an order." }],
  ])("maps %s", (_, body, expected) => expect(paymentOf("woocommerce", body)).toMatchObject(expected as never))

  test("maps an order and each of its refunds", () => {
    const refunds = [
      { id: 731, reason: "broken", total: "-10.00" },
      { id: 732, reason: "", total: "-0.35" },
    ]
    const refund = { type: "refund", aliases: [], parent: "727", currency: "USD", occurred_at: "2026-11-26T11:00:00.000Z" }
    expect(mapEvent("woocommerce", wooOrder({ status: "refunded", refunds }))).toMatchObject({
      payments: [
        { payment: sale },
        { payment: { ...refund, external_id: "731", amount_minor: 1000 } },
        { payment: { ...refund, external_id: "732", amount_minor: 35 } },
      ],
    } as never)
  })
})

describe("Shopify", () => {
  const sale = {
    ...{ type: "sale", external_id: "820982911946154508", aliases: [], order_id: "A-1001", amount_minor: 39_894, currency: "USD" },
    ...{ tax_minor: 0, shipping_minor: 1000, discount_minor: 500, occurred_at: "2026-11-26T11:00:00.000Z" },
    items: [{ sku: "TEA-1", name: "Tea", quantity: 2, total_minor: 39_394 }],
  }
  test.each([
    ["a paid order", shopifyOrder(), { payment: sale, userId: "user-7" }],
    ["an order without note attributes", shopifyOrder({ note_attributes: [] }), { payment: { ...sale, order_id: "820982911946154508" } }],
    ["an order that is not paid yet", shopifyOrder({ financial_status: "pending" }), { ignored: "The order is not paid." }],
    [
      "a refund by its successful payments",
      shopifyRefund(),
      {
        payment: {
          ...{ type: "refund", external_id: "890088186047892319", parent: "820982911946154508", amount_minor: 4194, currency: "USD" },
          occurred_at: "2026-11-26T12:00:00.000Z",
        },
      },
    ],
    ["a refund that pays nothing back", shopifyRefund({ transactions: [] }), { ignored: "The refund pays nothing back." }],
    ["another event", { id: 5, email: "jo@example.org" }, { ignored: "The event is not about an order or a refund." }],
  ])("maps %s", (_, body, expected) => expect(paymentOf("shopify", body)).toMatchObject(expected as never))
})

describe("the generic form", () => {
  const event = { type: "sale", id: "P-1", order_id: "A-1", amount_minor: 1250, currency: "eur", occurred_at: "2026-11-26T13:00:00+01:00" }
  const payment = { type: "sale", external_id: "P-1", aliases: [], order_id: "A-1", amount_minor: 1250, currency: "EUR", occurred_at: AT }
  test.each([
    ["a sale", event, { payment }],
    [
      "a sale with items, a visitor and a customer",
      { ...event, items: [{ name: "Tea", quantity: 2, total_minor: 1250 }], visitor: "00112233445566aa", customer_reference: "user-7" },
      { payment: { ...payment, items: [{ name: "Tea", quantity: 2, total_minor: 1250 }] }, visitor: "00112233445566aa", userId: "user-7" },
    ],
    [
      "a refund that failed",
      { ...event, type: "refund", id: "R-1", parent: "P-1", voided: true },
      { payment: { ...payment, type: "refund", external_id: "R-1", parent: "P-1", voided: true } },
    ],
    ["a negative adjustment", { ...event, type: "adjustment", amount_minor: -50 }, { payment: { type: "adjustment", amount_minor: -50 } }],
    ["another type", { ...event, type: "customer.created" }, { ignored: "Events of the type customer.created report no payment." }],
    ["no type", { ...event, type: undefined }, { ignored: "The event has no type." }],
  ])("maps %s", (_, body, expected) => expect(paymentOf("payments-generic", body)).toMatchObject(expected as never))
})

test.each([
  ["a body that is no object", "stripe", ["evt_1"], "The body is not a JSON object."],
  ["no payment id", "stripe", stripeEvent("payment_intent.succeeded", { ...PAYMENT_INTENT, id: null }), "The field id is missing."],
  [
    "an unknown currency",
    "stripe",
    stripeEvent("payment_intent.succeeded", { ...PAYMENT_INTENT, currency: "xbt" }),
    "The field currency is not an active ISO 4217 code.",
  ],
  [
    "a fraction of a cent",
    "stripe",
    stripeEvent("payment_intent.succeeded", { ...PAYMENT_INTENT, amount_received: 1.5 }),
    "The field amount_received is not a whole number.",
  ],
  [
    "a fraction of a króna",
    "stripe",
    stripeEvent("payment_intent.succeeded", { ...PAYMENT_INTENT, currency: "isk", amount_received: 150 }),
    "The amount has more decimals than ISK has.",
  ],
  [
    "a charge that lists no refunds",
    "stripe",
    stripeEvent("charge.refunded", CHARGE),
    "The charge does not list its refunds. Let Stripe send refund.created and refund.updated.",
  ],
  [
    "a negative amount",
    "stripe",
    stripeEvent("payment_intent.succeeded", { ...PAYMENT_INTENT, amount_received: -1 }),
    "amount_minor must not be negative, except on an adjustment.",
  ],
  [
    "an id that is too long",
    "stripe",
    stripeEvent("refund.created", { ...REFUND, id: "r".repeat(201) }),
    "external_id must have at most 200 characters.",
  ],
  ["an invalid time", "paddle", { ...(paddleTransaction({}) as object), occurred_at: "yesterday" }, "The field occurred_at is not a time."],
  ["more decimals than the currency has", "woocommerce", wooOrder({ total: "10.005" }), "The field total is not an amount in USD."],
  [
    "refunds in several currencies",
    "shopify",
    shopifyRefund({
      transactions: [
        { kind: "refund", status: "success", amount: "1.00", currency: "USD" },
        { kind: "refund", status: "success", amount: "1.00", currency: "EUR" },
      ],
    }),
    "The refund has several currencies.",
  ],
  [
    "an amount as text with letters",
    "payments-generic",
    { type: "sale", id: "P", currency: "EUR", amount_minor: "1x", occurred_at: AT },
    "amount_minor must be a whole number.",
  ],
  [
    "an amount above the limit",
    "payments-generic",
    { type: "sale", id: "P", currency: "EUR", amount_minor: 1e15 + 1, occurred_at: AT },
    "amount_minor must be between -1000000000000000 and 1000000000000000.",
  ],
  [
    "a sale with a parent",
    "payments-generic",
    { type: "sale", id: "P", parent: "Q", currency: "EUR", amount_minor: 1, occurred_at: AT },
    "parent is not allowed on a sale.",
  ],
] as const)("refuses an event with %s", (_, kind, body, message) => {
  expect(() => mapEvent(kind, body)).toThrow(message)
})

test("leaves out line items that cannot be understood, and details that are strange", () => {
  const lines = [
    { name: "Tea", sku: "T\u0000", quantity: 1, total: "6.00" },
    { name: "Coffee", quantity: 0.5, total: "6.00" },
    { name: "Cake", quantity: 1, total: "a lot" },
    { name: "é".repeat(300), quantity: 1, total: "1.00" },
  ]
  expect(paymentOf("woocommerce", wooOrder({ line_items: lines, total_tax: "n/a" }))).toMatchObject({
    payment: {
      tax_minor: 0,
      items: [
        { name: "Tea", quantity: 1, total_minor: 600 },
        { name: "é".repeat(200), quantity: 1, total_minor: 100 },
      ],
    },
  } as never)
})

describe("an event that no provider sends", () => {
  const EVENTS: Readonly<Record<HookKind, object>> = {
    stripe: stripeEvent("invoice.paid", INVOICE),
    paddle: paddleTransaction({}),
    lemonsqueezy: lemonEvent("order_created", lemonOrder()),
    woocommerce: wooOrder({}),
    shopify: shopifyOrder(),
    "payments-generic": { type: "sale", id: "P-1", amount_minor: 500, currency: "EUR", occurred_at: AT },
  }
  /** Names that every object has, and values of other types and sizes. */
  const STRANGE = fc.oneof(
    fc.constantFrom("constructor", "__proto__", "toString", "hasOwnProperty", "", "\u0000", "x".repeat(5_000), "1e999", "-0"),
    fc.constantFrom(null, [], {}, [[]], true, 0, -1, 1.5, Number.MAX_SAFE_INTEGER, 1e300),
    fc.jsonValue({ maxDepth: 2 }),
  )

  test.each(HOOK_KINDS.map((kind) => [kind] as const))("of %s is mapped, ignored or refused with a sentence", (kind) => {
    const text = JSON.stringify(EVENTS[kind])
    const count = text.match(/:/g)!.length
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.nat(count), STRANGE), { minLength: 1, maxLength: 3 }), (changes) => {
        const strange = new Map(changes)
        let at = 0
        const body: unknown = JSON.parse(text, (key, value) => (key !== "" && strange.has(at++) ? strange.get(at - 1) : value))
        try {
          const mapped = mapEvent(kind, body)
          if (!("payments" in mapped)) expect(mapped.ignored).toEndWith(".")
        } catch (error) {
          expect(error).toBeInstanceOf(Unmappable)
        }
      }),
      { seed: SEED, numRuns: bySize({ check: 500, full: 5_000, release: 50_000 }) },
    )
  })

  test.each(["constructor", "toString", "__proto__", "hasOwnProperty"])("of the type %s is ignored", (type) => {
    const ignored = { ignored: `Events of the type ${type} report no payment.` }
    expect(mapEvent("stripe", stripeEvent(type, PAYMENT_INTENT))).toEqual(ignored)
    expect(mapEvent("paddle", { ...paddleTransaction({}), event_type: type })).toEqual(ignored)
    expect(mapEvent("lemonsqueezy", lemonEvent(type, lemonOrder()))).toEqual(ignored)
    expect(mapEvent("paddle", paddleAdjustment(type))).toEqual({ ignored: "The adjustment pays nothing back." })
  })
})

/** Removes the optional fields that a mapping leaves undefined. */
const withoutUndefined = (value: unknown): unknown => JSON.parse(JSON.stringify(value))
