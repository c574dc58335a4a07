/** Numbers of one part, in an array that is used again for the next part and grows when one needs more. */
export class NumberBuffer {
  private array = new Uint32Array(0)

  /** Room for so many numbers; what was in it before may be lost. */
  room(length: number): Uint32Array {
    if (this.array.length < length) this.array = new Uint32Array(Math.max(length, 65_536, this.array.length * 2))
    return this.array
  }
}

/** A copy with room for at least `length` numbers, doubling so that growing costs little. The array itself when it fits. */
export function grownNumbers(array: Uint32Array, length: number): Uint32Array {
  if (array.length >= length) return array
  const grown = new Uint32Array(Math.max(length, array.length * 2, 64))
  grown.set(array)
  return grown
}

export function grownSums(array: Float64Array, length: number): Float64Array {
  if (array.length >= length) return array
  const grown = new Float64Array(Math.max(length, array.length * 2, 64))
  grown.set(array)
  return grown
}
