/** Bodies as shops and payment providers send them, shortened to the fields around a payment. */

const PERSON = { order_id: "A-1001", user_id: "user-7" }

export const paddleTransaction = (more: object): object => ({
  ...{
    event_id: "evt_01hv8x29c7",
    event_type: "transaction.completed",
    occurred_at: "2026-11-26T10:18:49.621022Z",
    notification_id: "ntf_1",
  },
  data: {
    ...{ id: "txn_01", status: "completed", customer_id: "ctm_01", currency_code: "USD", origin: "web", subscription_id: "sub_01" },
    ...{ invoice_id: "inv_01", invoice_number: "325-10566", custom_data: PERSON, created_at: "2026-11-26T10:18:00.000000Z" },
    details: {
      totals: { subtotal: "2437", discount: "0", tax: "463", total: "2900", credit: "0", balance: "0", grand_total: "2900", fee: "195" },
      line_items: [
        { id: "txnitm_01", price_id: "pri_01", quantity: 1, totals: { total: "2900", tax: "463" }, product: { id: "pro_01", name: "Pro" } },
      ],
    },
    payments: [{ payment_attempt_id: "937640dd", amount: "2900", status: "captured" }],
    ...more,
  },
})

export const paddleAdjustment = (action: string, more: object = {}): object => ({
  ...{ event_id: "evt_02", event_type: "adjustment.created", occurred_at: "2026-11-26T10:18:49.621022Z" },
  data: {
    ...{ id: "adj_01", action, transaction_id: "txn_01", status: "approved", currency_code: "USD", reason: "error", type: "partial" },
    totals: { subtotal: "840", tax: "160", total: "1000", fee: "50", currency_code: "USD" },
    ...more,
  },
})

export const lemonEvent = (event_name: string, data: object, custom_data: object | null = PERSON): object => ({
  meta: { event_name, test_mode: false, ...(custom_data && { custom_data }) },
  data,
})

const LEMON = {
  ...{ store_id: 1, customer_id: 7, currency: "USD", subtotal: 1099, discount_total: 100, tax: 200, total: 1199, status: "paid" },
  ...{ refunded: false, refunded_at: null, created_at: "2026-11-26T11:00:00.000000Z", updated_at: "2026-11-26T11:00:01.000000Z" },
}

export const lemonOrder = (more: object = {}): object => ({
  ...{ type: "orders", id: "501" },
  attributes: {
    ...LEMON,
    ...{ identifier: "104e18a2-d755-4d4b-80c4-a6c1dcbe1c10", order_number: 3, user_email: "jo@example.org" },
    first_order_item: { id: 1, order_id: 501, product_id: 9, variant_id: 11, product_name: "Lemonade", price: 999, quantity: 1 },
    ...more,
  },
})

export const lemonInvoice = (billing_reason: string, more: object = {}): object => ({
  ...{ type: "subscription-invoices", id: "501" },
  attributes: { ...LEMON, subscription_id: 4, billing_reason, ...more },
})

export const wooOrder = (more: object): object => ({
  ...{
    id: 727,
    parent_id: 0,
    number: "727",
    order_key: "wc_order_58d2d042d1d",
    created_via: "checkout",
    status: "processing",
    currency: "USD",
  },
  ...{ date_created_gmt: "2026-11-26T10:00:00", date_modified_gmt: "2026-11-26T11:00:00", date_paid_gmt: "2026-11-26T10:05:00" },
  ...{ discount_total: "0.00", shipping_total: "10.00", total: "29.35", total_tax: "1.35", customer_id: 0 },
  meta_data: [
    { id: 1, key: "order_id", value: "A-1001" },
    { id: 2, key: "user_id", value: "user-7" },
  ],
  line_items: [{ id: 315, name: "Tea", product_id: 93, quantity: 2, subtotal: "6.00", total: "6.00", total_tax: "0.45", sku: "TEA-1" }],
  refunds: [],
  ...more,
})

export const shopifyOrder = (more: object = {}): object => ({
  ...{
    id: "820982911946154508",
    currency: "USD",
    financial_status: "paid",
    total_price: "398.94",
    total_tax: "0.00",
    total_discounts: "5.00",
  },
  ...{ processed_at: "2026-11-26T06:00:00-05:00", created_at: "2026-11-26T05:59:58-05:00", name: "#9999" },
  total_shipping_price_set: { shop_money: { amount: "10.00", currency_code: "USD" } },
  line_items: [{ id: 1, title: "Tea", sku: "TEA-1", quantity: 2, price: "199.47", total_discount: "5.00" }],
  note_attributes: [
    { name: "order_id", value: "A-1001" },
    { name: "user_id", value: "user-7" },
  ],
  ...more,
})

export const shopifyRefund = (more: object = {}): object => ({
  ...{
    id: "890088186047892319",
    order_id: "820982911946154508",
    created_at: "2026-11-26T07:00:00-05:00",
    refund_line_items: [],
    note: "Things",
  },
  transactions: [
    { id: 1, kind: "refund", status: "success", amount: "41.94", currency: "USD" },
    { id: 2, kind: "refund", status: "failure", amount: "41.94", currency: "USD" },
  ],
  ...more,
})
