import type { Fraction } from "../../domain/division.ts"
import type { Filter } from "../../domain/filter.ts"
import { type PackedRows, unpackRows } from "../../domain/packed-rows.ts"
import type { Snapshot } from "../../store/events/part.ts"
import type { SentStatement } from "../../store/events/tables/row-tables.ts"
import { NumberMap } from "../../store/events/tail/number-map.ts"
import { grownSums } from "../filter/buffers.ts"
import { bucketAt } from "../parse/buckets.ts"
import { converter, dividedAmount, Totals } from "./arithmetic.ts"
import { DistinctCounts, ShortNumbers, VisitorList } from "./distinct.ts"
import { type GroupKey, RowGroups } from "./groups.ts"
import { keepMatching, keepVisible, rowMask } from "./row-filter.ts"

/**
 * Sums amounts of money over the packed rows of an area, by several groupings at once. SQLite has no grouping sets, sorts the rows for
 * every grouping, and adds whole numbers up to 2^63 only. Here the rows are read once, and sums are exact at any size.
 *
 * Columns of the rows: `amount` in minor units of `currency`, `weight` in hundredths of what the row counts, and for shares `part` of
 * `parts`. `visitor` is the visitor's number plus 1, 0 without one. Further columns are those that the query names.
 */
export interface AmountsQuery {
  site: { id: number }
  /** Rows with the column `rows`, packed by `packRows`. */
  statement: SentStatement
  /** Buckets of a column of instants, ascending. Rows outside are left out; the others are in the bucket whose number is the column `bucket`. */
  time: { column: string; edges: readonly number[] }
  /** What rows must have: one of some values, or one of some bits of a number. */
  keep: readonly RowCondition[]
  /** Conditions on columns with the names of dimensions, in which "" is the missing value, and sets of people. */
  filter?: Filter
  /**
   * Currency to which amounts are converted. Rows whose amount has no rate keep it, and have 0 in the column `converted` instead of 1. The
   * column `rate_day` is the number of the day of the rate.
   */
  conversion?: Conversion
  /**
   * Adds the column `first`: the bucket of the visitor's first row, at any time, that meets the condition. Rows whose visitor has none in the
   * buckets, and rows without a visitor, are left out.
   */
  first?: RowCondition
  /** Whether rows are shares: amount and weight are divided, after the conversion, the first shares larger. */
  isShared?: boolean
  /** Groupings of the amounts by columns. */
  sums: readonly (readonly string[])[]
  /** Groupings in which the distinct values of a column of whole numbers from 1 are counted. 0 does not count. */
  distinct: readonly { by: readonly string[]; of: string; among?: RowCondition }[]
  /** Lists the visitors of rows. */
  visitorsOf?: RowCondition
}

export type RowCondition = { column: string; values: readonly (string | number)[] } | { column: string; bits: number }

export interface Conversion {
  /** Column of the instants whose rates convert the amounts. */
  column: string
  /** Starts of the days of the rates and the end of the last one, ascending. */
  edges: readonly number[]
  /** By currency and day, the factor from minor units to minor units; null without a rate. */
  factors: Readonly<Record<string, readonly (Fraction | null)[]>>
}

export interface AmountGroup {
  /** In the order of the columns. */
  keys: GroupKey[]
  amount: bigint
  /** Without conversion. Present only with one. */
  original?: bigint
  /** In hundredths. */
  weight: number
}

export interface AmountsResult {
  /** One list for each grouping. */
  sums: AmountGroup[][]
  distinct: { keys: GroupKey[]; count: number }[][]
  /** Numbers, ascending. */
  visitors: Float64Array
}

export function amounts(snapshot: Snapshot, query: AmountsQuery, check: () => void): AmountsResult {
  const { time, conversion, visitorsOf } = query
  const edges = Float64Array.from(time.edges)
  const sums = query.sums.map((by) => ({ groups: new RowGroups(by), totals: new Totals(), originals: conversion && new Totals() }))
  const distinct = query.distinct.map(({ by, of, among }) => new DistinctCounts(new RowGroups(by), of, among))
  const listed = visitorsOf && new VisitorList(visitorsOf)
  const convert = conversion && converter(conversion)
  const firsts = query.first && firstInstants(snapshot, query, query.first, check)
  snapshot.eachRow(query.statement, (read) => {
    check()
    const rows = unpackRows((read as { rows: Uint8Array }).rows) // the author of the statement names its column so
    const instants = rows.numbers(time.column)
    const visitors = rows.numbers("visitor")
    const inRange = keptRows(snapshot, query, rows, [edges[0] ?? 0, edges.at(-1) ?? 0])
    const firstOf = (row: number) => firsts?.(visitors[row]!) ?? Number.NaN
    const kept = firsts ? inRange.filter((row) => firstOf(row) >= edges[0]! && firstOf(row) < edges.at(-1)!) : inRange
    if (kept.length === 0) return
    const values = amountsOf(rows, kept, query, convert)
    const computed = {
      bucket: memoize(() => bucketsAt(edges, kept, (row) => instants[row]!)),
      converted: () => values.converted,
      rate_day: memoize(() => rateDays(rows, kept, conversion!)),
      first: memoize(() => bucketsAt(edges, kept, firstOf)),
    }
    for (const { groups, totals, originals } of sums) {
      const numbers = groups.numbersOf(rows, kept, computed)
      totals.add(numbers, values)
      originals?.add(numbers, { ...values, amounts: values.originals, large: NONE })
    }
    for (const counts of distinct) counts.add(rows, kept, computed)
    listed?.add(rows, kept)
  })
  return {
    sums: sums.map(({ groups, totals, originals }) =>
      groups.keys().map((keys, group) => ({ keys, ...totals.of(group), ...(originals && { original: originals.of(group).amount }) })),
    ),
    distinct: distinct.map((counts) => counts.result()),
    visitors: listed?.numbers() ?? new Float64Array(0),
  }
}

function rateDays(rows: PackedRows, kept: Uint32Array, { column, edges }: Conversion): Uint32Array {
  const instants = rows.numbers(column)
  return bucketsAt(Float64Array.from(edges), kept, (row) => instants[row]!)
}

/** Returns the bucket of each row. Rows that follow each other are often in the same bucket. */
function bucketsAt(edges: Float64Array, kept: Uint32Array, instantOf: (row: number) => number): Uint32Array {
  const buckets = new Uint32Array(kept.length)
  let [bucket, from, to] = [0, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY]
  for (let i = 0; i < kept.length; i++) {
    const at = instantOf(kept[i]!)
    if (at < from || at >= to) {
      bucket = bucketAt(edges, at)
      from = edges[bucket]!
      to = edges[bucket + 1]!
    }
    buckets[i] = bucket
  }
  return buckets
}

const NONE: ReadonlyMap<number, bigint> = new Map()

/** Returns the indexes of the rows that count, from a time until another one. */
function keptRows(
  snapshot: Snapshot,
  { time, keep, filter }: AmountsQuery,
  rows: PackedRows,
  [from, to]: readonly [number, number],
): Uint32Array {
  const instants = rows.numbers(time.column)
  const kept = new Uint32Array(rows.count)
  let count = 0
  for (let row = 0; row < rows.count; row++) if (instants[row]! >= from && instants[row]! < to) kept[count++] = row
  count = keepVisible(rows, snapshot.imports, kept, count)
  for (const condition of keep) count = keepMatching(rows, condition, kept, count)
  if (!filter || count === 0) return kept.subarray(0, count)
  const mask = rowMask(snapshot, rows, filter)
  let matching = 0
  for (let i = 0; i < count; i++) if (mask[kept[i]!] === 1) kept[matching++] = kept[i]!
  return kept.subarray(0, matching)
}

/**
 * Returns the function that gives the instant of a visitor's first row that meets a condition; NaN without one. Visitors are given by
 * their number plus 1. Only those with rows take memory.
 */
function firstInstants(snapshot: Snapshot, query: AmountsQuery, condition: RowCondition, check: () => void): (visitor: number) => number {
  const places = new NumberMap()
  const short = new ShortNumbers()
  let firsts: Float64Array = Float64Array.of(Number.NaN)
  let count = 0
  const meeting = { ...query, keep: [...query.keep, condition] }
  snapshot.eachRow(query.statement, (read) => {
    check()
    const rows = unpackRows((read as { rows: Uint8Array }).rows) // as above
    const [instants, visitors] = [rows.numbers(query.time.column), rows.numbers("visitor")]
    for (const row of keptRows(snapshot, meeting, rows, [Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY])) {
      if (visitors[row] === 0) continue
      const visitor = short.of(visitors[row]!)
      const place = places.get(visitor)
      if (place === 0) {
        places.set(visitor, ++count)
        firsts = grownSums(firsts, count + 1)
        firsts[count] = instants[row]!
      } else if (instants[row]! < firsts[place]!) firsts[place] = instants[row]!
    }
  })
  return (visitor) => firsts[places.get(short.of(visitor))]!
}

/** Amounts and weights of the kept rows. An amount beyond 2^53, which a conversion can return, is a big integer in `large`. */
export interface RowAmounts {
  amounts: Float64Array
  /** Without conversion. Empty without one. */
  originals: Float64Array
  large: ReadonlyMap<number, bigint>
  weights: Float64Array
  /** Whether each amount was converted. Empty without a conversion. */
  converted: Uint32Array
}

function amountsOf(
  rows: PackedRows,
  kept: Uint32Array,
  { conversion, isShared }: AmountsQuery,
  convert: ReturnType<typeof converter> | undefined,
): RowAmounts {
  const [amount, weight] = [rows.numbers("amount"), rows.numbers("weight")]
  if (!convert && !isShared && kept.length === rows.count)
    return { amounts: amount, originals: new Float64Array(0), large: NONE, weights: weight, converted: new Uint32Array(0) }
  const large = new Map<number, bigint>()
  const values: RowAmounts = {
    amounts: new Float64Array(kept.length),
    originals: new Float64Array(convert ? kept.length : 0),
    large,
    weights: new Float64Array(kept.length),
    converted: new Uint32Array(convert ? kept.length : 0),
  }
  const [part, parts] = isShared ? [rows.numbers("part"), rows.numbers("parts")] : [undefined, undefined]
  const factorOf = conversion && convert?.(rows.texts("currency"), rows.numbers(conversion.column))
  for (let i = 0; i < kept.length; i++) {
    const row = kept[i]!
    const multiply = factorOf?.(row)
    const original = amount[row]!
    const counted = weight[row]!
    const converted = multiply ? multiply(original) : original
    if (multiply) values.converted[i] = 1
    const isDivided = part !== undefined && parts![row]! > 1
    const share = isDivided ? dividedAmount(converted, part[row]!, parts![row]!) : converted
    if (typeof share === "bigint") large.set(i, share)
    else values.amounts[i] = share
    if (convert) values.originals[i] = isDivided ? Number(dividedAmount(original, part[row]!, parts![row]!)) : original
    values.weights[i] = isDivided ? Number(dividedAmount(counted, part[row]!, parts![row]!)) : counted
  }
  return values
}

/** Returns a function that computes its value once. */
function memoize<Value>(compute: () => Value): () => Value {
  let value: Value | undefined
  return () => (value ??= compute())
}
