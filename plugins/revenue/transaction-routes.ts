import { type Static, Type as t } from "@sinclair/typebox"
import {
  type Created,
  failures,
  isObject,
  NoQuery,
  type OwnStatements,
  Paged,
  parameter,
  parseId,
  queryWith,
  readNothing,
  readOptionalJson,
  Sent,
  type Site,
} from "#plugin"
import { type Area, operation } from "./area.ts"
import { readJsonOrCsv, SentTable } from "./bodies.ts"
import { EVENT } from "./orders/aliases.ts"
import { Book } from "./orders/book.ts"
import { PROVIDERS, TRUSTS, type TransactionRow } from "./orders/transaction.ts"
import {
  RefundInput,
  readTransaction,
  readTransactions,
  readTransactionsCsv,
  TransactionInput,
  TransactionsInput,
} from "./transactions/input.ts"
import { SORTS } from "./transactions/list.ts"
import { type Author, notFound } from "./transactions/manual.ts"
import {
  formatDetail,
  formatTransaction,
  SHOWN_FLAGS,
  TransactionDetail,
  TransactionList,
  TransactionResponse,
} from "./transactions/responses.ts"

const READ = "revenue:read"
/** Answers to writes tell amounts, such as what is left of a sale. */
const CAN_WRITE = { permission: "revenue:write", also: [READ] }
const MAX_BYTES = 1024 ** 2

const Added = t.Union([TransactionResponse, TransactionList])

const FILTERS = {
  from: parameter.text("First day, as YYYY-MM-DD."),
  to: parameter.text("Last day, as YYYY-MM-DD."),
  type: parameter.choice(["sale", "refund", "dispute", "adjustment"], "Type of the transactions."),
  provider: parameter.choice(PROVIDERS, "Who reported the transactions."),
  trust: parameter.choice(TRUSTS, "How far the amounts can be trusted."),
  currency: parameter.text("ISO 4217 code."),
  flag: parameter.choice(SHOWN_FLAGS, "Mark of the transactions."),
  q: parameter.text("Text that the external ID, the order ID or the note contains."),
  sort: parameter.choice(
    SORTS,
    "Order of the transactions. `amount` compares minor units, whatever the currency. Default: `-occurred_at`.",
  ),
}

/** Routes for transactions. */
export function transactionRoutes({ host, list, manual }: Area) {
  type Params = Record<string, string | undefined>
  const idOf = (id: string | undefined): number => parseId(id) ?? 0
  const find = async ({ id }: Params, { site }: { site?: Site }): Promise<void> => void (await manual.get(site!, idOf(id))) // below a site
  const sightOf = (permissions: ReadonlySet<string>) => ({ seesPeople: permissions.has("people:read") })
  const callerOf = (site: Site, request: Request) => ({ organizationId: site.organization_id, signal: request.signal })
  const location = ({ site_id, id }: TransactionRow) => `/api/private/sites/${site_id}/revenue/transactions/${id}`

  async function detail(site: Site, id: number, permissions: ReadonlySet<string>): Promise<TransactionDetail> {
    const found = await host.rows.write((rows) => {
      const book = new Book(rows, site.id)
      const row = book.byId(id)
      const sale = row && row.parent_id !== null ? book.byId(row.parent_id) : undefined
      return (
        row && {
          row,
          related: sale ? [sale] : book.linkedTo(id),
          aliases: book.aliases.of(id).filter(({ provider }) => provider !== EVENT),
        }
      )
    })
    if (!found) throw notFound()
    return formatDetail(found.row, { ...found, ...sightOf(permissions) })
  }

  interface Called extends Pick<Author, "actor"> {
    permissions: ReadonlySet<string>
    user: { id: number }
    request: Request
  }
  const authorOf = (
    { actor, permissions, user, request }: Called,
    alongside: (statements: OwnStatements, rows: TransactionRow[]) => Promise<void>,
  ): Author => ({ actor, userId: user.id, key: request.headers.get("idempotency-key"), alongside, ...sightOf(permissions) })

  return host
    .siteRouter()
    .get(
      "/revenue/transactions",
      async ({ site, query: given, permissions, request }) => {
        const page = await list.page(site, given, callerOf(site, request))
        return { ...page, data: page.data.map((row) => formatTransaction(row, sightOf(permissions))) }
      },
      {
        can: READ,
        query: queryWith(FILTERS),
        response: { 200: Paged(TransactionResponse) },
        detail: operation("List transactions"),
      },
    )
    .get(
      "/revenue/transactions.csv",
      ({ site, query: given, permissions, request }) => list.csv(site, given, callerOf(site, request), sightOf(permissions).seesPeople),
      {
        can: { permission: READ, also: ["export:read"] },
        query: queryWith(FILTERS),
        detail: {
          ...operation("Download transactions as CSV"),
          responses: { 200: { description: "The transactions.", content: { "text/csv": { schema: { type: "string" } } } } },
        },
      },
    )
    .post(
      "/revenue/transactions",
      ({ site, ...call }) => {
        const options = { site, now: host.now() }
        const { csv } = call.body
        const isList = csv !== undefined || (isObject(call.body.value) && "transactions" in call.body.value)
        return host.create(
          call,
          (body, alongside) => {
            const wanted = csv
              ? readTransactionsCsv(csv, options)
              : isList
                ? readTransactions(body as { transactions: unknown }, options) // an object with the field
                : [readTransaction(body, options)]
            return manual.create(
              site,
              wanted,
              authorOf(call, (statements, after) => alongside(statements, { after })),
            )
          },
          (rows: TransactionRow[]): Created<Static<typeof Added>> => {
            const shown = rows.map((row) => formatTransaction(row, sightOf(call.permissions)))
            return isList ? { body: { data: shown } } : { location: location(rows[0]!), body: shown[0]! } // one was added
          },
        )
      },
      {
        can: { ...CAN_WRITE, read: readJsonOrCsv(MAX_BYTES) },
        query: NoQuery,
        body: SentTable,
        response: { 201: Added },
        detail: {
          ...operation("Add a transaction, or up to 100 as a list or as CSV, all or none", t.Union([TransactionInput, TransactionsInput])),
          ...failures("duplicate_transaction", "limit_reached"),
        },
      },
    )
    .get("/revenue/transactions/:id", ({ site, params, permissions }) => detail(site, idOf(params.id), permissions), {
      can: { permission: READ, find },
      query: NoQuery,
      response: { 200: TransactionDetail },
      detail: { ...operation("Get a transaction with its items, touches and refunds"), ...failures("transaction_not_found") },
    })
    .post(
      "/revenue/transactions/:id/refund",
      ({ site, params, ...call }) =>
        host.create(
          call,
          (body, alongside) =>
            manual.refund(
              site,
              idOf(params.id),
              body,
              authorOf(call, (statements, [after]) => alongside(statements, { after: after! })), // one was added
            ),
          (row: TransactionRow) => ({ location: location(row), body: formatTransaction(row, sightOf(call.permissions)) }),
        ),
      {
        can: { ...CAN_WRITE, find, read: readOptionalJson(MAX_BYTES) },
        query: NoQuery,
        body: Sent,
        response: { 201: TransactionResponse },
        detail: {
          ...operation("Refund a sale, or what is left of it", RefundInput),
          ...failures("transaction_not_found", "invalid_state", "limit_reached"),
        },
      },
    )
    .delete(
      "/revenue/transactions/:id",
      async ({ site, params, actor, status }) => {
        await manual.remove(site, idOf(params.id), actor)
        return status(204, undefined)
      },
      {
        can: { ...CAN_WRITE, find, read: readNothing },
        query: NoQuery,
        detail: { ...operation("Delete a transaction that was added by hand"), ...failures("transaction_not_found", "not_manual") },
      },
    )
}
