import type { RejectCode } from "../../source.ts"
import { clockOf, dateOf, type FromLocal, parseTime } from "../times.ts"

/** A request as a log describes it. "" is a missing value. Cookies and user names are never read. */
export interface LogRecord {
  /** UTC epoch milliseconds. */
  at: number
  /** "" for a request that is none, such as a TLS handshake on a plain port. */
  method: string
  /** Path with query string, or a full URL. */
  target: string
  status: number
  address: string
  /** "-" if the log says that the client sent none, "" if it does not record it. */
  userAgent: string
  referrer: string
  host: string
  country?: string
  language?: string
}

/** Reads a line. Returns undefined for a line that describes no request, such as a comment. */
export type LineReader = (line: string) => LogRecord | RejectCode | undefined

export interface FormatOptions {
  /** Converts times that have no zone. */
  local: FromLocal
  /** Pattern of the format `custom`. */
  pattern: string
}

/** Returns a value, or "" for the dash that stands for a missing one. */
export const present = (text: string): string => (text === "-" ? "" : text)

/** Splits a request line such as `GET /path HTTP/1.1`. Anything else has neither method nor target. */
export function splitRequest(request: string): { method: string; target: string } {
  const start = request.indexOf(" ")
  if (start <= 0 || !isMethod(request, start)) return { method: "", target: "" }
  const last = request.lastIndexOf(" ")
  const end = last > start && request.startsWith("HTTP/", last + 1) ? last : request.length
  return { method: request.slice(0, start), target: request.slice(start + 1, end) }
}

function isMethod(text: string, length: number): boolean {
  for (let at = 0; at < length; at++) {
    const code = text.charCodeAt(at)
    if ((code < UPPER_A || code > UPPER_Z) && code !== DASH) return false
  }
  return true
}

/** Returns a status, or NaN for anything but three digits. */
export const statusOf = (text: string): number => (text.length === 3 ? Number(text) : Number.NaN)

const [DASH, UPPER_A, UPPER_Z, BACKSLASH] = [45, 65, 90, 92]
const MONTHS: Readonly<Record<string, number>> = {
  Jan: 1,
  Feb: 2,
  Mar: 3,
  Apr: 4,
  May: 5,
  Jun: 6,
  Jul: 7,
  Aug: 8,
  Sep: 9,
  Oct: 10,
  Nov: 11,
  Dec: 12,
}
/** A time of the common log format after its day: `:13:55:36 -0700`. */
const CLOCK = /^:(\d\d):(\d\d):(\d\d)(?:\.\d+)? ([+-])(\d\d)(\d\d)$/

/** Day and minute of the last line, which most lines share. */
let lastMinute = { text: "", zone: "", at: 0 }

/** Parses `10/Oct/2000:13:55:36 -0700`. Returns undefined for anything else. */
export function commonTime(text: string): number | undefined {
  const second = Number(text.slice(18, 20))
  if (text.length === 26 && second < 60 && text.startsWith(lastMinute.text) && text.endsWith(lastMinute.zone) && lastMinute.text !== "") {
    if (text.charCodeAt(17) === 58) return lastMinute.at + second * 1_000
  }
  const date = dateOf(Number(text.slice(7, 11)), MONTHS[text.slice(3, 6)] ?? 0, Number(text.slice(0, 2)))
  const [, hour, minute, seconds, sign, zoneHours, zoneMinutes] = CLOCK.exec(text.slice(11)) ?? []
  if (date === undefined || hour === undefined || text[2] !== "/" || text[6] !== "/") return undefined
  // A leap second is counted as the second before it.
  const clock = clockOf(Number(hour), Number(minute), Math.min(Number(seconds), 59))
  if (clock === undefined) return undefined
  const offset = (Number(zoneHours) * 60 + Number(zoneMinutes)) * 60_000
  const at = date + clock + (sign === "-" ? offset : -offset)
  if (text.length === 26) lastMinute = { text: text.slice(0, 17), zone: text.slice(20), at: at - (clock % 60_000) }
  return at
}

/** Epoch seconds have ten digits for the next centuries, milliseconds thirteen. */
const MAX_SECONDS = 1e11

/** Parses a time of a log in any of the usual forms: common log format, ISO 8601, epoch seconds or milliseconds. */
export function anyTime(value: unknown, local: FromLocal): number | undefined {
  if (typeof value === "number") return value > 0 ? Math.round(value < MAX_SECONDS ? value * 1_000 : value) : undefined
  if (typeof value !== "string" || value === "") return undefined
  if (/^\d{9,13}(?:\.\d+)?$/.test(value)) return anyTime(Number(value), local)
  // Caddy can write dates with slashes.
  const text = /^\d{4}\/\d\d\/\d\d/.test(value) ? value.replaceAll("/", "-") : value
  return commonTime(text) ?? parseTime(text, local)
}

/** Returns the position of the quote that ends a text, or -1. A quote after a backslash belongs to the text. */
export function closingQuote(line: string, from: number): number {
  for (let at = line.indexOf('"', from); at >= 0; at = line.indexOf('"', at + 1)) {
    let slashes = at
    while (slashes > from && line.charCodeAt(slashes - 1) === BACKSLASH) slashes--
    if ((at - slashes) % 2 === 0) return at
  }
  return -1
}

const ESCAPES = /(?:\\x[0-9a-f]{2})+|\\(.)/gi
const UTF8 = new TextDecoder()

/** Resolves the escapes that web servers write within quotes: `\"`, `\\` and the bytes of `\xC3\xA9`. */
export const withoutEscapes = (text: string): string =>
  text.includes("\\")
    ? text.replace(ESCAPES, (sequence, character?: string) =>
        character === undefined ? UTF8.decode(Buffer.from(sequence.replaceAll("\\x", ""), "hex")) : character,
      )
    : text
