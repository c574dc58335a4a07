import {
  ArgumentReader,
  csvLine,
  cursorOf,
  dayStart,
  formatMoney,
  instantText,
  type PrivatePage,
  parseCurrency,
  raw,
  readPlace,
  readSortedPaging,
  refuseArguments,
  type Site,
  type Sql,
  sql,
  TRANSACTION_TYPES,
} from "#plugin"
import type { RevenueHost } from "../host.ts"
import { LISTED_COLUMNS, type ListedRow, PROVIDERS, TRUSTS } from "../orders/transaction.ts"
import type { RowsCaller } from "../rates/rates.ts"
import { formatTransaction, SHOWN_FLAGS } from "./responses.ts"

export const SORTS = ["-occurred_at", "occurred_at", "-amount", "amount"] as const
type Sort = (typeof SORTS)[number]
export const LIST_ARGUMENTS = ["from", "to", "type", "provider", "trust", "currency", "flag", "q", "sort"] as const

/** What a list shows, and in which order. */
interface Listing {
  where: Sql
  sort: Sort
}

const ORDER = {
  "-occurred_at": { column: sql`occurred_at`, isDescending: true },
  occurred_at: { column: sql`occurred_at`, isDescending: false },
  "-amount": { column: sql`amount_minor`, isDescending: true },
  amount: { column: sql`amount_minor`, isDescending: false },
} as const satisfies Record<Sort, { column: Sql; isDescending: boolean }>

/** Reads of transactions, in query workers. Those of imports that are not shown are left out. */
export function createList({ rows, sales }: RevenueHost) {
  const rowsAfter = ({ where, sort }: Listing, place: Place | undefined, limit: number, caller: RowsCaller): Promise<ListedRow[]> => {
    const { column, isDescending } = ORDER[sort]
    const after = place
      ? isDescending
        ? sql`and (${column}, id) < (${place[0]}, ${place[1]})`
        : sql`and (${column}, id) > (${place[0]}, ${place[1]})`
      : sql``
    const order = isDescending ? sql`${column} desc, id desc` : sql`${column}, id`
    return rows.read(
      sql`select ${LISTED_COLUMNS} from revenue_transactions where ${where} ${after} order by ${order} limit ${limit}`,
      caller,
    )
  }

  const listingOf = (site: Site, reader: ArgumentReader): Listing => {
    const spans = sales.visibleImports(site.id).flatMap(({ id, spans }) => spans.map(({ from, to }) => ({ id, from, to })))
    const isVisible = sql`exists (select 1 from json_each(${JSON.stringify(spans)}) where value ->> 'id' = import_id
      and coalesce(visit_started_at, occurred_at) >= value ->> 'from' and coalesce(visit_started_at, occurred_at) < value ->> 'to')`
    const conditions = [sql`site_id = ${site.id}`, sql`(import_id = 0 or ${isVisible})`, ...conditionsOf(site, reader)]
    return { where: conditions.reduce((all, one) => sql`${all} and ${one}`), sort: reader.choice("sort", SORTS) ?? "-occurred_at" }
  }

  return {
    async page(site: Site, query: Record<string, unknown>, caller: RowsCaller): Promise<PrivatePage<ListedRow>> {
      const paging = readSortedPaging("revenue-transactions", query, LIST_ARGUMENTS, (reader) => listingOf(site, reader))
      const { list, limit, cursor, count, filters } = paging
      const place = cursor === undefined ? undefined : (readPlace(list, cursor) as unknown as Place)
      const found = await rowsAfter(filters, place, limit + 1, caller)
      const data = found.slice(0, limit)
      const last = data.at(-1)
      const counted = sql`select count(*) as total from revenue_transactions where ${filters.where}`
      const total = count ? (await rows.read<{ total: number }>(counted, caller))[0] : undefined
      const hasMore = found.length > limit
      return { data, has_more: hasMore, next_cursor: hasMore && last ? cursorOf(list, placeOf(filters.sort, last)) : null, ...total }
    },

    /** Returns the transactions as a CSV file, read slice by slice while it is sent. */
    csv(site: Site, query: Record<string, unknown>, caller: RowsCaller, seesPeople: boolean): Response {
      const reader = new ArgumentReader(query, LIST_ARGUMENTS)
      const listing = listingOf(site, reader)
      refuseArguments(reader, "text")
      const columns = CSV_COLUMNS.filter((column) => seesPeople || column !== "person")
      let place: Place | undefined
      const body = new ReadableStream<Uint8Array>({
        start: (controller) => controller.enqueue(UTF8.encode(`${columns.join(",")}\r\n`)),
        async pull(controller) {
          const slice = await rowsAfter(listing, place, CSV_SLICE, caller)
          const lines = slice.map((row) => csvLine(cellsIn(row, columns)))
          if (lines.length > 0) controller.enqueue(UTF8.encode(lines.join("")))
          const last = slice.at(-1)
          place = last && placeOf(listing.sort, last)
          if (slice.length < CSV_SLICE) controller.close()
        },
      })
      const headers = {
        "content-type": "text/csv; charset=utf-8",
        "content-disposition": `attachment; filename="transactions-${site.id}.csv"`,
      }
      return new Response(body, { headers })
    },
  }
}
export type List = ReturnType<typeof createList>

/** Sort value and id of a row. */
type Place = readonly [number, number]

const placeOf = (sort: Sort, { id, occurred_at, amount_minor }: ListedRow): Place => [
  sort.endsWith("amount") ? amount_minor : occurred_at,
  id,
]

const CSV_SLICE = 1_000
const UTF8 = new TextEncoder()

const CSV_COLUMNS = [
  ...(["id", "occurred_at", "type", "provider", "external_id", "order_id", "parent_id", "amount", "currency"] as const),
  ...(["tax", "shipping", "discount", "base_amount", "base_currency", "rate", "rate_day", "trust", "recurring", "flags"] as const),
  ...(["source", "channel", "country", "person", "import_id", "note"] as const),
]

function cellsIn(row: ListedRow, columns: readonly (typeof CSV_COLUMNS)[number][]): (string | number | undefined)[] {
  const cells = cellsOf(row)
  return columns.map((column) => cells[column] ?? undefined)
}

function cellsOf(row: ListedRow): Record<(typeof CSV_COLUMNS)[number], string | number | null> {
  const money = (minor: number | bigint, currency: string) => formatMoney(minor, currency).amount
  const { flags, source, channel, country } = formatTransaction(row, { seesPeople: false })
  return {
    ...{ id: row.id, occurred_at: instantText(row.occurred_at), type: row.type, provider: row.provider, external_id: row.external_id },
    ...{ order_id: row.order_id, parent_id: row.parent_id, amount: money(row.amount_minor, row.currency), currency: row.currency },
    ...{ tax: money(row.tax_minor, row.currency), shipping: money(row.shipping_minor, row.currency) },
    discount: money(row.discount_minor, row.currency),
    base_amount: row.base_minor === null ? null : money(BigInt(row.base_minor), row.base_currency!), // set together
    ...{ base_currency: row.base_currency, rate: row.rate, rate_day: row.rate_day, trust: row.trust, recurring: row.recurring },
    ...{ flags: flags.join(" "), source, channel, country, person: row.visitor },
    ...{ import_id: row.import_id === 0 ? null : row.import_id, note: row.note },
  }
}

/** Reads the filters of a list as conditions. */
function conditionsOf(site: Site, reader: ArgumentReader): Sql[] {
  const [from, to] = [reader.day("from"), reader.day("to")]
  if (from && to && Temporal.PlainDate.compare(from, to) > 0)
    reader.refuse({ pointer: "/to", code: "invalid_range", detail: "to must not be before from." })
  const chosen = {
    type: reader.choice("type", TRANSACTION_TYPES),
    provider: reader.choice("provider", PROVIDERS),
    trust: reader.choice("trust", TRUSTS),
  }
  const code = reader.text("currency", { min: 3, max: 3 })
  const currency = code === undefined ? undefined : parseCurrency(code)
  if (code !== undefined && currency === undefined)
    reader.refuse({ pointer: "/currency", code: "unknown_currency", detail: "currency must be an active ISO 4217 code." })
  const flag = reader.choice("flag", SHOWN_FLAGS)
  const q = reader.text("q", { min: 1, max: 200 })
  return [
    ...(from ? [sql`occurred_at >= ${dayStart(from, site.timezone)}`] : []),
    ...(to ? [sql`occurred_at < ${dayStart(to.add({ days: 1 }), site.timezone)}`] : []),
    ...Object.entries(chosen).flatMap(([column, value]) => (value === undefined ? [] : [sql`${raw(column)} = ${value}`])),
    ...(currency === undefined ? [] : [sql`currency = ${currency}`]),
    ...(flag === undefined ? [] : [flag === "unattributed" ? IS_UNATTRIBUTED : sql`instr(flags_json, ${`"${flag}"`}) > 0`]),
    ...(q === undefined
      ? []
      : [sql`instr(lower(external_id || ' ' || coalesce(order_id, '') || ' ' || coalesce(note, '')), lower(${q})) > 0`]),
  ]
}

/** The condition of the mark `unattributed`, as `formatTransaction` shows it. */
const IS_UNATTRIBUTED = sql`type = 'sale' and visit_started_at is null and is_open = 0`
