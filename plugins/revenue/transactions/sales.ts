/**
 * Sales: one row per order, whatever reports it. The row bears the provider, external ID and amount of the most trusted report, the first
 * of equally trusted ones; all other IDs of the order are aliases. The oldest row stays when two turn out to be one payment.
 */
import { type RowStatements, sql } from "#plugin"
import type { Claim } from "./claim.ts"
import { conversionOf, convertRow, linkWaiting, relink, settle } from "./links.ts"
import { COLUMNS, NEW, PROVIDERS, type Provider, TRUSTS, type TransactionRow } from "./transaction.ts"
import {
  changeRow,
  deleteRow,
  insertRow,
  isMarked,
  linkedTo,
  mark,
  type RevenueWriter,
  rowById,
  rowByKey,
  updateRow,
  type Values,
} from "./writer.ts"

/** Provider of aliases that are order IDs: those of a row with several. */
const ORDER = "order"
/** Provider of aliases that are sequences of further sale events of the order, so that one remains when another report is removed. */
const EVENT = "event"
type AliasOwner = Provider | typeof ORDER | typeof EVENT

/** Result of a claim. */
export interface Recorded {
  id: number
  isNew: boolean
}

/** Records a sale, a new one with the given ID if there is one. Returns undefined if the provider has voided it. */
export function recordSale(writer: RevenueWriter, claim: Claim, newId?: number): Recorded | undefined {
  const { rows, site } = writer
  if ([claim.external_id, ...claim.aliases].some((id) => isMarked(rows, site.id, claim.provider, id, "sale"))) return undefined
  const [known, ...others] = knownSales(rows, site.id, claim)
  if (!known) return { id: insertSale(writer, claim, newId), isNew: true }
  const merged = others.reduce((row, other) => merge(writer, row, other), known)
  apply(writer, merged, claim)
  return { id: merged.id, isNew: false }
}

/** Removes a sale that the provider has voided, so that a later report of it is ignored. */
export function voidSale(writer: RevenueWriter, { provider, external_id, aliases }: Claim): void {
  const { rows, site } = writer
  for (const id of [external_id, ...aliases]) {
    const row = saleByPaymentId(rows, site.id, provider, id)
    if (row) deleteSale(writer, row.id)
    mark(rows, site.id, provider, id, "sale")
  }
}

/** Deletes a sale with its aliases. Its refunds stay, without an order. */
export function deleteSale(writer: RevenueWriter, id: number): void {
  const { rows, site } = writer
  for (const row of linkedTo(rows, id)) {
    updateRow(writer, row.id, { parent_id: null })
    convertRow(writer, rowById(rows, site.id, row.id)!) // updated above
  }
  rows.run(sql`delete from revenue_aliases where transaction_id = ${id}`)
  deleteRow(writer, id)
}

/** Returns the sale with an ID of a provider. */
export function saleByPaymentId(rows: RowStatements, siteId: number, provider: Provider, id: string): TransactionRow | undefined {
  const own = rowByKey(rows, siteId, { provider, external_id: id, type: "sale" })
  return own ?? saleByAlias(rows, siteId, provider, id)
}

/** Returns the sale of an order. */
export const saleByOrder = (rows: RowStatements, siteId: number, orderId: string): TransactionRow | undefined =>
  rows.get<TransactionRow>(sql`select ${COLUMNS} from revenue_transactions
    where site_id = ${siteId} and order_id = ${orderId} and type = 'sale' order by id limit 1`) ?? saleByAlias(rows, siteId, ORDER, orderId)

function saleByAlias(rows: RowStatements, siteId: number, provider: AliasOwner, alias: string): TransactionRow | undefined {
  const found = rows.get<{ id: number }>(sql`select transaction_id as id from revenue_aliases
    where site_id = ${siteId} and provider = ${provider} and alias = ${alias}`)
  return found && rowById(rows, siteId, found.id)
}

/** Returns the rows that a claim is about, oldest first. */
function knownSales(rows: RowStatements, siteId: number, { provider, external_id, aliases, order_id }: Claim): TransactionRow[] {
  const found = [external_id, ...aliases].map((id) => saleByPaymentId(rows, siteId, provider, id))
  if (order_id !== null) found.push(saleByOrder(rows, siteId, order_id))
  const byId = new Map(found.flatMap((row) => (row ? [[row.id, row] as const] : [])))
  return [...byId.values()].sort((a, b) => a.id - b.id)
}

function insertSale(writer: RevenueWriter, claim: Claim, newId?: number): number {
  const { rows, site, now } = writer
  const id = insertRow(writer, {
    ...(newId !== undefined && { id: newId }),
    ...{ site_id: site.id, received_at: now, created_by: claim.created_by, note: claim.note },
    is_announced: claim.import_id === 0 ? 0 : 1,
    ...{ provider: claim.provider, external_id: claim.external_id, type: "sale", order_id: claim.order_id },
    ...amountOf(claim),
    ...conversionOf(writer, claim, claim.occurred_at),
    ...{ tax_minor: claim.tax_minor, shipping_minor: claim.shipping_minor, discount_minor: claim.discount_minor },
    ...{ items_json: JSON.stringify(claim.items), trust: claim.trust, recurring: claim.recurring, import_id: claim.import_id },
    ...{ occurred_at: claim.occurred_at, person: claim.person, sale_sequence: claim.sale_sequence, visit_sequence: claim.visit_sequence },
    ...{ dims_json: claim.event === "" ? "{}" : JSON.stringify({ event: claim.event }), is_open: isAttributable(claim) ? NEW : 0 },
  })
  for (const alias of claim.aliases) addAlias(rows, site.id, claim.provider, alias, claim.external_id, id)
  if (linkWaiting(writer, id, [claim.external_id, ...claim.aliases], claim.provider, claim.order_id)) settle(writer, id)
  return id
}

const isAttributable = ({ sale_sequence, person }: Pick<Claim, "sale_sequence" | "person">): boolean =>
  sale_sequence !== null || person !== null

const amountOf = ({ amount_minor, amount_rank, currency }: Claim): Values => ({ amount_minor, amount_rank, currency })

/** Adds what a claim says to a known sale. */
function apply(writer: RevenueWriter, row: TransactionRow, claim: Claim): void {
  const { rows, site } = writer
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
    occurred_at: Math.min(row.occurred_at, claim.occurred_at),
    ...visitOf(row, claim),
  }
  changeRow(writer, row, values)
  const next = { ...row, ...values }
  const ids = [claim.external_id, ...claim.aliases]
  if (isStronger) addAlias(rows, site.id, row.provider, row.external_id, row.external_id, row.id)
  for (const id of ids) addAlias(rows, site.id, claim.provider, id, claim.external_id, row.id)
  removeOwnAlias(rows, next)
  if (claim.order_id !== null && claim.order_id !== next.order_id) addAlias(rows, site.id, ORDER, claim.order_id, claim.order_id, row.id)
  if (claim.sale_sequence !== next.sale_sequence) addEvent(writer, row.id, claim)
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

/** Returns the columns of the visit. The visit of a tracked sale stays, and replaces one that was found by the person. */
function visitOf(row: TransactionRow, claim: Claim): Values {
  const event = claim.event === "" ? {} : { dims_json: JSON.stringify({ ...(JSON.parse(row.dims_json) as object), event: claim.event }) }
  if (row.sale_sequence === null && claim.sale_sequence !== null)
    return {
      sale_sequence: claim.sale_sequence,
      visit_sequence: claim.visit_sequence,
      is_open: NEW,
      person: row.person ?? claim.person,
      ...event,
    }
  const isFirstTrace = row.sale_sequence === null && row.person === null && claim.person !== null
  return isFirstTrace ? { person: claim.person, is_open: NEW } : {}
}

/** Merges two rows of one payment into the older one. */
function merge(writer: RevenueWriter, older: TransactionRow, newer: TransactionRow): TransactionRow {
  const { rows, site } = writer
  for (const { id } of linkedTo(rows, newer.id)) updateRow(writer, id, { parent_id: older.id })
  rows.run(sql`update revenue_aliases set transaction_id = ${older.id} where transaction_id = ${newer.id}`)
  deleteRow(writer, newer.id)
  apply(writer, older, claimOf(newer))
  const visit = older.sale_sequence === null && (newer.sale_sequence !== null || older.visit_started_at === null) ? frozenOf(newer) : {}
  updateRow(writer, older.id, visit)
  const merged = rowById(rows, site.id, older.id)! // updated above
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
  event: (JSON.parse(row.dims_json) as { event?: string }).event ?? "",
})

const frozenOf = ({
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

const addAlias = (
  rows: RowStatements,
  siteId: number,
  provider: AliasOwner,
  alias: string,
  externalId: string,
  transactionId: number,
): void =>
  rows.run(sql`insert into revenue_aliases (site_id, provider, alias, external_id, transaction_id)
    values (${siteId}, ${provider}, ${alias}, ${externalId}, ${transactionId}) on conflict do nothing`)

/** Remembers that a sale event is about a known sale. */
export function addEvent({ rows, site }: RevenueWriter, id: number, { sale_sequence, external_id }: Claim): void {
  if (sale_sequence !== null) addAlias(rows, site.id, EVENT, String(sale_sequence), external_id, id)
}

/** A row is found by its own ID, so no alias repeats it. */
const removeOwnAlias = (rows: RowStatements, { site_id, provider, external_id }: TransactionRow): void =>
  rows.run(sql`delete from revenue_aliases where site_id = ${site_id} and provider = ${provider} and alias = ${external_id}`)

/** Returns the aliases of a sale: its other IDs by provider. */
export const aliasesOf = (rows: RowStatements, id: number): { provider: Provider | typeof ORDER; alias: string }[] =>
  rows.all(sql`select provider, alias from revenue_aliases
    where transaction_id = ${id} and provider <> ${EVENT} order by provider, alias`)

/** Returns the sequences of the sale events that report a sale, in storage order. */
export const eventsOf = (rows: RowStatements, { id, sale_sequence }: Pick<TransactionRow, "id" | "sale_sequence">): number[] =>
  rows
    .all<{ alias: string }>(sql`select alias from revenue_aliases where transaction_id = ${id} and provider = ${EVENT}`)
    .map(({ alias }) => Number(alias))
    .concat(sale_sequence ?? [])
    .sort((a, b) => a - b)

/** Returns whether a text is the name of a provider. */
export const isProvider = (text: string): text is Provider => (PROVIDERS as readonly string[]).includes(text)
