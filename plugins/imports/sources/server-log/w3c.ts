import { parseTime } from "../times.ts"
import { type LineReader, type LogRecord, present, statusOf } from "./record.ts"

/**
 * The extended log format of W3C, as IIS and CloudFront write it. A line `#Fields:` names the columns of the lines below it and can occur
 * again with others. Times are UTC.
 */
export function w3c(): LineReader {
  let columns: Columns | undefined
  return (line) => {
    if (line.startsWith("#")) {
      if (line.startsWith("#Fields:")) columns = columnsOf(line.slice(8))
      return undefined
    }
    if (!columns) return "wrong_column_count"
    const cells = line.split(line.includes("\t") ? "\t" : " ")
    if (cells.length !== columns.count) return "wrong_column_count"
    return recordOf(columns, cells)
  }
}

const FIELDS = {
  date: ["date"],
  time: ["time"],
  method: ["cs-method"],
  stem: ["cs-uri-stem", "cs-uri"],
  query: ["cs-uri-query"],
  status: ["sc-status"],
  address: ["c-ip"],
  userAgent: ["cs(user-agent)"],
  referrer: ["cs(referer)"],
  // In the logs of CloudFront, cs(Host) is the name of the distribution.
  host: ["x-host-header", "cs-host", "cs(host)"],
} as const
type Field = keyof typeof FIELDS

interface Columns {
  count: number
  places: Readonly<Record<Field, number>>
  isCloudFront: boolean
}

function columnsOf(header: string): Columns {
  const names = header
    .trim()
    .split(/\s+/)
    .map((name) => name.toLowerCase())
  const placeOf = (field: Field) => names.indexOf(FIELDS[field].find((name) => names.includes(name)) ?? "")
  // An entry for each field.
  const places = Object.fromEntries(Object.keys(FIELDS).map((field) => [field, placeOf(field as Field)])) as Columns["places"]
  return { count: names.length, places, isCloudFront: names.includes("x-edge-location") || names.includes("x-host-header") }
}

const PORT = /:\d+$/
const utc = (at: number): number => at

function recordOf({ places, isCloudFront }: Columns, cells: readonly string[]): LogRecord | "bad_date" | "bad_number" {
  const cell = (field: Field): string => cells[places[field]] ?? ""
  const at = parseTime(`${cell("date")} ${cell("time")}`, utc)
  if (at === undefined) return "bad_date"
  const status = cell("status")
  // CloudFront writes 000 for a client that left before the answer.
  if (Number.isNaN(statusOf(status))) return "bad_number"
  const text = isCloudFront ? twiceDecoded : plusDecoded
  const address = isCloudFront ? singlyEncoded : (part: string) => part
  const query = present(cell("query"))
  const target = address(cell("stem")) + (query === "" ? "" : `?${address(query)}`)
  return {
    at,
    method: places.method < 0 ? "GET" : present(cell("method")),
    target,
    status: statusOf(status),
    address: present(cell("address")),
    // Missing as a column, or as a value.
    userAgent: places.userAgent < 0 ? "" : text(cell("userAgent")) || "-",
    referrer: text(present(cell("referrer"))),
    host: present(cell("host")).replace(PORT, ""),
  }
}

const plusDecoded = (text: string): string => text.replaceAll("+", " ")

/** Undoes the second of two encodings: `%2520` becomes `%20`. */
const singlyEncoded = (text: string): string => (text.includes("%25") ? text.replace(/%25([0-9a-f]{2})/gi, "%$1") : text)

function twiceDecoded(text: string): string {
  const once = singlyEncoded(text)
  if (!once.includes("%")) return once
  try {
    return decodeURIComponent(once)
  } catch {
    return once
  }
}
