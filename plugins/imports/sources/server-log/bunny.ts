import type { LineReader } from "./record.ts"

const FIELDS = 12
const [STATUS, TIME, ADDRESS, REFERRER, URL_, AGENT] = [1, 2, 5, 6, 7, 9]
const TIME_MS = /^\d{10,14}$/

/**
 * The log of Bunny CDN: cache state, status, time in ms, bytes, pull zone, address, referrer, URL, edge, user agent, request id and
 * country, separated by `|`. It has no method: each line counts as a GET.
 */
export const bunny = (): LineReader => (line) => {
  const cells = line.split("|")
  if (cells.length < FIELDS) return "wrong_column_count"
  const time = cells[TIME]!
  if (!TIME_MS.test(time)) return "bad_date"
  const status = Number(cells[STATUS])
  if (!Number.isInteger(status)) return "bad_number"
  const referrer = cells[REFERRER]!
  return {
    at: Number(time),
    method: "GET",
    target: cells[URL_]!,
    status,
    address: cells[ADDRESS]!,
    // Only the user agent can contain the delimiter.
    userAgent: cells.slice(AGENT, cells.length - 2).join("|") || "-",
    referrer: referrer === "-" ? "" : referrer,
    host: "",
    country: cells.at(-1)!.trim(),
  }
}
