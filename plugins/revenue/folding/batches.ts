/** Long work on the transactions of a site in batches, each of which is read in a query worker while the one before is stored. */

/** Batches in one turn, during which other steps of the site wait. */
const BATCHES = 5

interface BatchWork<Batch> {
  /** Reads the batch after another one. Undefined at the end. */
  read(after: Batch | undefined): Promise<Batch | undefined>
  store(batch: Batch): Promise<void>
}

/** Stores the next batches. Returns the last of them, or undefined if that was the end. */
export async function storeBatches<Batch>({ read, store }: BatchWork<Batch>, signal?: AbortSignal): Promise<Batch | undefined> {
  let batch = await read(undefined)
  for (let left = BATCHES - 1; batch; left--) {
    if (left === 0 || signal?.aborted) {
      await store(batch)
      return batch
    }
    // Neither may go on after the turn, even if the other one fails.
    const [next, stored] = await Promise.allSettled([read(batch), store(batch)])
    if (stored.status === "rejected") throw stored.reason
    if (next.status === "rejected") throw next.reason
    batch = next.value
  }
  return undefined
}
