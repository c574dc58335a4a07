/** Smallest size of a buffer. Most reports read parts of a fifth of the largest one, and new memory takes longer to get than to fill. */
const MIN_NUMBERS = 1_024

/** A growing array for the numbers of one part, reused for the next part. */
export class NumberBuffer {
  private array = new Uint32Array(0)

  /** Returns an array with at least `length` numbers. Earlier contents may be lost. */
  room(length: number): Uint32Array {
    if (this.array.length < length) this.array = new Uint32Array(Math.max(length, this.array.length * 2, MIN_NUMBERS))
    return this.array
  }
}

/** Returns the array, or a copy with at least `length` numbers. Copies double in size, so that growing is cheap. */
export function grownNumbers(array: Uint32Array, length: number): Uint32Array {
  if (array.length >= length) return array
  const grown = new Uint32Array(Math.max(length, array.length * 2, 64))
  grown.set(array)
  return grown
}

/** Returns the array, or a copy with at least `length` sums. */
export function grownSums(array: Float64Array, length: number): Float64Array {
  if (array.length >= length) return array
  const grown = new Float64Array(Math.max(length, array.length * 2, 64))
  grown.set(array)
  return grown
}
