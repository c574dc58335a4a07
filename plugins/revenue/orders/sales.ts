/**
 * Sales: one row per order, whatever reports it. The row bears the provider, external ID and amount of the most trusted report, the first
 * of equally trusted ones; all other IDs of the order are aliases. The oldest row stays when two turn out to be one payment.
 */
import { EVENT, ORDER } from "./aliases.ts"
import type { Book, Values } from "./book.ts"
import { type Claim, rowOf } from "./claim.ts"
import { dimensionsOf, dimensionsText } from "./frozen.ts"
import { conversionOf, convertRow, linkWaiting, relink, settle } from "./links.ts"
import { type Key, NEW, NO_VISIT, TRUSTS, type TransactionRow } from "./transaction.ts"
import type { RevenueWriter } from "./writer.ts"

/** Result of a claim. */
export interface Recorded {
  id: number
  isNew: boolean
}

/** Records a sale, a new one with the given ID if there is one. Returns undefined if the provider has voided it. */
export function recordSale(writer: RevenueWriter, claim: Claim, newId?: number): Recorded | undefined {
  const { book } = writer
  if (keysOf(claim).some((key) => book.marks.has(key))) return undefined
  const [known, ...others] = knownSales(book, claim)
  if (!known) return { id: insertSale(writer, claim, newId), isNew: true }
  const merged = others.reduce((row, other) => merge(writer, row, other), known)
  apply(writer, merged, claim)
  return { id: merged.id, isNew: false }
}

/** Reads what claims of sale events are about at once. */
export function prefetchClaims(book: Book, claims: readonly Claim[]): void {
  const orders = [...new Set(claims.flatMap(({ order_id }) => order_id ?? []))]
  const keys = claims.flatMap(keysOf)
  const ids = keys.map(({ provider, external_id: alias }) => ({ provider, alias }))
  book.prefetch({
    keys,
    aliases: [...ids, ...orders.map((alias) => ({ provider: ORDER, alias }) as const)],
    orders,
    parentKeys: [...orders, ...ids.map(({ alias }) => alias)],
  })
}

const keysOf = ({ provider, external_id, aliases, type }: Claim): Key[] =>
  [external_id, ...aliases].map((id) => ({ provider, external_id: id, type }))

/** Removes a sale that the provider has voided, so that a later report of it is ignored. */
export function voidSale(writer: RevenueWriter, claim: Claim): void {
  for (const key of keysOf(claim)) {
    const row = writer.book.saleByPaymentId(key.provider, key.external_id)
    if (row) deleteSale(writer, row.id)
    writer.book.marks.add(key)
  }
}

/** Deletes a sale with its aliases. Its refunds stay, without an order. */
export function deleteSale(writer: RevenueWriter, id: number): void {
  const { book } = writer
  for (const row of book.linkedTo(id)) {
    book.update(row.id, { parent_id: null })
    convertRow(writer, row)
  }
  book.aliases.move(id, null)
  book.delete(id)
}

const NO_ROWS: readonly TransactionRow[] = []

/** Returns the rows that a claim is about, oldest first. */
function knownSales(book: Book, { provider, external_id, aliases, order_id }: Claim): readonly TransactionRow[] {
  const found = [external_id, ...aliases].map((id) => book.saleByPaymentId(provider, id))
  if (order_id !== null) found.push(book.saleByOrder(order_id))
  if (found.every((row) => row === undefined)) return NO_ROWS
  const byId = new Map(found.flatMap((row) => (row ? [[row.id, row] as const] : [])))
  return [...byId.values()].sort((a, b) => a.id - b.id)
}

function insertSale(writer: RevenueWriter, claim: Claim, newId?: number): number {
  const { book, now } = writer
  const id = book.insert(Object.assign(rowOf(claim, now), { id: newId }, conversionOf(writer, claim, claim.occurred_at)))
  for (const alias of claim.aliases)
    book.aliases.add({ provider: claim.provider, alias, external_id: claim.external_id, transaction_id: id })
  if (linkWaiting(writer, id, [claim.external_id, ...claim.aliases], claim.provider, claim.order_id)) settle(writer, id)
  return id
}

const amountOf = ({ amount_minor, amount_rank, currency }: Claim): Values => ({ amount_minor, amount_rank, currency })

/** Adds what a claim says to a known sale. */
function apply(writer: RevenueWriter, row: TransactionRow, claim: Claim): void {
  const { book } = writer
  const isStronger = strength(claim) > strength(row)
  const isBetterRecord = !isStronger && claim.provider === row.provider && claim.amount_rank < (row.amount_rank ?? 1)
  const wins = (isStronger || isBetterRecord) && strength(claim) >= strength(row)
  const stated = (one: number, other: number) => (wins ? one || other : other || one)
  const values: Values = {
    ...(wins && amountOf(claim)),
    ...(isStronger && { provider: claim.provider, external_id: claim.external_id, trust: claim.trust, import_id: claim.import_id }),
    ...(isStronger && claim.created_by !== null && { created_by: claim.created_by, note: claim.note }),
    tax_minor: stated(claim.tax_minor, row.tax_minor),
    shipping_minor: stated(claim.shipping_minor, row.shipping_minor),
    discount_minor: stated(claim.discount_minor, row.discount_minor),
    items_json: claim.items.length > 0 && (wins || row.items_json === "[]") ? JSON.stringify(claim.items) : row.items_json,
    order_id: row.order_id ?? claim.order_id,
    recurring: row.recurring ?? claim.recurring,
    ...movedTo(timeOf(row, claim), row),
    stated_at: earliest(row.stated_at, claim.stated_at),
    ...visitOf(row, claim),
  }
  book.update(row.id, values)
  const next = { ...row, ...values }
  const ids = [claim.external_id, ...claim.aliases]
  const add = (alias: string, { provider, external_id }: Pick<Claim, "provider" | "external_id">) =>
    book.aliases.add({ provider, alias, external_id, transaction_id: row.id })
  if (isStronger) add(row.external_id, row)
  // A row is found by its own ID, so no alias repeats it.
  for (const id of ids) if (claim.provider !== next.provider || id !== next.external_id) add(id, claim)
  if (isStronger) book.aliases.remove(next.provider, next.external_id)
  if (claim.order_id !== null && claim.order_id !== next.order_id)
    book.aliases.add({ provider: ORDER, alias: claim.order_id, external_id: claim.order_id, transaction_id: row.id })
  if (claim.sale_sequence !== next.sale_sequence) addEvent(writer, row.id, claim)
  if (row.sale_sequence !== next.sale_sequence) addEvent(writer, row.id, row)
  const changesAmount = next.amount_minor !== row.amount_minor || next.currency !== row.currency || next.occurred_at !== row.occurred_at
  if (changesAmount) {
    convertRow(writer, next)
    relink(writer, next)
  }
  linkWaiting(writer, row.id, ids, claim.provider, claim.order_id)
  settle(writer, row.id)
}

/** Order of precedence: what the site itself has seen before what was imported and can be hidden, then trust. */
const strength = ({ trust, import_id }: Pick<TransactionRow, "trust" | "import_id">): number =>
  (import_id === 0 ? TRUSTS.length : 0) + TRUSTS.indexOf(trust)

/** Returns when a sale occurred: as first reported. What imports report has no influence on what the site itself has seen. */
function timeOf(row: TransactionRow, claim: Claim): number {
  if (row.import_id > 0 && claim.import_id === 0) return claim.occurred_at
  return row.import_id === 0 && claim.import_id > 0 ? row.occurred_at : Math.min(row.occurred_at, claim.occurred_at)
}

/** Returns the columns of another time. Touches are those before it, so they are looked up again. */
export const movedTo = (at: number, { occurred_at, visit_started_at }: TransactionRow): Values =>
  at === occurred_at ? {} : { occurred_at: at, ...(visit_started_at !== null && { is_open: NEW }) }

const earliest = (one: number | null, other: number | null): number | null =>
  one === null || other === null ? (one ?? other) : Math.min(one, other)

/**
 * Returns the columns of the visit. The visit of a tracked sale stays. It replaces one that was found by the person. An import has no
 * influence on what the site itself has seen.
 */
function visitOf(row: TransactionRow, claim: Claim): Values {
  if (row.import_id === 0 && claim.import_id > 0) return {}
  const event = claim.event === "" ? {} : { dims_json: dimensionsText({ ...dimensionsOf(row), event: claim.event }) }
  const isFirstSeen = row.import_id > 0 && claim.import_id === 0
  if ((row.sale_sequence === null || isFirstSeen) && claim.sale_sequence !== null)
    return {
      sale_sequence: claim.sale_sequence,
      visit_sequence: claim.visit_sequence,
      is_open: NEW,
      person: row.person ?? claim.person,
      ...event,
    }
  if (isFirstSeen) return { ...NO_VISIT, person: claim.person, is_open: claim.person === null ? 0 : NEW }
  const isFirstTrace = row.sale_sequence === null && row.person === null && claim.person !== null
  return isFirstTrace ? { person: claim.person, is_open: NEW } : {}
}

/** Merges two rows of one payment into the older one. */
function merge(writer: RevenueWriter, older: TransactionRow, newer: TransactionRow): TransactionRow {
  const { book } = writer
  for (const { id } of book.linkedTo(newer.id)) book.update(id, { parent_id: older.id })
  book.aliases.move(newer.id, older.id)
  book.delete(newer.id)
  apply(writer, older, claimOf(newer))
  const { occurred_at: at } = book.byId(older.id)! // updated above
  const hasVisitOfNewer = older.sale_sequence === null && (newer.sale_sequence !== null || older.visit_started_at === null)
  if (hasVisitOfNewer) book.update(older.id, { ...frozenOf(newer), ...movedTo(at, newer) })
  const merged = book.byId(older.id)! // as above
  relink(writer, merged)
  settle(writer, merged.id)
  return merged
}

/** Returns what a row says, to be applied to another one. */
const claimOf = ({ parent_id: _, ...row }: TransactionRow): Claim => ({
  ...row,
  aliases: [],
  amount_rank: row.amount_rank ?? 1,
  items: JSON.parse(row.items_json) as Claim["items"], // written by `insertSale` and `apply`
  event: dimensionsOf(row).event ?? "",
})

/** Returns the visit and the touches of a row. */
export const frozenOf = ({
  sale_sequence,
  visit_sequence,
  visitor,
  visitor_kind,
  visit_started_at,
  is_open,
  person,
  link_id,
  dims_json,
  touches_json,
}: TransactionRow): Values => ({
  ...{ sale_sequence, visit_sequence, visitor, visitor_kind, visit_started_at, is_open, person, link_id, dims_json, touches_json },
})

/** Remembers that a sale event is about a known sale. */
export function addEvent(
  { book }: RevenueWriter,
  id: number,
  { sale_sequence, external_id }: Pick<Claim, "sale_sequence" | "external_id">,
): void {
  if (sale_sequence !== null) book.aliases.addEvent(id, sale_sequence, external_id)
}

/** Returns the sequences of the sale events that report a sale, in storage order. */
export const eventsOf = (book: Book, { id, sale_sequence }: Pick<TransactionRow, "id" | "sale_sequence">): number[] =>
  book.aliases
    .of(id)
    .filter(({ provider }) => provider === EVENT)
    .map(({ alias }) => Number(alias))
    .concat(sale_sequence ?? [])
    .sort((a, b) => a - b)
