import type { ErrorCode } from "../../domain/error.ts"
import type { VisibleImport } from "../../domain/imported.ts"
import type { EventLocation } from "../../store/event-location.ts"
import type { NewSums } from "../../store/events/tables/month-sums.ts"
import type { Answer, Task } from "./queries.ts"

/** Messages from the main thread to a worker. `stop` is one Int32: when it is STOP, the running query ends at its next check. */
export type ToWorker =
  | { type: "open"; location: EventLocation; cacheBytes: number; stop: SharedArrayBuffer }
  | { type: "ask"; task: Task; imports: readonly VisibleImport[] }

/** Messages from a worker to the main thread. */
export type FromWorker =
  | WorkerReply
  /** Sums to store, while a query runs or after it. */
  | { type: "sums"; sums: NewSums }

/** The end of a query. */
export type WorkerReply =
  | { type: "answer"; answer: Answer }
  /** Without a code it is a bug, and `detail` is for the log. */
  | { type: "failure"; code: ErrorCode | undefined; detail: string }

export const STOP = 1
