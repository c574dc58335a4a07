/** The sort keys of visits from several parts. */
export interface SortedBy {
  starts: Float64Array
  sequences: Float64Array
}

const INDEX_BITS = 24

/**
 * Returns the visits by start, then sequence, for at most 16 million visits within 34 years. Start and index are packed into one 64-bit
 * number each, because typed arrays have a native sort; sorting with a comparison callback takes ten times as long.
 */
export function orderByStart({ starts, sequences }: SortedBy): Uint32Array {
  const packed = new BigUint64Array(starts.length)
  const halves = new Uint32Array(packed.buffer)
  let first = Number.POSITIVE_INFINITY
  for (let visit = 0; visit < starts.length; visit++) if (starts[visit]! < first) first = starts[visit]!
  const unit = 2 ** (32 - INDEX_BITS)
  for (let visit = 0; visit < starts.length; visit++) {
    const start = starts[visit]! - first
    halves[visit * 2] = ((start % unit) << INDEX_BITS) | visit
    halves[visit * 2 + 1] = Math.floor(start / unit)
  }
  packed.sort()
  const order = new Uint32Array(starts.length)
  for (let at = 0; at < order.length; at++) order[at] = halves[at * 2]! & (2 ** INDEX_BITS - 1)
  sortEqualStarts(order, starts, sequences)
  return order
}

function sortEqualStarts(order: Uint32Array, starts: Float64Array, sequences: Float64Array): void {
  for (let at = 1; at < order.length; at++) {
    const visit = order[at]!
    let place = at
    for (; place > 0 && isAfter(order[place - 1]!, visit, starts, sequences); place--) order[place] = order[place - 1]!
    order[place] = visit
  }
}

const isAfter = (left: number, right: number, starts: Float64Array, sequences: Float64Array): boolean =>
  starts[left] === starts[right] && sequences[left]! > sequences[right]!
