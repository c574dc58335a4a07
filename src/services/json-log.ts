import { writeSync } from "node:fs"
import { LOG_LEVELS, type Log, type LogLevel } from "../domain/log.ts"

interface JsonLogOptions {
  level: LogLevel
  now(): number
  /** Where a finished line goes. */
  write(line: string): void
}

/**
 * One line of JSON a message: `time`, `level`, `msg`, then the fields. Errors are told with their stack and what caused
 * them. JSON escapes line breaks, so no text of a field can begin a line of its own.
 */
export function jsonLog({ level, now, write }: JsonLogOptions): Log {
  const least = LOG_LEVELS.indexOf(level)
  const say =
    (at: LogLevel) =>
    (msg: string, fields: Record<string, unknown> = {}) => {
      if (LOG_LEVELS.indexOf(at) < least) return
      const told = Object.entries(fields).map(([name, value]) => [name, value instanceof Error ? toldError(value) : value])
      write(`${JSON.stringify({ time: new Date(now()).toISOString(), level: at, msg, ...Object.fromEntries(told) })}\n`)
    }
  return { debug: say("debug"), info: say("info"), warn: say("warn"), error: say("error") }
}

/** An error with its stack and what caused it, as plain values. */
export function toldError(error: Error): Record<string, unknown> {
  const code = "code" in error ? { code: error.code } : {}
  const cause = error.cause instanceof Error ? { cause: toldError(error.cause) } : {}
  return { name: error.name, message: error.message, ...code, stack: error.stack, ...cause }
}

/** Writes lines to a file descriptor. Whoever reads them may be slow or gone: neither is worth an event. */
export function lineWriter(fd: number): (line: string) => void {
  return (line) => {
    for (let attempt = 0; attempt < 10; attempt++) {
      try {
        writeSync(fd, line)
        return
      } catch (error) {
        if (!(error instanceof Error && "code" in error && error.code === "EAGAIN")) return
        Bun.sleepSync(1)
      }
    }
  }
}
