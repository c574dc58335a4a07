import { isObject } from "#plugin/worker"
import type { RejectCode } from "../../source.ts"
import { anyTime, type FormatOptions, type LogRecord, present, splitRequest, withoutEscapes } from "./record.ts"

/** Logs that consist of JSON objects, usually one per line. */

type JsonValue = Readonly<Record<string, unknown>>

/** Reads an object. Returns undefined for one that describes no request, such as a message of the server. */
export type ElementReader = (value: JsonValue) => LogRecord | RejectCode | undefined

/** The access log of Caddy. */
export const caddy =
  ({ local }: FormatOptions): ElementReader =>
  ({ ts, request, status }) => {
    if (!isObject(request)) return undefined
    const at = anyTime(ts, local)
    if (at === undefined) return "bad_date"
    const code = Number(status)
    if (!Number.isInteger(code)) return "bad_number"
    const headers = isObject(request.headers) ? request.headers : {}
    const address = textOf(request, ["client_ip", "remote_ip"]) || withoutPort(textOf(request, ["remote_addr"]))
    return {
      at,
      method: textOf(request, ["method"]),
      target: textOf(request, ["uri"]),
      status: code,
      address,
      userAgent: headerOf(headers, "user-agent") || "-",
      referrer: headerOf(headers, "referer"),
      host: withoutPort(textOf(request, ["host"])),
      language: headerOf(headers, "accept-language").split(/[,;]/)[0]!.trim(),
    }
  }

/** Header names are spelled as the client sent them when it used HTTP/2. */
function headerOf(headers: JsonValue, name: string): string {
  const key = Object.keys(headers).find((header) => header.toLowerCase() === name)
  const value = key === undefined ? undefined : headers[key]
  const first: unknown = Array.isArray(value) ? value[0] : value
  return typeof first === "string" ? first : ""
}

const TIMES = ["time_iso8601", "time_local", "msec", "date", "timestamp", "time", "@timestamp"]
const TARGETS = ["request_uri", "uri", "path"]
const AGENTS = ["http_user_agent", "user_agent"]

/** Logs of nginx with a `log_format` in JSON. The names of the fields are not standardized. */
export const nginxJson =
  ({ local }: FormatOptions): ElementReader =>
  (value) => {
    const time = TIMES.find((name) => value[name] !== undefined)
    const at = time === undefined ? undefined : anyTime(value[time], local)
    if (at === undefined) return "bad_date"
    const status = Number(textOf(value, ["status"]) || Number.NaN)
    if (!Number.isInteger(status)) return "bad_number"
    return {
      at,
      ...requestOf(value),
      status,
      address: textOf(value, ["remote_addr", "ip", "client_ip"]),
      userAgent: AGENTS.some((name) => value[name] !== undefined) ? textOf(value, AGENTS) || "-" : "",
      referrer: present(textOf(value, ["http_referer", "referrer", "http_referrer", "referer"])),
      host: withoutPort(textOf(value, ["http_host", "host"])),
    }
  }

function requestOf(value: JsonValue): { method: string; target: string } {
  const request = textOf(value, ["request"])
  if (request !== "") return splitRequest(withoutEscapes(request))
  const target = textOf(value, TARGETS)
  const args = present(textOf(value, ["args", "query_string"]))
  const query = args === "" || target.includes("?") ? "" : `?${args}`
  return { method: textOf(value, ["request_method", "method"]) || "GET", target: target + query }
}

/** Returns whether the beginning of a file looks like a log of nginx in JSON. */
export function looksLikeNginx(text: string): boolean {
  const has = (names: readonly string[]) => names.some((name) => text.includes(`"${name}"`))
  return has(["status"]) && has(TIMES) && has(["request", ...TARGETS])
}

export const looksLikeCaddy = (text: string): boolean => /"request"\s*:\s*\{/.test(text) && /"(?:remote_(?:ip|addr)|uri)"\s*:/.test(text)

/** Returns the first field that has a value, as text. */
function textOf(value: JsonValue, names: readonly string[]): string {
  for (const name of names) {
    const found = value[name]
    if (typeof found === "string" && found !== "") return found
    if (typeof found === "number") return String(found)
  }
  return ""
}

/** Removes the port of a host or address. An IPv6 address without brackets has none. */
function withoutPort(text: string): string {
  if (text.startsWith("[")) return text.slice(1, text.indexOf("]"))
  const colon = text.indexOf(":")
  return colon >= 0 && colon === text.lastIndexOf(":") ? text.slice(0, colon) : text
}
