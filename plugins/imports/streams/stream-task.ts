import type { Coverage } from "../sources/server-log/coverage.ts"

/** What a run of a stream knows of the runs before it. Passed to the worker. */
export interface StreamTask {
  coverage: Coverage
  /** Key of the lines' hashes, 32 bytes in hex. */
  key: string
  /** Salts of visitors by local day, in hex. The other days get one that is derived from the salt of the run. */
  salts: Readonly<Record<string, string>>
  /** File with the rows that have waited since earlier runs. */
  waiting?: string
  /** Time of the run in epoch milliseconds. The worker has no clock. */
  now: number
}

/** What the next run needs to know. */
export interface StreamResult {
  coverage: Coverage
  /** Salts of all days whose lines were read, in hex. */
  salts: Record<string, string>
  /** Days of the visitors whose visits are written. */
  days: string[]
  /** Rows that wait in the file `waiting`, and the time since which the oldest of them does. */
  waiting: { rows: number; since: number | null }
}

/** Name of the file of waiting rows within the folder of sorted rows. */
export const WAITING_FILE = "waiting"

/** Returns the prefix of the names of visitors of a local day: `20261121`, which is hex as well. */
export const visitorPrefix = (day: string): string => day.replaceAll("-", "")

/** Returns the local day of a visitor of a stream. */
export const dayOfVisitor = (name: string): string => `${name.slice(0, 4)}-${name.slice(4, 6)}-${name.slice(6, 8)}`
