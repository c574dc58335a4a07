import type { EventColumn, Part } from "../../store/events/part.ts"

/**
 * Returns a part whose rows are ordered by visit, time and sequence: the part itself, or a view of the tail whose columns are
 * reordered at first use. Kernels can then rely on the events of a visit being contiguous.
 */
export function orderedPart(part: Part): Part {
  const order = part.order()
  if (order === null) return part
  const columns = new Map<EventColumn, Uint32Array>()
  const places = placesOf(order)
  return {
    siteId: part.siteId,
    importId: part.importId,
    visits: part.visits,
    events: part.events,
    minStart: part.minStart,
    maxStart: part.maxStart,
    minAt: part.minAt,
    maxAt: part.maxAt,
    lastArrival: part.lastArrival,
    starts: () => part.starts(),
    sequences: () => part.sequences(),
    visit: (column) => part.visit(column),
    event(column) {
      const known = columns.get(column)
      if (known) return known
      const values = pick(part.event(column), order)
      columns.set(column, values)
      return values
    },
    order: () => null,
    isOpen: (row, now) => part.isOpen(row, now),
    props: () => inOrder(part.props(), places),
    revenue: () => inOrder(part.revenue(), places),
    engagement: () => inOrder(part.engagement(), places),
    vitals: () => inOrder(part.vitals(), places),
  }
}

/** Returns the new position of each row. */
function placesOf(order: Uint32Array): Uint32Array {
  const places = new Uint32Array(order.length)
  for (let place = 0; place < order.length; place++) places[order[place]!] = place
  return places
}

function pick<Values extends Uint32Array | Float64Array>(values: Values, order: Uint32Array): Values {
  const picked = values.slice(0, order.length)
  for (let i = 0; i < order.length; i++) picked[i] = values[order[i]!]!
  // `slice` of a typed array has the type of that array, which the library types do not express for shared arrays.
  return picked as Values
}

/** Returns sparse columns sorted by their new rows. */
function inOrder<Columns extends { row: Uint32Array }>(columns: Columns, places: Uint32Array): Columns {
  const moved = columns.row.map((row) => places[row]!)
  const order = Uint32Array.from(moved.keys()).sort((a, b) => moved[a]! - moved[b]!)
  const entries = Object.entries(columns).map(([name, values]) => [name, pick(name === "row" ? moved : values, order)])
  // The entries have the same names and types as those of `columns`.
  return Object.fromEntries(entries) as Columns
}
