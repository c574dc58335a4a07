import { ImportFault } from "../../source.ts"
import {
  anyTime,
  closingQuote,
  commonTime,
  type FormatOptions,
  type LineReader,
  present,
  splitRequest,
  statusOf,
  withoutEscapes,
} from "./record.ts"

/** Variables of nginx that a pattern can contain. `$_` skips a field. User names are recognized, but not read. */
const VARIABLES = [
  "remote_addr",
  "remote_user",
  "time_local",
  "time_iso8601",
  "msec",
  "request",
  "request_method",
  "request_uri",
  "uri",
  "args",
  "status",
  "body_bytes_sent",
  "http_referer",
  "http_user_agent",
  "host",
  "http_host",
  "scheme",
  "_",
] as const
type Variable = (typeof VARIABLES)[number]

interface Piece {
  variable: Variable
  /** Text between this variable and the next one, or "" for the end of the line. */
  end: string
}

const VARIABLE = /\$\{?([a-z0-9_]+)\}?/gi

/** Reads lines by a pattern such as `$remote_addr - $remote_user [$time_local] "$request" $status`. Fields behind the pattern are ignored. */
export function custom({ pattern, local }: FormatOptions): LineReader {
  const { start, pieces } = parsePattern(pattern)
  return (line) => {
    if (!line.startsWith(start)) return "wrong_column_count"
    const values: Partial<Record<Variable, string>> = {}
    let at = start.length
    for (const { variable, end } of pieces) {
      const stop = endOf(line, at, end)
      if (stop < 0) return "wrong_column_count"
      if (variable !== "_" && variable !== "remote_user") values[variable] = line.slice(at, stop)
      at = stop + end.length
    }
    return recordOf(values, local)
  }
}

function endOf(line: string, from: number, end: string): number {
  if (end === "") return line.length
  if (!end.startsWith('"')) return line.indexOf(end, from)
  const quote = closingQuote(line, from)
  return quote >= 0 && line.startsWith(end, quote) ? quote : -1
}

function recordOf(values: Partial<Record<Variable, string>>, local: FormatOptions["local"]): ReturnType<LineReader> {
  const { time_local, time_iso8601, msec, http_user_agent } = values
  const at = time_local === undefined ? anyTime(time_iso8601 ?? msec, local) : (commonTime(time_local) ?? anyTime(time_local, local))
  if (at === undefined) return "bad_date"
  const status = values.status === undefined ? 200 : statusOf(values.status)
  if (Number.isNaN(status)) return "bad_number"
  const host = present(values.host ?? values.http_host ?? "")
  return {
    at,
    ...requestOf(values),
    status,
    address: present(values.remote_addr ?? ""),
    userAgent: http_user_agent === undefined ? "" : withoutEscapes(http_user_agent) || "-",
    referrer: present(withoutEscapes(values.http_referer ?? "")),
    host: host.replace(/:\d+$/, ""),
  }
}

function requestOf({ request, request_method, request_uri, uri, args }: Partial<Record<Variable, string>>) {
  if (request !== undefined) return splitRequest(withoutEscapes(request))
  const target = withoutEscapes(request_uri ?? uri ?? "")
  const query = present(args ?? "")
  return { method: request_method ?? "GET", target: query === "" || target.includes("?") ? target : `${target}?${query}` }
}

function parsePattern(pattern: string): { start: string; pieces: Piece[] } {
  const matches = [...pattern.matchAll(VARIABLE)]
  const pieces = matches.map((match, index): Piece => {
    const [text, name = ""] = match
    if (!isVariable(name)) throw wrongPattern(`$${name.slice(0, 100)} is not a variable that can be read`)
    const from = match.index + text.length
    const end = pattern.slice(from, matches[index + 1]?.index ?? pattern.length)
    if (end === "" && index < matches.length - 1) throw wrongPattern(`nothing separates $${name} from the variable behind it`)
    return { variable: name, end }
  })
  const names = new Set(pieces.map(({ variable }) => variable))
  if (!["time_local", "time_iso8601", "msec"].some((name) => names.has(name as Variable))) throw wrongPattern("it has no time")
  if (!["request", "request_uri", "uri"].some((name) => names.has(name as Variable))) throw wrongPattern("it has no request")
  return { start: pattern.slice(0, matches[0]!.index), pieces }
}

// Compares with the literals that make up the type.
const isVariable = (name: string): name is Variable => (VARIABLES as readonly string[]).includes(name)

function wrongPattern(reason: string): ImportFault {
  const known = VARIABLES.map((name) => `$${name}`).join(", ")
  const message = `options.pattern can't be used: ${reason}. Write the log_format of nginx with these variables: ${known}.`
  return new ImportFault("mapping_required", message)
}
