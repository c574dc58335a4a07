import { describe, expect, test } from "bun:test"
import { readPayment } from "../../src/domain/payment.ts"

const sale = {
  ...{ version: 1, provider: "stripe", type: "sale", external_id: "pi_1", aliases: [] },
  ...{ amount_minor: 1234, currency: "EUR", occurred_at: "2026-11-26T12:00:00Z" },
}
const refund = { ...sale, type: "refund", external_id: "re_1", parent: "ch_1" }
const dispute = { ...refund, type: "dispute", external_id: "dp_1" }
const item = { sku: "TEA-1", name: "Green tea", category: "Tea", quantity: 2, unit_minor: 500, total_minor: 1000 }

/** The events of chapter 07 section 3 as payment objects. */
const STRIPE = [
  ["payment_intent.succeeded", sale],
  ["charge.succeeded", { ...sale, aliases: ["ch_1"], amount_rank: 2 }],
  ["charge.succeeded without a payment intent", { ...sale, external_id: "ch_1", aliases: ["ch_1"], amount_rank: 2 }],
  ["invoice.paid", { ...sale, aliases: ["ch_1", "in_1"], amount_rank: 3, recurring: "renewal" }],
  ["checkout.session.completed", { ...sale, aliases: ["cs_1"], amount_rank: 4, order_id: "1001" }],
  ["refund.created", refund],
  ["refund.updated with the status failed", { ...refund, voided: true }],
  ["charge.refunded", { ...refund, parent: "pi_1" }],
  ["charge.dispute.created", dispute],
  ["charge.dispute.closed, won", { ...dispute, type: "adjustment" }],
] as const

const OTHERS = [
  ["Paddle's transaction.completed", { ...sale, provider: "paddle", tax_minor: 200, items: [item] }],
  ["Paddle's adjustment.created", { ...refund, provider: "paddle" }],
  ["Lemon Squeezy's subscription_payment_success", { ...sale, provider: "lemonsqueezy", recurring: "first" }],
  ["WooCommerce's order.updated", { ...sale, provider: "woocommerce", order_id: "77", shipping_minor: 490, discount_minor: 100 }],
  ["Shopify's refunds/create", { ...refund, provider: "shopify" }],
  ["a generic sale with a visitor", { ...sale, provider: "generic", person: "5f3a9c0e11d2b347" }],
  ["a refund of an import", { ...refund, provider: "import", import_id: 3, external_id: "T-1:1700000000000000" }],
  ["a negative adjustment", { ...dispute, type: "adjustment", amount_minor: -1_000_000_000_000_000 }],
  ["a sale of nothing", { ...sale, amount_minor: 0 }],
  ["a sale of the largest amount in a currency without decimals", { ...sale, amount_minor: 1_000_000_000_000_000, currency: "JPY" }],
  ["a field of a later version", { ...sale, payment_method: "card" }],
] as const

describe("the payment object", () => {
  test.each([...STRIPE, ...OTHERS])("accepts %s", (_, sent) => {
    const { occurred_at: _time, ...rest } = sent
    const defaults = { amount_rank: 1, tax_minor: 0, shipping_minor: 0, discount_minor: 0, items: [], voided: false }
    expect(readPayment(sent)).toEqual({ payment: { ...defaults, ...rest, occurredAt: 1_795_694_400_000 } } as never)
  })

  test("keeps the milliseconds of its time", () => {
    expect(readPayment({ ...sale, occurred_at: "2026-11-26T12:00:00.250Z" })).toMatchObject({ payment: { occurredAt: 1_795_694_400_250 } })
  })

  const without = (name: keyof typeof sale) => Object.fromEntries(Object.entries(sale).filter(([key]) => key !== name))
  test.each([
    ["a list", [], "", "invalid_type"],
    ["another version", { ...sale, version: 2 }, "/version", "invalid_type"],
    ["an unknown provider", { ...sale, provider: "tracker" }, "/provider", "invalid_choice"],
    ["an import ID of a provider", { ...sale, import_id: 3 }, "/import_id", "unsupported_combination"],
    ["an import ID of 0", { ...sale, provider: "import", import_id: 0 }, "/import_id", "out_of_range"],
    ["an unknown type", { ...sale, type: "chargeback" }, "/type", "invalid_choice"],
    ["an empty external ID", { ...sale, external_id: " " }, "/external_id", "too_short"],
    ["a long external ID", { ...sale, external_id: "x".repeat(201) }, "/external_id", "too_long"],
    ["a control character in an ID", { ...sale, order_id: "10\u0000" }, "/order_id", "invalid_characters"],
    ["no aliases", without("aliases"), "/aliases", "required"],
    ["too many aliases", { ...sale, aliases: Array.from({ length: 11 }, (_, i) => `a${i}`) }, "/aliases", "too_many"],
    ["an alias twice", { ...sale, aliases: ["a", "a"] }, "/aliases", "not_unique"],
    ["a long alias", { ...sale, aliases: ["x".repeat(201)] }, "/aliases/0", "too_long"],
    ["a parent of a sale", { ...sale, parent: "pi_0" }, "/parent", "unsupported_combination"],
    ["a negative sale", { ...sale, amount_minor: -1 }, "/amount_minor", "out_of_range"],
    ["a negative refund", { ...refund, amount_minor: -1 }, "/amount_minor", "out_of_range"],
    ["an amount with decimals", { ...sale, amount_minor: 12.34 }, "/amount_minor", "invalid_type"],
    ["an amount as text", { ...sale, amount_minor: "1234" }, "/amount_minor", "invalid_type"],
    ["an amount over the limit", { ...sale, amount_minor: 1_000_000_000_000_001 }, "/amount_minor", "out_of_range"],
    ["a rank of 0", { ...sale, amount_rank: 0 }, "/amount_rank", "out_of_range"],
    ["a rank of 5", { ...sale, amount_rank: 5 }, "/amount_rank", "out_of_range"],
    ["a currency in lower case", { ...sale, currency: "eur" }, "/currency", "unknown_currency"],
    ["a historic currency", { ...sale, currency: "DEM" }, "/currency", "unknown_currency"],
    ["the test currency", { ...sale, currency: "XTS" }, "/currency", "unknown_currency"],
    ["a negative tax", { ...sale, tax_minor: -1 }, "/tax_minor", "out_of_range"],
    ["shipping over the limit", { ...sale, shipping_minor: 1e15 + 1 }, "/shipping_minor", "out_of_range"],
    ["a discount with decimals", { ...sale, discount_minor: 0.5 }, "/discount_minor", "invalid_type"],
    ["too many items", { ...sale, items: Array.from({ length: 101 }, () => item) }, "/items", "too_many"],
    ["an item without a quantity", { ...sale, items: [{ total_minor: 5 }] }, "/items/0/quantity", "required"],
    ["a quantity of 0", { ...sale, items: [{ ...item, quantity: 0 }] }, "/items/0/quantity", "out_of_range"],
    ["a quantity over the limit", { ...sale, items: [{ ...item, quantity: 1_000_001 }] }, "/items/0/quantity", "out_of_range"],
    ["a long name of an item", { ...sale, items: [{ ...item, name: "x".repeat(201) }] }, "/items/0/name", "too_long"],
    ["a long person", { ...sale, person: "x".repeat(65) }, "/person", "too_long"],
    ["an unknown kind of subscription payment", { ...sale, recurring: "yearly" }, "/recurring", "invalid_choice"],
    ["a voided flag as text", { ...sale, voided: "yes" }, "/voided", "invalid_type"],
    ["a time with an offset", { ...sale, occurred_at: "2026-11-26T12:00:00+01:00" }, "/occurred_at", "invalid_date"],
    ["a day that does not exist", { ...sale, occurred_at: "2026-02-30T12:00:00Z" }, "/occurred_at", "invalid_date"],
    ["a time in seconds", { ...sale, occurred_at: 1_795_694_400 }, "/occurred_at", "invalid_type"],
  ])("rejects %s", (_, sent, pointer, code) => {
    expect(readPayment(sent)).toMatchObject({ faults: [{ pointer, code }] })
  })
})
