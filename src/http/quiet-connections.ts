import { QUERY } from "../domain/limits.ts"
import type { Peers } from "../plugin/guard.ts"

/** Longer than the longest report: the server would close a connection on which nothing moves meanwhile. */
const ANSWER_SECONDS = (2 * QUERY.timeoutMs) / 1_000 + 10
/** A reader of a file may pause for so long; what is left of it waits without cost. */
const PAUSE_SECONDS = 120

/** A question has sent all there is of it: the connection is quiet while the report runs, and must outlive it. */
export const outliveReport = (request: Request, server: Peers | null): void => server?.timeout?.(request, ANSWER_SECONDS)

/** Of a file that is made, or read, while it is sent. */
export const allowPauses = (request: Request, server: Peers | null): void => server?.timeout?.(request, PAUSE_SECONDS)
