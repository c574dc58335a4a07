let shared = new Uint32Array(0)

/** Returns an array of zeros, which is shared and must not be written to. Many columns of most sites are empty. */
export function zeros(count: number): Uint32Array {
  if (shared.length < count) shared = new Uint32Array(count)
  return shared.subarray(0, count)
}
