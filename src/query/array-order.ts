import { QUERY } from "../domain/limits.ts"
import type { Query } from "../domain/query.ts"
import { type Faults, readList } from "./faults.ts"

export interface Ordered {
  /** As in `metrics` or `dimensions`. */
  name: string
  descending: boolean
}

const DIRECTIONS = ["asc", "desc"]

/** `order_by`: up to five pairs, each of a name that is asked for and a direction. Undefined when one is at fault. */
export function readOrder(value: unknown, names: readonly string[], faults: Faults): readonly Ordered[] | undefined {
  const list = readList(value, "/order_by", { min: 0, max: QUERY.orders }, faults)
  const read = list?.map((pair, i) => readPair(pair, `/order_by/${i}`, names, faults)).filter((ordered) => ordered !== undefined)
  return read && read.length === list!.length ? read : undefined
}

/** Time ascending where there is a time dimension, else the first metric descending. */
export function defaultOrder(metrics: readonly string[], time: string | undefined): readonly Ordered[] {
  return time === undefined ? metrics.slice(0, 1).map((name) => ({ name, descending: true })) : [{ name: time, descending: false }]
}

export function orderOf(order: readonly Ordered[], metrics: readonly string[], dimensions: readonly string[]): Query["order"] {
  return order.map(({ name, descending }) => {
    const index = metrics.indexOf(name)
    return index === -1 ? { by: "grouping", index: dimensions.indexOf(name), descending } : { by: "metric", index, descending }
  })
}

function readPair(pair: unknown, pointer: string, names: readonly string[], faults: Faults): Ordered | undefined {
  const [given, direction] = readList(pair, pointer, { min: 2, max: 2 }, faults) ?? []
  if (given === undefined) return undefined
  const name = names.find((known) => known === given)
  if (name === undefined) refuseText(given, `${pointer}/0`, names, faults)
  if (!DIRECTIONS.some((known) => known === direction)) return refuseText(direction, `${pointer}/1`, DIRECTIONS, faults)
  return name === undefined ? undefined : { name, descending: direction === "desc" }
}

function refuseText(given: unknown, pointer: string, allowed: readonly string[], faults: Faults): undefined {
  if (typeof given !== "string") return faults.refuse(pointer, "invalid_type", "must be a text")
  return faults.refuse(pointer, "invalid_choice", `must be of: ${allowed.join(", ")}`, allowed)
}
