type Compare = (a: number, b: number) => number

/** Number of items up to which inserting takes less time than sorting all. */
export const FEW = 2_000

/**
 * Returns the first `count` items in order, equal ones in the given order. Few of them are compared with each other: the texts of a large
 * dictionary are then read one after another, where sorting all would read them again and again.
 */
export function firstInOrder(items: Uint32Array, compare: Compare, count: number): number[] {
  if (count > FEW) return Array.from(items).sort(compare).slice(0, count)
  const first: number[] = []
  for (const item of items) {
    if (first.length === count && (count === 0 || compare(item, first[count - 1]!) >= 0)) continue
    first.splice(placeOf(item, first, compare), 0, item)
    if (first.length > count) first.pop()
  }
  return first
}

/** Returns the place behind all items that do not come after an item. */
function placeOf(item: number, sorted: readonly number[], compare: Compare): number {
  let low = 0
  let high = sorted.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if (compare(item, sorted[middle]!) < 0) high = middle
    else low = middle + 1
  }
  return low
}
