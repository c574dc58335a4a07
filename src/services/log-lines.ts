import { LOG_LEVELS, type Log, type LogLevel } from "../domain/log.ts"
import { toldError } from "./json-log.ts"
import { redacted, redactedText } from "./redact.ts"

/** A line of the log. */
export interface LogLine {
  /** Epoch milliseconds. */
  at: number
  level: LogLevel
  message: string
  fields: Record<string, unknown>
}

/** What is looked for; absent: any. */
export interface LineFilters {
  /** At least as important. */
  level?: LogLevel | undefined
  /** Epoch milliseconds. */
  since?: number | undefined
  /** A part of message or fields, in any case of letters. */
  q?: string | undefined
}

/** The last lines of the log, in memory alone and without secrets. */
export interface LogLines {
  /** Says what is said to it to the other log too. */
  log: Log
  /** The youngest first, at most `limit`. */
  list(filters: LineFilters, limit: number): LogLine[]
}

const KEPT = 10_000

/** `level`: the least important that is kept. */
export function createLogLines(other: Log, { now, level }: { now(): number; level: LogLevel }): LogLines {
  const least = LOG_LEVELS.indexOf(level)
  /** A ring: the place of the next line, and behind it the oldest. */
  const lines: LogLine[] = []
  let next = 0
  function keep(at: LogLevel, message: string, fields: Record<string, unknown>): void {
    if (LOG_LEVELS.indexOf(at) < least) return
    const told = Object.entries(fields).map(([name, value]) => [name, value instanceof Error ? toldError(value) : value])
    const line = { at: now(), level: at, message: redactedText(message), fields: redacted(Object.fromEntries(told)) as LogLine["fields"] }
    lines[next] = line
    next = (next + 1) % KEPT
  }
  const say =
    (at: LogLevel) =>
    (message: string, fields: Record<string, unknown> = {}) => {
      other[at](message, fields)
      keep(at, message, fields)
    }
  return {
    log: { debug: say("debug"), info: say("info"), warn: say("warn"), error: say("error") },
    list({ level: wanted = "debug", since = 0, q = "" }, limit) {
      const part = q.toLowerCase()
      const youngestFirst = [...lines.slice(next), ...lines.slice(0, next)].reverse()
      const fits = (line: LogLine) =>
        LOG_LEVELS.indexOf(line.level) >= LOG_LEVELS.indexOf(wanted) &&
        line.at >= since &&
        (part === "" || `${line.message} ${JSON.stringify(line.fields)}`.toLowerCase().includes(part))
      const found: LogLine[] = []
      for (const line of youngestFirst) {
        if (found.length === limit) break
        if (fits(line)) found.push(line)
      }
      return found
    },
  }
}
