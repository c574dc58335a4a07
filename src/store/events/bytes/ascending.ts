/** Returns the first position in an ascending column whose number is at least `wanted`, or the length of the column. */
export function firstAtLeast<Value extends number | bigint>(column: ArrayLike<Value>, wanted: Value): number {
  let low = 0
  let high = column.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if (column[middle]! < wanted) low = middle + 1
    else high = middle
  }
  return low
}
