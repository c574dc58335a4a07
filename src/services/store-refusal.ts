import { AppError } from "../domain/error.ts"
import { type FaultKind, StoreFault } from "../store/events/fault.ts"

/** What a store's fault means to whoever asked while the instance serves (reliability.md section 4). Anything else passes as it is. */
export const toRefusal = (error: unknown): unknown => (error instanceof StoreFault ? REFUSALS[error.kind]() : error)

const HELD = "A store is held by another program. What is recorded is safe. If it stays so, whoever runs Footfall has to end that program."

const REFUSALS: Record<FaultKind, () => AppError> = {
  full: () => new AppError("storage_full", "The disk is full.", { retry_after: 10 }),
  locked: () => new AppError("unavailable", HELD, { retry_after: 5 }),
  damaged: () => new AppError("storage_damaged", "A part of what is stored cannot be read."),
  fsync: () => new AppError("unavailable", "The disk fails; the service ends.", { retry_after: 10 }),
  unreachable: () => new AppError("unavailable", "The catalog server cannot be reached for now.", { retry_after: 5 }),
  io: () => new AppError("unavailable", "A store cannot be read or written for now.", { retry_after: 5 }),
}
