import { VISIT_IDLE_MS } from "#plugin"

/**
 * Visits that were still open when the log ended. Their rows wait for the next run of the stream, which may contain the rest of the visit.
 * They name visitors by keyed hashes and contain no addresses.
 */
export interface WaitingRow<Row> {
  /** Time of the run that first held the row back, as epoch milliseconds. */
  since: number
  row: Row
}

/** Maximum time that a row waits for the rest of its visit. */
export const MAX_WAIT_MS = VISIT_IDLE_MS

/** Returns whether another event can still join a visit, given the time of its last event and the end of the log. */
export const isOpen = (lastAt: number, readTo: number): boolean => lastAt > readTo - VISIT_IDLE_MS

/** Returns whether rows have waited long enough to be written without the rest of their visit. */
export const isDue = ({ since }: Pick<WaitingRow<unknown>, "since">, now: number): boolean => now - since >= MAX_WAIT_MS

export interface HoldOptions<Row> {
  /** End of the newest covered interval. */
  readTo: number
  /** Time of the run. */
  now: number
  atOf(row: Row): number
}

/**
 * Separates complete visits from those that wait. The rows of a visit that began with waiting rows keep the time of the first of them, so
 * that a visit that goes on and on is written too.
 */
export function holdOpenVisits<Row>(
  visits: Iterable<readonly (Row | WaitingRow<Row>)[]>,
  isWaitingRow: (row: Row | WaitingRow<Row>) => row is WaitingRow<Row>,
  { readTo, now, atOf }: HoldOptions<Row>,
): { complete: Row[][]; waiting: WaitingRow<Row>[] } {
  const complete: Row[][] = []
  const waiting: WaitingRow<Row>[] = []
  for (const visit of visits) {
    const rows = visit.map((row) => (isWaitingRow(row) ? row.row : row))
    const since = Math.min(now, ...visit.filter(isWaitingRow).map((row) => row.since))
    if (isOpen(atOf(rows.at(-1)!), readTo) && !isDue({ since }, now)) waiting.push(...rows.map((row) => ({ since, row })))
    else complete.push(rows)
  }
  return { complete, waiting }
}
