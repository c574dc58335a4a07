import type { Log } from "../../domain/log.ts"

/** States in which events or requests are refused. `/health` responds with 503. */
const REASONS = ["stopping", "storage_full", "storage_locked", "storage_damaged", "queue_full", "spool_full"] as const
/** States that need attention but in which nothing is refused. */
const WARNINGS = ["storage_low", "backup_stale", "clock_jump", "forwarded_headers_ignored", "spooling"] as const
export type HealthCode = (typeof REASONS)[number] | (typeof WARNINGS)[number]

/** Response of `/health`. */
export interface HealthReport {
  status: "ok" | "degraded"
  reasons: { code: HealthCode; since: string }[]
}

/** The current states of the instance. The start and the end of a state are logged once. */
export interface Health {
  enter(code: HealthCode, cause?: string): void
  leave(code: HealthCode): void
  has(code: HealthCode): boolean
  /** Returns the cause of a current state. */
  causeOf(code: HealthCode): string | undefined
  /** Reports the states without warnings, which do not take an instance out of service. */
  report(): HealthReport
  warnings(): { code: HealthCode; since: string }[]
}

export function createHealth({ now, log }: { now(): number; log: Log }): Health {
  const entered = new Map<HealthCode, { at: number; cause: string | undefined }>()
  const list = (codes: readonly HealthCode[]) =>
    codes.filter((code) => entered.has(code)).map((code) => ({ code, since: new Date(entered.get(code)!.at).toISOString() }))
  return {
    enter(code, cause) {
      if (entered.has(code)) return
      entered.set(code, { at: now(), cause })
      log.warn("health condition raised", { code, cause })
    },
    leave(code) {
      if (entered.delete(code)) log.info("health condition cleared", { code })
    },
    has: (code) => entered.has(code),
    causeOf: (code) => entered.get(code)?.cause,
    report() {
      const reasons = list(REASONS)
      return { status: reasons.length === 0 ? "ok" : "degraded", reasons }
    },
    warnings: () => list(WARNINGS),
  }
}
