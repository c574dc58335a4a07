/** Logs of a web server, for tests of streams. */

const FIREFOX = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0"
const MONTHS = "Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec".split(" ")

/** Returns a line of a log for each request: its time in UTC, its address and its path. */
export function log(...requests: readonly (readonly [at: string, address: string, path: string])[]): string {
  const lines = requests.map(([at, address, path]) => {
    const time = new Date(at)
    const day = `${String(time.getUTCDate()).padStart(2, "0")}/${MONTHS[time.getUTCMonth()]}/${time.getUTCFullYear()}`
    return `${address} - - [${day}:${time.toISOString().slice(11, 19)} +0000] "GET ${path} HTTP/1.1" 200 9 "-" "${FIREFOX}"\n`
  })
  return lines.join("")
}

/** Returns the body that sends logs to a stream. */
export const body = (content: string | readonly string[], stream = "web", options: object = {}) => ({
  source: "server_log",
  files: [content].flat().map((text, index) => ({ name: `access.log.${index}`, content: text })),
  options: { stream, ...options },
})

export const MINUTE = 60_000
export const HOUR = 60 * MINUTE

/** Addresses of visitors. */
export const ANNA = "203.0.113.7"
export const BEN = "203.0.113.8"
export const CARA = "203.0.113.9"

/** Logs of the day on which the instances of tests begin, at 12:00 UTC. The last visit of each may go on. */
export const MORNING = log(
  ["2026-11-21T08:00:00Z", ANNA, "/"],
  ["2026-11-21T08:02:00Z", ANNA, "/pricing"],
  ["2026-11-21T08:20:00Z", BEN, "/"],
  ["2026-11-21T09:30:00Z", CARA, "/"],
)
export const NOON = log(["2026-11-21T10:30:00Z", ANNA, "/docs"], ["2026-11-21T11:15:00Z", BEN, "/docs"])
