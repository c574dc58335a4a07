/** Transactions that members add, refund and delete. */
import {
  type Actor,
  AppError,
  currencyDecimals,
  decimalText,
  type Fault,
  fault,
  MAX_AMOUNT_MINOR,
  type OwnStatements,
  refuseFaults,
  type Site,
  sql,
} from "#plugin"
import { lineFault } from "../csv.ts"
import { revenueError } from "../errors.ts"
import type { Writing } from "../folding/writing.ts"
import { LIMITS, type RevenueHost } from "../host.ts"
import { Book } from "../orders/book.ts"
import { type Claim, NO_DETAILS_OF_REFUND } from "../orders/claim.ts"
import { deleteRefund, recordRefund } from "../orders/refunds.ts"
import { refoldSale } from "../orders/removal.ts"
import { recordSale } from "../orders/sales.ts"
import type { TransactionRow } from "../orders/transaction.ts"
import { type NewTransaction, readRefund } from "./input.ts"
import { formatTransaction, type Sight } from "./responses.ts"

/** Who adds transactions, and the key by which a repeated request is recognized. */
export interface Author extends Sight {
  actor: Actor
  userId: number
  /** Value of `Idempotency-Key`. */
  key: string | null
  alongside(statements: OwnStatements, rows: TransactionRow[]): Promise<void>
}

/** The sale that is refunded, and whether the amount is what is left of it. */
interface Refunded {
  id: number
  isRest: boolean
}

interface ManualParts {
  writing: Writing
  /** Called after a write, for what follows from it. */
  written(siteId: number): void
}

export function createManual(host: RevenueHost, { writing, written }: ManualParts) {
  const { audit, db, rows, sales, now } = host

  /** Returns the rows of a site by id, or throws `transaction_not_found`. */
  async function get(site: Site, id: number): Promise<TransactionRow> {
    const row = await rows.write((statements) => new Book(statements, site.id).byId(id))
    if (!row) throw notFound()
    return row
  }

  /** Adds transactions, all or none. Throws `duplicate_transaction` or `limit_reached`. */
  async function add(site: Site, wanted: readonly NewTransaction[], author: Author, refunded?: Refunded): Promise<TransactionRow[]> {
    refuseFaults(repeated(wanted))
    await refuseOverLimit(site, wanted.length)
    const claims = wanted.map((each, index) => claimOf(each, index, author))
    await rows.write((statements) => {
      const book = new Book(statements, site.id)
      for (const [index, claim] of claims.entries()) refuseDuplicate(book, claim, wanted[index]!.pointer, author)
    })
    await audit.writeAlone(author.actor, {
      action: refunded === undefined ? "revenue.transaction.create" : "revenue.transaction.refund",
      // A new transaction has no id before it is written.
      target: { type: "transaction", id: refunded?.id ?? claims[0]!.external_id, label: labelOf(claims) },
      siteId: site.id,
      organizationId: site.organization_id,
    })
    const added = await writing.writeInTurn(site, (writer) => {
      const ids = claims.map((claim, index) => {
        refuseDuplicate(writer.book, claim, wanted[index]!.pointer, author)
        // Another refund can have been added since.
        const amount_minor = refunded?.isRest ? restOf(writer.book, refunded.id) : claim.amount_minor
        const current = { ...claim, amount_minor }
        return (claim.type === "sale" ? recordSale(writer, current) : recordRefund(writer, current))!.id // a manual one is never voided
      })
      return ids.map((id) => writer.book.byId(id)!) // written above
    })
    await db.transaction((statements) => author.alongside(statements, added))
    written(site.id)
    return added
  }

  async function refuseOverLimit(site: Site, more: number): Promise<void> {
    const count = sql`select count(*) as n from revenue_transactions where site_id = ${site.id}`
    const [found] = await rows.read<{ n: number }>(count, { organizationId: site.organization_id })
    if (found!.n + more <= LIMITS.transactions) return
    throw new AppError("limit_reached", `A site can have at most ${LIMITS.transactions.toLocaleString("en")} transactions.`, {
      limit: LIMITS.transactions,
      resource: "transactions",
    })
  }

  return {
    get,

    create: (site: Site, wanted: readonly NewTransaction[], author: Author) => add(site, wanted, author),

    /** Refunds a sale, or what is left of it. */
    async refund(site: Site, id: number, body: unknown, author: Author): Promise<TransactionRow> {
      const sale = await get(site, id)
      if (sale.type !== "sale") throw new AppError("invalid_state", "Only a sale can be refunded.", { state: sale.type })
      const { amount, occurredAt, note } = readRefund(body, { currency: sale.currency, now: now() })
      const amountOrRest = amount ?? (await rows.write((statements) => restOf(new Book(statements, site.id), id)))
      const refund = {
        ...NO_DETAILS_OF_REFUND,
        order_id: sale.order_id,
        parent_id: id,
        amount_minor: amountOrRest,
        currency: sale.currency,
        pointer: "",
      }
      const refunded = { id, isRest: amount === undefined }
      return (await add(site, [{ ...refund, occurred_at: occurredAt, note }], author, refunded))[0]! // one was added
    },

    /** Deletes a manual transaction. A tracked sale of which it took over the order counts again. Throws `not_manual`. */
    async remove(site: Site, id: number, actor: Actor): Promise<void> {
      const row = await get(site, id)
      if (row.provider !== "manual")
        throw revenueError("not_manual", "Only transactions that were added by hand can be deleted. Refund the order to cancel it.")
      await audit.writeAlone(actor, {
        action: "revenue.transaction.delete",
        target: { type: "transaction", id, label: labelOf([row]) },
        siteId: site.id,
        organizationId: site.organization_id,
      })
      await writing.writeInTurn(site, (writer) => {
        const current = writer.book.byId(id)
        if (current?.provider !== "manual") return // taken over or deleted since
        if (current.type === "sale") refoldSale(writer, sales, current, () => true)
        else deleteRefund(writer, current)
      })
      written(site.id)
    },
  }
}
export type Manual = ReturnType<typeof createManual>

export const notFound = () => revenueError("transaction_not_found", "This transaction doesn't exist on the site, or it was removed.")

/** Throws `duplicate_transaction` if the ID is taken, or if the order has a sale that more than a browser has reported. */
function refuseDuplicate(book: Book, claim: Claim, pointer: string, sight: Sight): void {
  const byOrder = claim.type === "sale" && claim.order_id !== null ? book.saleByOrder(claim.order_id) : undefined
  const existing = book.byKey(claim) ?? (byOrder && byOrder.trust !== "client" ? byOrder : undefined)
  if (!existing) return
  const what =
    byOrder === existing ? "The site already has a sale of this order." : "The site already has a transaction with this external ID."
  throw revenueError("duplicate_transaction", what, {
    existing_id: existing.id,
    existing: formatTransaction(existing, sight),
    errors: [{ pointer, code: "duplicate_transaction", detail: what }],
  })
}

/** Returns the transactions of a request that repeat the external ID or the order of an earlier one, as faults. */
function repeated(wanted: readonly NewTransaction[]): Fault[] {
  const known = new Set<string>()
  return wanted.flatMap(({ type, external_id, order_id, pointer }) => {
    const keys = [
      ...(external_id === null ? [] : [`${type} ${external_id}`]),
      ...(type === "sale" && order_id !== null ? [`order ${order_id}`] : []),
    ]
    const isRepeated = keys.some((key) => known.has(key))
    for (const key of keys) known.add(key)
    return isRepeated ? [repeatedFault(pointer)] : []
  })
}

function repeatedFault(pointer: string): Fault {
  const predicate = "repeats the order or the external ID of an earlier one"
  const [, line] = /^\/lines\/(\d+)$/.exec(pointer) ?? []
  return line === undefined
    ? fault(pointer, "duplicate_transaction", predicate)
    : lineFault(Number(line), "", "duplicate_transaction", predicate)
}

/** Returns what is left of a sale in its own currency. Throws `transaction_not_found`, or a fault if nothing can be refunded. */
function restOf(book: Book, saleId: number): number {
  const sale = book.byId(saleId)
  if (!sale) throw notFound()
  const linked = book.linkedTo(saleId).filter(({ currency }) => currency === sale.currency)
  const left = linked.reduce(
    (rest, { type, amount_minor }) => (type === "adjustment" ? rest + BigInt(amount_minor) : rest - BigInt(amount_minor)),
    BigInt(sale.amount_minor),
  )
  if (left <= 0n) refuseFaults([fault("/amount", "amount_out_of_range", "is required, because nothing is left of the sale")])
  if (left > MAX_AMOUNT_MINOR)
    refuseFaults([fault("/amount", "amount_out_of_range", "is required, because more is left of the sale than one refund can state")])
  return Number(left)
}

/** Completes a transaction with its author, and with an ID that is the same for a repeated request. */
function claimOf({ pointer: _, ...transaction }: NewTransaction, index: number, { userId, key }: Author): Claim {
  const made = key === null ? crypto.randomUUID() : `${Bun.hash.wyhash(`${userId}:${key}`).toString(36)}:${index}`
  const external_id = transaction.external_id ?? `manual:${made}`
  return { ...transaction, external_id, stated_at: transaction.occurred_at, created_by: userId }
}

function labelOf(claims: readonly Pick<Claim, "type" | "amount_minor" | "currency">[]): string {
  const [{ type, amount_minor, currency }] = claims as [Claim]
  if (claims.length > 1) return `${claims.length} transactions`
  return `${type} of ${decimalText(amount_minor, currencyDecimals(currency) ?? 2)} ${currency}`
}
