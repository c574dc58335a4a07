import type { Slice } from "../store/catalog/catalog.ts"

/** As long as one statement may be on the event loop. */
const SLICE = 1_000

type Read<Row> = (slice: Slice) => Promise<Row[]>

/** A list that no single statement may read as a whole, part by part, by ascending id. */
export async function* slicesOf<Row extends { id: number }>(read: Read<Row>, after = 0): AsyncGenerator<Row[]> {
  for (let last = after; ; ) {
    const slice = await read({ after: last, limit: SLICE })
    yield slice
    if (slice.length < SLICE) return
    last = slice.at(-1)!.id
  }
}

/** The whole list. */
export async function inSlices<Row extends { id: number }>(read: Read<Row>): Promise<Row[]> {
  const rows: Row[] = []
  for await (const slice of slicesOf(read)) rows.push(...slice)
  return rows
}
