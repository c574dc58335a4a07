import { closingQuote, commonTime, type LineReader, present, splitRequest, statusOf, withoutEscapes } from "./record.ts"

/**
 * The common log format of Apache and nginx and its relatives:
 *
 *     address ident user [time] "request" status size
 *
 * `combined` adds `"referrer" "user agent"`, and the forms with virtual hosts begin with `host` or `host:port`. Fields after the last one
 * are ignored, because many servers add some. Searches for delimiters instead of matching, because it runs for every line.
 */
interface Shape {
  hasHost: boolean
  hasAgent: boolean
}

export const combined = (): LineReader => reader({ hasHost: false, hasAgent: true })
export const vhostCombined = (): LineReader => reader({ hasHost: true, hasAgent: true })
export const common = (): LineReader => reader({ hasHost: false, hasAgent: false })
export const commonVhost = (): LineReader => reader({ hasHost: true, hasAgent: false })

const PORT = /:\d+$/

const reader =
  ({ hasHost, hasAgent }: Shape): LineReader =>
  (line) => {
    const timeAt = line.indexOf(" [")
    const timeEnd = line.indexOf('] "', timeAt)
    if (timeAt < 0 || timeEnd < 0) return "wrong_column_count"
    const hostEnd = hasHost ? line.indexOf(" ") : -1
    const addressEnd = line.indexOf(" ", hostEnd + 1)
    if (addressEnd >= timeAt) return "wrong_column_count"
    const requestEnd = closingQuote(line, timeEnd + 3)
    if (requestEnd < 0) return "wrong_column_count"
    const at = commonTime(line.slice(timeAt + 2, timeEnd))
    if (at === undefined) return "bad_date"
    const status = statusOf(line.slice(requestEnd + 2, requestEnd + 5))
    if (Number.isNaN(status)) return "bad_number"
    const agent = hasAgent ? agentFields(line, requestEnd + 6) : NO_AGENT
    if (!agent) return "wrong_column_count"
    return {
      at,
      ...splitRequest(withoutEscapes(line.slice(timeEnd + 3, requestEnd))),
      status,
      address: line.slice(hostEnd + 1, addressEnd),
      ...agent,
      host: hasHost ? present(line.slice(0, hostEnd).replace(PORT, "")) : "",
    }
  }

const NO_AGENT = { referrer: "", userAgent: "" }

/** Reads the quoted referrer and user agent behind the size. */
function agentFields(line: string, from: number): typeof NO_AGENT | undefined {
  const referrerAt = line.indexOf(' "', from) + 2
  const referrerEnd = referrerAt < 2 ? -1 : closingQuote(line, referrerAt)
  if (referrerEnd < 0 || !line.startsWith('" "', referrerEnd)) return undefined
  const agentEnd = closingQuote(line, referrerEnd + 3)
  if (agentEnd < 0) return undefined
  const userAgent = withoutEscapes(line.slice(referrerEnd + 3, agentEnd))
  return { referrer: present(withoutEscapes(line.slice(referrerAt, referrerEnd))), userAgent: userAgent || "-" }
}

const ADDRESS = /^(?:\d{1,3}(?:\.\d{1,3}){3}|[0-9a-f]*:[0-9a-f:.]+)$/i

/** Returns whether a line begins with a virtual host. Without one, a fourth field before the time is a part of the user's name. */
export function beginsWithHost(line: string): boolean {
  const fields = line.slice(0, Math.max(0, line.indexOf(" ["))).split(" ")
  return fields.length >= 4 && !ADDRESS.test(fields[0]!) && (ADDRESS.test(fields[1]!) || fields[2] === "-")
}
