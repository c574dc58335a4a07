import { writeSync } from "node:fs"
import { REDACTED } from "../../domain/audit.ts"
import { LOG_LEVELS, type Log, type LogLevel } from "../../domain/log.ts"

interface JsonLogOptions {
  level: LogLevel
  now(): number
  /** Writes a finished line. */
  write(line: string): void
}

/**
 * Creates a log that writes one line of JSON per message: `time`, `level`, `msg`, then the fields. Errors include their stack
 * and causes. JSON escapes line breaks, so a field cannot start a new line.
 */
export function jsonLog({ level, now, write }: JsonLogOptions): Log {
  const minimum = LOG_LEVELS.indexOf(level)
  const writeAt =
    (at: LogLevel) =>
    (msg: string, fields: Record<string, unknown> = {}) => {
      if (LOG_LEVELS.indexOf(at) < minimum) return
      const values = Object.entries(fields).map(([name, value]) => [name, value instanceof Error ? errorFields(value) : value])
      const line = JSON.stringify({ time: new Date(now()).toISOString(), level: at, msg, ...Object.fromEntries(values) })
      write(`${line.replace(UNSAFE_IN_LINES, escaped)}\n`)
    }
  return { debug: writeAt("debug"), info: writeAt("info"), warn: writeAt("warn"), error: writeAt("error") }
}

/** Characters that JSON leaves as they are, and that some readers take for line breaks or commands of a terminal. */
const UNSAFE_IN_LINES = /[\u007f-\u009f\u2028\u2029]/g
const escaped = (char: string): string => `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`

/** Converts an error with its stack and causes to plain values. */
export function errorFields(error: Error): Record<string, unknown> {
  const code = "code" in error ? { code: error.code } : {}
  const cause = error.cause instanceof Error ? { cause: errorFields(error.cause) } : {}
  return { name: error.name, message: error.message, ...code, stack: error.stack, ...cause }
}

/** Returns a function that writes lines to a file descriptor. A slow or closed reader does not stop the instance. */
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

/** A line of the log. */
export interface LogLine {
  /** Epoch milliseconds. */
  at: number
  level: LogLevel
  message: string
  fields: Record<string, unknown>
}

/** Filters for log lines. Absent filters match everything. */
export interface LineFilters {
  /** Minimum level. */
  level?: LogLevel | undefined
  /** Epoch milliseconds. */
  since?: number | undefined
  /** Text in the message or the fields, ignoring case. */
  q?: string | undefined
}

/** The latest log lines, in memory only and without secrets. */
export interface LogLines {
  /** Log that also forwards every message to the other log. */
  log: Log
  /** Lists lines, newest first, at most `limit`. */
  list(filters: LineFilters, limit: number): LogLine[]
}

const MAX_LINES = 10_000

/** Creates the log buffer. `level` is the minimum level that is stored. */
export function createLogLines(other: Log, { now, level }: { now(): number; level: LogLevel }): LogLines {
  const minimum = LOG_LEVELS.indexOf(level)
  /** A ring buffer. `next` is the position of the next line, which is also that of the oldest one. */
  const lines: LogLine[] = []
  let next = 0
  function store(at: LogLevel, message: string, fields: Record<string, unknown>): void {
    if (LOG_LEVELS.indexOf(at) < minimum) return
    const values = Object.entries(fields).map(([name, value]) => [name, value instanceof Error ? errorFields(value) : value])
    const line = { at: now(), level: at, message: redactedText(message), fields: redacted(Object.fromEntries(values)) as LogLine["fields"] }
    lines[next] = line
    next = (next + 1) % MAX_LINES
  }
  const writeAt =
    (at: LogLevel) =>
    (message: string, fields: Record<string, unknown> = {}) => {
      other[at](message, fields)
      store(at, message, fields)
    }
  return {
    log: { debug: writeAt("debug"), info: writeAt("info"), warn: writeAt("warn"), error: writeAt("error") },
    list({ level: lowest = "debug", since = 0, q = "" }, limit) {
      const part = q.toLowerCase()
      const newestFirst = [...lines.slice(next), ...lines.slice(0, next)].reverse()
      const matches = (line: LogLine) =>
        LOG_LEVELS.indexOf(line.level) >= LOG_LEVELS.indexOf(lowest) &&
        line.at >= since &&
        (part === "" || `${line.message} ${JSON.stringify(line.fields)}`.toLowerCase().includes(part))
      const found: LogLine[] = []
      for (const line of newestFirst) {
        if (found.length === limit) break
        if (matches(line)) found.push(line)
      }
      return found
    },
  }
}

/** Names of fields whose values are secret. */
const SECRET_NAME = /pass(word|phrase|wd)?$|secret|token|cookie|authorization|credential|api_?key|private_?key|sealed/i
/** API keys, bearer tokens, and passwords in URLs. */
const SECRET_TEXTS: readonly (readonly [RegExp, string])[] = [
  [/\bff_[A-Za-z0-9]{8}_[A-Za-z0-9]{20,}/g, `ff_${REDACTED}`],
  [/\bBearer\s+[\w.~+/=-]{8,}/gi, `Bearer ${REDACTED}`],
  [/(\b[a-z][a-z0-9+.-]{1,20}:\/\/)[^\s/@:]{1,200}:[^\s/@]{1,200}@/gi, `$1${REDACTED}@`],
  [/((?:\b|_)(?:token|secret|password|passphrase|code|signature)=)[^\s&"']{1,2000}/gi, `$1${REDACTED}`],
]

/** Redacts a value for display to admins: secrets are recognized by the name of their field or by their form. */
export function redacted(value: unknown, name = ""): unknown {
  if (value !== null && value !== undefined && typeof value !== "boolean" && SECRET_NAME.test(name)) return REDACTED
  if (typeof value === "string") return redactedText(value)
  if (Array.isArray(value)) return value.map((item) => redacted(item))
  if (typeof value === "object" && value !== null)
    return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, redacted(inner, key)]))
  return value
}

export const redactedText = (text: string): string => SECRET_TEXTS.reduce((left, [form, by]) => left.replace(form, by), text)

/** A run of characters without spaces, brackets and list separators. Each run is tested for an email address, which takes linear time. */
const RUN = /[^\s<>()[\],;:"\\]+/g
const EMAIL = /[^@]@[^@]+\.[^@]/
const IPV4 = /\b(?:\d{1,3}\.){3}\d{1,3}(?:\/\d{1,2})?\b/g
const GROUPS = /(?<![\w.])[0-9a-f:]{3,45}(?:\/\d{1,3})?(?!\w)/gi

/** Returns whether groups of hex digits are an IPv6 address and not a time of day: they have a letter or `::`, or at least five colons. */
function isIpv6(text: string): boolean {
  const colons = text.split(":").length - 1
  return colons >= 5 || (colons >= 2 && /[a-f]|::/i.test(text))
}

/** Anonymizes a text that may leave the instance: machine addresses are removed, and email addresses are replaced by user ids. */
export const anonymous = (text: string, idOf: (email: string) => number | undefined): string =>
  text
    .replace(RUN, (run) => {
      if (!EMAIL.test(run)) return run
      const id = idOf(run)
      return id === undefined ? "(email)" : `user ${id}`
    })
    .replace(IPV4, "(address)")
    .replace(GROUPS, (groups) => (isIpv6(groups) ? "(address)" : groups))
