import { type Dimension, type Host, type Key, shownValue, textTest } from "#plugin"
import { booked, type CurrencySums, netOf, ordersOf, percentOf, perOrder, sumsOf } from "./figures.ts"
import type { Group } from "./request.ts"
import type { Row } from "./responses.ts"
import { UNATTRIBUTED } from "./sums.ts"

/** A group before its visitors are known. */
export interface GroupSums {
  key: string
  label?: string
  /** Value by which its visitors are counted. Undefined if visitors have no such value. */
  value: Key | undefined
  currencies: CurrencySums
}

/** Dimension of visits by which the visitors of a group are counted. */
export const dimensionOf = (group: Group): Dimension | undefined =>
  group === "product" || group === "link" || group === "recurring" || group === "cohort" ? undefined : group

/** Returns the groups of a report by value, those with the highest net in a currency first, ties by key. */
export function groupsOf(group: Group, groups: ReadonlyMap<string | number, CurrencySums>, currency: string | undefined): GroupSums[] {
  const named = [...groups].map(([value, currencies]): GroupSums => ({ ...nameOf(group, value), currencies }))
  const netIn = ({ currencies }: GroupSums): bigint => {
    const sums = currency === undefined ? undefined : currencies.get(currency)
    return sums ? netOf(sums) : 0n
  }
  const nets = new Map(named.map((one) => [one, netIn(one)]))
  return named.sort((a, b) => {
    const [one, other] = [nets.get(a)!, nets.get(b)!]
    return one === other ? (a.key < b.key ? -1 : 1) : one > other ? -1 : 1
  })
}

function nameOf(group: Group, value: string | number): Omit<GroupSums, "currencies"> {
  if (value === UNATTRIBUTED) return { key: UNATTRIBUTED, label: "Unattributed", value: undefined }
  const dimension = dimensionOf(group)
  if (dimension === undefined || dimension === "goal") {
    const isMissing = value === "" || value === 0
    return { key: isMissing ? "(none)" : String(value), value: dimension && !isMissing ? String(value) : undefined }
  }
  const key: Key = value === "" ? null : String(value)
  const { value: shown, label } = shownValue(dimension, key)
  return { key: shown, ...(label !== undefined && { label }), value: key }
}

/** Returns the sums by goal. An order completes every goal on events whose rule its event's name meets, so it can be in several. */
export function sumsByGoal(
  byEvent: ReadonlyMap<string | number, CurrencySums>,
  goals: ReturnType<Host["services"]["goals"]["rules"]>,
): Map<string, CurrencySums> {
  const found = new Map<string, CurrencySums>()
  for (const goal of goals) {
    if (goal.kind !== "event" || (goal.props && Object.keys(goal.props).length > 0)) continue
    const completes = textTest({ op: OPERATIONS[goal.match], values: [goal.value], caseSensitive: true })
    const currencies: CurrencySums = new Map()
    for (const [event, sums] of byEvent) if (event !== UNATTRIBUTED && event !== "" && completes(String(event))) addAll(currencies, sums)
    if (currencies.size > 0) found.set(goal.name, currencies)
  }
  return found
}

const OPERATIONS = { exact: "is", prefix: "starts_with", contains: "contains", wildcard: "matches_wildcard" } as const

export function addAll(to: CurrencySums, added: CurrencySums): void {
  for (const [currency, { gross, refunds, adjustments, orders }] of added) {
    const sums = sumsOf(to, currency)
    sums.gross += gross
    sums.refunds += refunds
    sums.adjustments += adjustments
    sums.orders += orders
  }
}

/** Returns a row of the breakdown. `totals` are those of the report. */
export function rowOf(
  { key, label, currencies }: GroupSums,
  totals: CurrencySums,
  counted: Pick<Row, "visitors" | "conversion_rate">,
): Row {
  return {
    key,
    ...(label !== undefined && { label }),
    ...counted,
    orders: [...currencies.values()].reduce((sum, { orders }) => sum + orders, 0) / 100,
    by_currency: [...totals.keys()].flatMap((currency) => {
      const sums = currencies.get(currency)
      if (!sums) return []
      return [
        {
          ...booked(currency, sums),
          orders: ordersOf(sums),
          aov: perOrder(sums.gross, sums.orders, currency),
          share: percentOf(sums.gross, totals.get(currency)!.gross),
        },
      ]
    }),
  }
}
