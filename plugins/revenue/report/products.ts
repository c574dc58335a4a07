import {
  ArgumentReader,
  formatMoney,
  type LocalRange,
  type ReportOptions,
  type RowCondition,
  refuseArguments,
  refuseNames,
  type Site,
  shownRange,
  splitArguments,
  sql,
  type TransactionType,
  withAllFaults,
} from "#plugin"
import { addSums, byOrders, type CurrencySums, type Sums, sumsOf } from "./figures.ts"
import type { Asked, ReportParts } from "./report.ts"
import { modelBit, readRequest } from "./request.ts"
import type { ProductsResponse } from "./responses.ts"
import { conversionTo, keptOf, type RangeSums, sumRange, timeColumn } from "./sums.ts"

const SALES: RowCondition = { column: "type", values: ["sale"] }
const GROUPS = ["sku", "name", "category"] as const
const MAX_ROWS = 500

/** What the items with one value of a column add up to. */
interface ItemSums {
  currencies: CurrencySums
  quantities: Map<string, number>
}

/** Adds up the items of the transactions of a range by a column. "" is the missing value; what no item states is not included. */
async function sumItems(
  asked: Asked,
  { range }: LocalRange,
  column: string,
): Promise<{ groups: Map<string, ItemSums>; withItems: Map<string, number> }> {
  const { host, site, request } = asked
  const { open, target } = request
  const conversion = target === undefined ? undefined : await conversionTo(target, asked, range)
  const result = await host.rows.amounts(
    {
      site: { id: site.id },
      statement: sql`select items as rows from revenue_chunks where site_id = ${site.id} and items is not null and
        ((max_at >= ${range.from} and min_at < ${range.to}) or (max_sale_at >= ${range.from} and min_sale_at < ${range.to})) order by chunk`,
      time: { column: timeColumn(request), edges: [range.from, range.to] },
      keep: keptOf(request, modelBit("last_touch")),
      ...(open.parsed.filter && { filter: open.parsed.filter }),
      ...(conversion && { conversion }),
      sums: [[column, "currency", "type", ...(conversion ? ["converted"] : [])]],
      distinct: [
        { by: [column, "currency"], of: "transaction_id", among: SALES },
        { by: ["currency"], of: "transaction_id", among: SALES },
      ],
    },
    open.caller,
  )
  const groups = new Map<string, ItemSums>()
  for (const { keys, amount, weight } of result.sums[0]!) {
    const [value, currency, type, isConverted] = keys as [string, string, TransactionType, number]
    if (conversion && isConverted === 0) continue
    const own = groups.get(value) ?? { currencies: new Map(), quantities: new Map() }
    groups.set(value, own)
    const shown = target ?? currency
    // Orders are counted below: an order can have several items of a group.
    addSums(sumsOf(own.currencies, shown), type, { amount, weight: 0 })
    own.quantities.set(shown, (own.quantities.get(shown) ?? 0) + weight)
  }
  for (const { keys, count } of result.distinct[0]!) {
    const own = groups.get(String(keys[0]))
    const sums = own?.currencies.get(target ?? String(keys[1]))
    if (sums) sums.orders += 100 * count
  }
  const withItems = new Map<string, number>()
  for (const { keys, count } of result.distinct[1]!) {
    const shown = target ?? String(keys[0])
    withItems.set(shown, (withItems.get(shown) ?? 0) + count)
  }
  return { groups, withItems }
}

/** Returns what no item of a group states: the rest of the totals. Its orders are those without any item. */
function restOf(totals: CurrencySums, groups: ReadonlyMap<string, ItemSums>, withItems: ReadonlyMap<string, number>): CurrencySums {
  const named = [...groups].filter(([value]) => value !== "")
  return new Map(
    [...totals].map(([currency, { gross, refunds, adjustments, orders }]) => {
      // An order whose items lack the value is in this group as well.
      const unnamed = groups.get("")?.currencies.get(currency)?.orders ?? 0
      const rest: Sums = { gross, refunds, adjustments, orders: orders - 100 * (withItems.get(currency) ?? 0) + unnamed }
      for (const [, { currencies }] of named) {
        const own = currencies.get(currency)
        rest.gross -= own?.gross ?? 0n
        rest.refunds -= own?.refunds ?? 0n
        rest.adjustments -= own?.adjustments ?? 0n
      }
      return [currency, rest] as const
    }),
  )
}

const isEmpty = ({ gross, refunds, adjustments, orders }: Sums): boolean =>
  gross === 0n && refunds === 0n && adjustments === 0n && orders === 0

/** Returns the sums by product for a breakdown, with `""` for the rest. */
export async function productGroups(asked: Asked, range: LocalRange, { shown }: RangeSums): Promise<Map<string, CurrencySums>> {
  const { groups, withItems } = await sumItems(asked, range, "product")
  const rest = restOf(shown, groups, withItems)
  const named = [...groups].filter(([value]) => value !== "").map(([value, { currencies }]) => [value, currencies] as const)
  const remaining = [...rest].filter(([, sums]) => !isEmpty(sums))
  return new Map([...named, ...(remaining.length > 0 ? [["", new Map(remaining)] as const] : [])])
}

export function createProducts(parts: ReportParts) {
  const { host, settings } = parts
  /** Lists what was sold, by SKU, name or category of the items. */
  return async (site: Site, given: Record<string, unknown>, options: ReportOptions): Promise<ProductsResponse> => {
    refuseNames(given, ["compare", "compare_from", "compare_to", "match_weekday", "interval"])
    const { own, ranged } = splitArguments(given, ["group_by", "limit"])
    const current = await settings.of(site)
    const [request, fields] = await withAllFaults(
      options.form ?? "json",
      readRequest({ openReport: host.services.openReport, settings: current }, site, ranged, options),
      () => readOwn(own, options.form ?? "json"),
    )
    const asked: Asked = { ...parts, site, options, request: { ...request, target: undefined } }
    const { range } = request.open.parsed
    const { shown } = await sumRange(asked, range, undefined)
    const { groups, withItems } = await sumItems(asked, range, fields.group)
    const rest: ItemSums = { currencies: restOf(shown, groups, withItems), quantities: groups.get("")?.quantities ?? new Map() }
    groups.set("", rest)
    const rows = [...shown].sort(byOrders).flatMap(([currency]) =>
      [...groups]
        .flatMap(([value, { currencies, quantities }]) => {
          const sums = currencies.get(currency)
          return sums && !(value === "" && isEmpty(sums)) ? [{ key: value || "(none)", sums, quantity: quantities.get(currency) ?? 0 }] : []
        })
        .sort((a, b) => (a.sums.gross === b.sums.gross ? (a.key < b.key ? -1 : 1) : a.sums.gross > b.sums.gross ? -1 : 1))
        .map(({ key, sums, quantity }) => ({
          ...{ key, quantity, currency },
          gross: formatMoney(sums.gross, currency),
          refunds: formatMoney(sums.refunds, currency),
          orders: sums.orders / 100,
        })),
    )
    return {
      range: shownRange(range, request.open.now),
      group_by: fields.group,
      data: rows.slice(0, fields.limit),
      has_more: rows.length > fields.limit,
    }
  }
}

function readOwn(given: Record<string, unknown>, form: "text" | "json") {
  const reader = new ArgumentReader(given, ["group_by", "limit"])
  const group = reader.choice("group_by", GROUPS) ?? "name"
  const limit = reader.integer("limit", { min: 1, max: MAX_ROWS }) ?? 50
  refuseArguments(reader, form)
  return { group, limit }
}
