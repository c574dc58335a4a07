import { QUERY } from "../domain/limits.ts"
import type { Peers } from "../web/guard.ts"

/** Idle timeout during a report. Longer than the longest report, because the server closes idle connections. */
const ANSWER_SECONDS = (2 * QUERY.timeoutMs) / 1_000 + 10
/** Idle timeout of a download. A paused download costs nothing. */
const PAUSE_SECONDS = 120

/** Extends the idle timeout of a request beyond the duration of a report. */
export const outliveReport = (request: Request, server: Peers | null): void => server?.timeout?.(request, ANSWER_SECONDS)

/** Extends the idle timeout of a streamed file, so that the client can pause. */
export const allowPauses = (request: Request, server: Peers | null): void => server?.timeout?.(request, PAUSE_SECONDS)
