import type { Part, RevenueColumns } from "../../store/events/part.ts"
import { grownNumbers, grownSums } from "../filter/buffers.ts"
import { type Summable, takeFigures } from "../parts/sums.ts"
import type { RowList } from "./codes.ts"
import { keepInRange, keepMarked } from "./row-lists.ts"
import { type Chosen, groupedLists, matchingCompletions } from "./selection.ts"

/** Revenue of the events of E in minor units of the site's currency, by group. */
export interface RevenueSums extends Summable {
  read(part: Part): void
  /** The currencies that occurred, whose numbers stand for groups. */
  currencies: Summable
  total(group: number): number
  /** Returns the number of events of E with revenue in the site's currency. */
  count(group: number): number
  /** Returns the dictionary numbers of the other currencies that occurred in E. Their amounts are not included in any sum. */
  others(): number[]
}

interface Sums {
  total: Float64Array
  count: Uint32Array
}

/** The currencies of a site by dictionary number. */
interface Currencies {
  /** That of the site; undefined if it never occurred. */
  own: number | undefined
  /** Greater than all. */
  size: number
}

/** Creates the sums. The currencies are looked up when they are first needed, because most reports are not about revenue. */
export function revenueSums(chosen: Chosen, find: () => Currencies): RevenueSums {
  const lists = groupedLists(chosen)
  let found: (Currencies & { occurred: Uint8Array }) | undefined
  const currencies = () => {
    if (!found) {
      const { own, size } = find()
      found = { own, size, occurred: new Uint8Array(size) }
    }
    return found
  }
  let sums: Sums = { total: new Float64Array(0), count: new Uint32Array(0) }
  return {
    read(part) {
      const revenue = part.revenue()
      if (revenue.row.length === 0) return
      const list = candidates(part, chosen, lists)
      const { rows, groups, count } = lists.grouped(part, list, "event")
      sums = { total: grownSums(sums.total, chosen.index.size), count: grownNumbers(sums.count, chosen.index.size) }
      const { own = NONE, occurred } = currencies()
      addRevenue({ rows, groups, count }, revenue, own, sums, occurred)
    },
    take: () =>
      takeFigures(chosen.index.size, 2, (group, place) => {
        const from = place === 0 ? sums.total : sums.count
        const figure = from[group] ?? 0
        from[group] = 0 // has no effect beyond the end
        return figure
      }),
    add({ groups, figures }) {
      sums = { total: grownSums(sums.total, chosen.index.size), count: grownNumbers(sums.count, chosen.index.size) }
      groups.forEach((group, i) => {
        sums.total[group]! += figures[2 * i]!
        sums.count[group]! += figures[2 * i + 1]!
      })
    },
    currencies: {
      take() {
        const { size, occurred } = currencies()
        return takeFigures(size, 1, (id) => {
          const figure = occurred[id]!
          occurred[id] = 0
          return figure
        })
      },
      add({ groups }) {
        for (const id of groups) currencies().occurred[id] = 1
      },
    },
    total: (group) => sums.total[group] ?? 0,
    count: (group) => sums.count[group] ?? 0,
    others: () => (found ? Array.from(found.occurred.keys()).filter((id) => found!.occurred[id] === 1 && id !== found!.own) : []),
  }
}

/** A number that no currency has. */
const NONE = 0xffff_ffff

/** Returns the events of E that can have revenue: the completions if grouped by goal, otherwise the rows with revenue. */
function candidates(part: Part, { filter, goals, range }: Chosen, lists: ReturnType<typeof groupedLists>): RowList {
  if (goals) return matchingCompletions(part, filter.rows(part), goals, lists, { range, clock: "event" })
  const { row } = part.revenue()
  const rows = lists.rows.room(row.length)
  const count = keepMarked(row, row.length, filter.events(part), rows)
  const times = { visit: part.event("visit"), offset: part.event("offset"), starts: part.starts() }
  return { rows, count: keepInRange(rows, count, times, range) }
}

/** Adds the revenue of events. The events and the rows with revenue are both ascending, so one pass joins them. */
function addRevenue(
  { rows, groups, count }: { rows: Uint32Array; groups: Uint32Array; count: number },
  { row, amount, currency }: RevenueColumns,
  wanted: number,
  sums: Sums,
  occurred: Uint8Array,
): void {
  let at = 0
  for (let i = 0; i < count; i++) {
    while (at < row.length && row[at]! < rows[i]!) at++
    if (at === row.length) return
    if (row[at] !== rows[i]) continue
    occurred[currency[at]!] = 1
    if (currency[at] !== wanted) continue
    sums.total[groups[i]!]! += amount[at]!
    sums.count[groups[i]!]!++
  }
}
