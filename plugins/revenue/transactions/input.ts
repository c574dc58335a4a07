/** Transactions that members add, as JSON or CSV. Amounts are positive, in major units. */
import { type Static, Type as t } from "@sinclair/typebox"
import {
  currencyDecimals,
  type Fault,
  fault,
  inspect,
  parseAmount,
  parseCurrency,
  parseInstant,
  refuseFaults,
  type SaleItem,
  type Site,
} from "#plugin"
import { parseCsv } from "../csv.ts"
import { LIMITS } from "../host.ts"
import { type Claim, NO_DETAILS } from "../orders/claim.ts"

const amount = (description: string) => t.Union([t.String(), t.Number()], { description })
const id = (description: string) => t.String({ minLength: 1, maxLength: 200, description })

const ItemInput = t.Object(
  {
    sku: t.Optional(t.String({ maxLength: 200, description: "Stock keeping unit." })),
    name: t.Optional(t.String({ maxLength: 200, description: "Name of the product." })),
    category: t.Optional(t.String({ maxLength: 200, description: "Category of the product." })),
    quantity: t.Integer({ minimum: 1, maximum: 1_000_000, description: "Number of pieces." }),
    unit: t.Optional(amount("Price of one piece, as a decimal number.")),
    total: amount("Price of all pieces, as a decimal number."),
  },
  { additionalProperties: false, title: "NewSaleItem" },
)

export const TransactionInput = t.Object(
  {
    type: t.Optional(
      t.Union([t.Literal("sale"), t.Literal("refund"), t.Literal("dispute"), t.Literal("adjustment")], {
        description: "Type of the transaction. Default: `sale`. All but sales need an `order_id`.",
      }),
    ),
    order_id: t.Optional(id("ID of the order. A sale of an order that only a browser reported confirms it.")),
    external_id: t.Optional(id("Own ID of the transaction. A second one with the same ID is rejected.")),
    amount: amount("Amount in major units, as a decimal number such as `12.34`. Negative only for adjustments."),
    currency: t.Optional(t.String({ description: "ISO 4217 code. Default: the currency of the site." })),
    occurred_at: t.String({ description: "Time of the transaction, as RFC 3339. Not in the future." }),
    tax: t.Optional(amount("Tax, as a decimal number. Default: 0.")),
    shipping: t.Optional(amount("Shipping, as a decimal number. Default: 0.")),
    discount: t.Optional(amount("Discount, as a decimal number. Default: 0.")),
    items: t.Optional(t.Array(ItemInput, { maxItems: LIMITS.items, description: "Line items." })),
    note: t.Optional(t.String({ maxLength: 500, description: "Note for other members." })),
  },
  { additionalProperties: false, title: "NewTransaction" },
)
type TransactionInput = Static<typeof TransactionInput>

export const TransactionsInput = t.Object(
  {
    transactions: t.Array(TransactionInput, {
      minItems: 1,
      maxItems: LIMITS.batch,
      description: "Transactions. All of them are added, or none.",
    }),
  },
  { additionalProperties: false, title: "NewTransactions" },
)

export const RefundInput = t.Object(
  {
    amount: t.Optional(amount("Amount in the currency of the sale, as a decimal number. Default: what is left of it.")),
    occurred_at: t.Optional(t.String({ description: "Time of the refund, as RFC 3339. Default: now." })),
    note: t.Optional(t.String({ maxLength: 500, description: "Note for other members." })),
  },
  { additionalProperties: false, title: "NewRefund" },
)

const CSV = {
  required: ["amount", "occurred_at"],
  optional: ["type", "order_id", "external_id", "currency", "tax", "shipping", "discount", "items", "note"],
  maximum: LIMITS.batch,
} as const

/** A transaction to add, without who adds it. Without an external ID, one is made. `pointer` is its place in the request. */
export type NewTransaction = Omit<Claim, "created_by" | "external_id"> & { external_id: string | null; pointer: string }

interface InputOptions {
  site: Site
  now: number
}

/** Reads a single transaction. Throws `validation_failed` with all faults. */
export function readTransaction(body: unknown, options: InputOptions): NewTransaction {
  const read = checked(body, "", options)
  refuseFaults(read.faults)
  return read.transaction! // without faults there is one
}

/** Reads a list of transactions. Throws `validation_failed` with all faults. */
export function readTransactions(body: object & { transactions: unknown }, options: InputOptions): NewTransaction[] {
  const { transactions, ...others } = body
  const faults: Fault[] = Object.keys(others).map((name) => fault(`/${name}`, "unknown_field", "is not a known field"))
  if (!Array.isArray(transactions)) faults.push(fault("/transactions", "invalid_type", "must be a list"))
  else if (transactions.length === 0) faults.push(fault("/transactions", "too_few", "must have at least 1 item"))
  else if (transactions.length > LIMITS.batch) faults.push(fault("/transactions", "too_many", `must have at most ${LIMITS.batch} items`))
  refuseFaults(faults)
  const read = (transactions as unknown[]).map((each, index) => checked(each, `/transactions/${index}`, options))
  refuseFaults(read.flatMap((each) => each.faults))
  return read.map(({ transaction }) => transaction!) // without faults there is one
}

/** Reads a CSV file. Throws `validation_failed` with all faults, each with its line. */
export function readTransactionsCsv(bytes: Uint8Array, options: InputOptions): NewTransaction[] {
  const { rows, faults } = parseCsv(bytes, CSV)
  if (faults.length === 0 && rows.length === 0) faults.push(fault("", "too_few", "must have at least 1 row"))
  refuseFaults(faults)
  const read = rows.map(({ line, values: { items, ...values } }) => {
    const list = items === undefined ? undefined : parsedItems(items)
    const { transaction, faults: found } = checked({ ...values, ...(list !== undefined && { items: list }) }, "", options)
    return { transaction: transaction && { ...transaction, pointer: `/lines/${line}` }, faults: found.map((each) => ofLine(line, each)) }
  })
  refuseFaults(read.flatMap((each) => each.faults))
  return read.map(({ transaction }) => transaction!) // without faults there is one
}

/** Moves a fault to the line of its row. */
const ofLine = (line: number, { pointer, code, detail, allowed }: Fault): Fault => ({
  ...{ pointer: `/lines/${line}${pointer}`, code, detail: `Line ${line}: ${detail}` },
  ...(allowed && { allowed }),
})

/** Parses the column of line items, which is the JSON of the field. Other text is returned unchanged, and then rejected. */
function parsedItems(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

/** Reads the amount, time and note of a refund. */
export function readRefund(body: unknown, { currency, now }: { currency: string; now: number }) {
  const { fields, faults } = inspect(RefundInput, body)
  const amount = fields.amount === undefined ? undefined : amountIn(fields.amount, currency, "/amount", faults)
  if (amount !== undefined && amount <= 0) faults.push(fault("/amount", "amount_out_of_range", "must be positive"))
  const occurredAt = fields.occurred_at === undefined ? now : timeIn(fields.occurred_at, "/occurred_at", { now, faults })
  refuseFaults(faults)
  return { amount, occurredAt: occurredAt!, note: fields.note ?? null } // without faults there is a time
}

function checked(body: unknown, pointer: string, { site, now }: InputOptions): { transaction?: NewTransaction; faults: Fault[] } {
  const { fields, faults } = inspect(TransactionInput, body, pointer, [])
  const { type = "sale", order_id: orderId } = fields
  const code = fields.currency === undefined ? site.revenue_currency : parseCurrency(fields.currency)
  if (code === undefined) faults.push(fault(`${pointer}/currency`, "unknown_currency", "must be an active ISO 4217 code"))
  const currency = code ?? site.revenue_currency
  const minor = (name: "amount" | "tax" | "shipping" | "discount"): number => {
    const sent = fields[name]
    // Without a known currency, the number of decimals is unknown too.
    return sent === undefined || code === undefined ? 0 : (amountIn(sent, currency, `${pointer}/${name}`, faults) ?? 0)
  }
  const amount = minor("amount")
  if (amount < 0 && type !== "adjustment")
    faults.push(fault(`${pointer}/amount`, "amount_out_of_range", "must not be negative, except for an adjustment"))
  const [tax, shipping, discount] = [minor("tax"), minor("shipping"), minor("discount")]
  for (const [name, value] of Object.entries({ tax, shipping, discount }))
    if (value < 0) faults.push(fault(`${pointer}/${name}`, "amount_out_of_range", "must not be negative"))
  if (type !== "sale" && orderId === undefined && !faults.some((found) => found.pointer === `${pointer}/order_id`))
    faults.push(fault(`${pointer}/order_id`, "refund_without_parent", "is required for everything but a sale"))
  const items = (fields.items ?? []).map((item, index) => itemOf(item, currency, `${pointer}/items/${index}`, faults))
  const at = fields.occurred_at === undefined ? 0 : timeIn(fields.occurred_at, `${pointer}/occurred_at`, { now, faults })
  if (faults.length > 0) return { faults }
  return {
    faults,
    transaction: {
      pointer,
      ...NO_DETAILS,
      ...{ type, provider: "manual", external_id: fields.external_id ?? null, order_id: orderId ?? null },
      ...{ amount_minor: amount, currency, tax_minor: tax, shipping_minor: shipping, discount_minor: discount, items },
      ...{ trust: "server", occurred_at: at!, note: fields.note ?? null }, // without faults there is a time
    },
  }
}

function itemOf(
  { unit, total, ...rest }: NonNullable<TransactionInput["items"]>[number],
  currency: string,
  pointer: string,
  faults: Fault[],
): SaleItem {
  const unitMinor = unit === undefined ? undefined : amountIn(unit, currency, `${pointer}/unit`, faults)
  return {
    ...rest,
    ...(unitMinor !== undefined && { unit_minor: unitMinor }),
    total_minor: amountIn(total, currency, `${pointer}/total`, faults) ?? 0,
  }
}

function amountIn(sent: string | number, currency: string, pointer: string, faults: Fault[]): number | undefined {
  const decimals = currencyDecimals(currency) ?? 2
  const minor = parseAmount(sent, decimals)
  if (typeof minor === "number") return minor
  faults.push(fault(pointer, minor, PREDICATES[minor](currency, decimals)))
  return undefined
}

const PREDICATES = {
  invalid_amount: () => "must be a decimal number, such as 12.34",
  too_many_decimals: (currency: string, decimals: number) =>
    decimals === 0
      ? `must be a whole number, because ${currency} has no decimals`
      : `has more than the ${decimals} decimals of ${currency}`,
  amount_out_of_range: () => "must be at most 10^15 minor units",
} as const

/** Reads a time, which must not lie in the future: one day more, because the clock of the sender can be in another zone. */
function timeIn(sent: string, pointer: string, { now, faults }: { now: number; faults: Fault[] }): number | undefined {
  const at = parseInstant(sent)
  if (at === undefined) faults.push(fault(pointer, "invalid_date", "must be an RFC 3339 time, such as 2026-11-21T12:00:00Z"))
  else if (at > now + DAY_MS || at < 0) faults.push(fault(pointer, "out_of_range", "must be between 1970 and today"))
  return at
}

const DAY_MS = 86_400_000
