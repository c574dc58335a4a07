import {
  type Dimension,
  type Filter,
  type Key,
  type OpenReport,
  type Query,
  queryOf,
  type Range,
  roundedRatio,
  type Site,
  type Table,
} from "#plugin"
import type { RevenueHost } from "../host.ts"

/** Visitors of a range, and those of them who have a sale in it, in total and by value of a dimension. */
export interface Visitors {
  table: Table
  total: number
  converted: number
  /** By value; null is the missing one. */
  byValue(value: Key): { visitors: number; converted: number }
}

interface VisitorsQuery {
  /** Numbers of the visitors with a sale. */
  customers: Float64Array
  /** Dimension by whose `values` visitors are counted as well. */
  dimension?: Dimension | undefined
  values?: readonly Key[]
  /** Only visits that satisfy it. */
  filter?: Filter
}

/**
 * Counts visitors as the statistics do. The rate looks at the visitors of the range only: a customer without a visit in it, such as one whose
 * payment arrived later, is no visitor that converted.
 */
export async function countVisitors(
  host: Pick<RevenueHost, "engine" | "services">,
  site: Site,
  open: OpenReport,
  range: Range,
  { customers, dimension, values = [], filter }: VisitorsQuery,
): Promise<Visitors> {
  const among = await customerFilter(host, site, open, customers)
  const ask = (more: readonly Filter[], isGrouped: boolean, importedTotals: boolean) => {
    const filters = [open.parsed.filter, filter, ...more].filter((one) => one !== undefined)
    const groups: Partial<Query> =
      isGrouped && dimension ? { groupings: [{ by: "dimension", dimension }], only: values.map((value) => [value]) } : { groupings: [] }
    const query = queryOf(open, { range, metrics: ["visitors"], ...groups, fillBuckets: false })
    const { filter: _, importedTotals: asked = false, ...rest } = query
    const combined: Filter | undefined = filters.length < 2 ? filters[0] : { op: "and", filters }
    return host.engine.aggregate(
      { ...rest, ...(combined && { filter: combined }), ...(asked && importedTotals && { importedTotals }) },
      open.caller,
    )
  }
  const isGrouped = dimension !== undefined && values.length > 0
  const [table, converted, groups, convertedGroups] = await Promise.all([
    ask([], false, true),
    customers.length === 0 ? undefined : ask([among], false, false),
    isGrouped ? ask([], true, true) : undefined,
    isGrouped && customers.length > 0 ? ask([among], true, false) : undefined,
  ])
  const [visitorsBy, convertedBy] = [countsOf(groups), countsOf(convertedGroups)]
  return {
    table,
    total: table.rows[0]?.values[0] ?? 0,
    converted: converted?.rows[0]?.values[0] ?? 0,
    byValue: (value) => ({ visitors: visitorsBy.get(value) ?? 0, converted: convertedBy.get(value) ?? 0 }),
  }
}

const countsOf = (table: Table | undefined): ReadonlyMap<Key, number> =>
  new Map(table?.rows.map(({ keys, values }) => [keys[0] ?? null, values[0] ?? 0]))

/** Returns the filter that only visits of some people satisfy. */
async function customerFilter(
  { services }: Pick<RevenueHost, "services">,
  site: Site,
  open: OpenReport,
  visitors: Float64Array,
): Promise<Filter> {
  // Every visitor counts, however long they are recognized: a range of one instant asks for nothing else.
  const { scope } = await services.people.resolve({ site, range: { from: open.now, to: open.now + 1 } })
  const until = Number.MAX_SAFE_INTEGER
  return { op: "people", set: { key: "customers", scope, until, members: { by: "visitors", visitors } } }
}

/** Percentage of visitors who have a sale, with one decimal. 0 without visitors. */
export const conversionRate = ({ visitors, converted }: { visitors: number; converted: number }): number =>
  visitors === 0 ? 0 : roundedRatio(100 * converted, visitors, 1)
