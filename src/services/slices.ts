/** As long as one statement may be on the event loop. */
const SLICE = 1_000

/** A whole list that no single statement may read, by ascending id. */
export async function inSlices<Row extends { id: number }>(
  read: (slice: { after: number; limit: number }) => Promise<Row[]>,
): Promise<Row[]> {
  const rows: Row[] = []
  for (;;) {
    const slice = await read({ after: rows.at(-1)?.id ?? 0, limit: SLICE })
    rows.push(...slice)
    if (slice.length < SLICE) return rows
  }
}
