import { API } from "../../domain/limits.ts"
import { LOG_LEVELS } from "../../domain/log.ts"
import { parseInstant } from "../../domain/moment.ts"
import { ArgumentReader, refuseArguments } from "../../query/arguments.ts"
import type { LogLine, LogLines } from "../log-lines.ts"

const LINES = { min: 1, max: 10_000 }
const USUAL = 200

/** Lines of the log as a query string asks for them: `level`, `since`, `q`, `limit`. Throws `invalid_query`. */
export function readLines(lines: Pick<LogLines, "list">, query: Record<string, unknown>): LogLine[] {
  const reader = new ArgumentReader(query, ["level", "since", "q", "limit"])
  const level = reader.choice("level", LOG_LEVELS)
  const q = reader.text("q", { min: 0, max: API.searchChars })
  const limit = reader.integer("limit", LINES) ?? USUAL
  const text = reader.text("since", { min: 20, max: 40 })
  const since = text === undefined ? undefined : parseInstant(text)
  if (text !== undefined && since === undefined)
    reader.refuse({ pointer: "/since", code: "invalid_date", detail: "since must be a moment, RFC 3339." })
  refuseArguments(reader, "text")
  return lines.list({ level, since, q }, limit)
}
