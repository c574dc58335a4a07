import type { Query, Row, Table } from "../../src/domain/query.ts"

/** Describes the difference of two tables in a few lines. Returns undefined if they are equal. */
export function difference(expected: Table, actual: Table, query: Query): string | undefined {
  if (Bun.deepEquals(expected, actual, true)) return undefined
  const lines = expected.rows.flatMap((row, i) => differentRow(row, actual.rows[i], i))
  const more = actual.rows
    .slice(expected.rows.length, expected.rows.length + 3)
    .map((row, i) => `+ ${expected.rows.length + i} ${shown(row)}`)
  const facts = [
    `rows ${expected.totalRows} / ${actual.totalRows}`,
    `currencies ${expected.otherCurrencies} / ${actual.otherCurrencies}`,
    `imports ${JSON.stringify(expected.imports)} / ${JSON.stringify(actual.imports)}`,
    `metrics ${query.metrics}`,
  ]
  return [...facts, ...lines.slice(0, 8), ...more].join("\n")
}

function differentRow(expected: Row, actual: Row | undefined, place: number): string[] {
  if (actual && Bun.deepEquals(expected, actual, true)) return []
  return [`- ${place} ${shown(expected)}`, ...(actual ? [`+ ${place} ${shown(actual)}`] : [])]
}

const shown = ({ keys, values }: Row) => `${JSON.stringify(keys)} ${JSON.stringify(values)}`

/** Returns smaller queries of the same kind, to find the smallest one that reproduces a difference. */
export function smaller(query: Query): Query[] {
  const without = <T>(list: readonly T[], place: number) => list.filter((_, i) => i !== place)
  const { filter, ...unfiltered } = query
  const plain = { order: [], offset: 0, limit: 10_000 }
  return [
    ...(filter ? [unfiltered, ...parts(filter).map((part) => ({ ...query, filter: part }))] : []),
    ...(query.order.length > 0 || query.offset > 0 ? [{ ...query, ...plain }] : []),
    ...(query.metrics.length > 1 ? query.metrics.map((_, i) => ({ ...query, ...plain, metrics: without(query.metrics, i) })) : []),
    ...query.groupings.map((_, i) => ({ ...query, ...plain, fillBuckets: false, groupings: without(query.groupings, i) })),
    ...(query.anyEvent ? [{ ...query, anyEvent: false }] : []),
  ]
}

type Tree = NonNullable<Query["filter"]>

function parts(filter: Tree): Tree[] {
  if ("filters" in filter) {
    const { op, filters } = filter
    const shorter = filters.length > 1 ? filters.map((_, i) => ({ op, filters: filters.filter((_, j) => j !== i) })) : []
    const deeper = filters.flatMap((each, i) => parts(each).map((part) => ({ op, filters: filters.with(i, part) })))
    return [...filters, ...shorter, ...deeper]
  }
  if ("filter" in filter) return [filter.filter, ...parts(filter.filter).map((part) => ({ ...filter, filter: part }))]
  if (filter.op === "people") return []
  return filter.values.length > 1 ? filter.values.map((value) => ({ ...filter, values: [value] })) : []
}
