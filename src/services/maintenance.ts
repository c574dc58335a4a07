import { AppError } from "../domain/error.ts"

/** While it is on, reading and collecting go on and other writes wait. */
export interface Maintenance {
  enabled: boolean
  message?: string
  /** Epoch milliseconds. */
  until?: number
}

/** The answer to a write during maintenance; `code` as the private or the public API says it. */
export function refuseWrites({ enabled, message, until }: Maintenance, code: "maintenance" | "unavailable", now: number): void {
  if (!enabled) return
  const wait = until === undefined ? 60 : Math.max(1, Math.ceil((until - now) / 1_000))
  throw new AppError(code, message ?? "The instance is being maintained.", { retry_after: wait })
}
