import { AppError } from "../../domain/error.ts"
import { EXPORT_FORMATS, EXPORT_TYPES, type ExportFormat, type ExportType, isRowType } from "../../domain/export.ts"
import { parseInstant } from "../../domain/moment.ts"
import { ArgumentReader, refuseArguments } from "./arguments.ts"
import { type ParsedQuery, type ParseOptions, parseQuery, type Report } from "./parse.ts"
import type { Moment } from "./period.ts"

/** A parsed export (api.md section 10) with a resolved range. */
export interface ParsedExport {
  type: ExportType
  format: ExportFormat
  /** For raw rows only range and filter matter. */
  parsed: ParsedQuery
  /** Only visits that ended at this time or later, by the arrival of their last event. Epoch ms. */
  since?: number
}

/** Longer than any time with an offset. */
const MAX_INSTANT_CHARS = 64
const RANGED = ["period", "from", "to", "timezone", "filters", "imports"]
/** The range of time, which an incremental export does not have. */
const PERIOD = ["period", "from", "to"]
/** Arguments that only some types accept. */
const SPECIAL = ["metrics", "interval", "property"]

/** Parses the query string of an export. Throws `invalid_query` with all faults at once. */
export function parseExport(given: Record<string, unknown>, moment: Moment, options: ParseOptions = {}): ParsedExport {
  const reader = new ArgumentReader(given, ["type", "format", "since", ...RANGED, ...SPECIAL])
  const type = reader.choice("type", EXPORT_TYPES)
  const format = reader.choice("format", EXPORT_FORMATS) ?? "csv"
  if (!reader.has("type"))
    reader.refuse({ pointer: "/type", code: "required", detail: "The export type is required.", allowed: EXPORT_TYPES })
  const since = readSince(reader, type)
  const parsed = readQuery(reader, type, given, moment, options)
  refuseArguments(reader, "text")
  // These are undefined only when there are faults, and those were thrown above.
  return { type: type!, format, parsed: parsed!, ...(since !== undefined && { since }) }
}

/** Reads the time from which an incremental export of raw rows begins. */
function readSince(reader: ArgumentReader, type: ExportType | undefined): number | undefined {
  const text = reader.text("since", { min: 1, max: MAX_INSTANT_CHARS })
  if (text === undefined) return undefined
  const refuse = (name: string, code: string, detail: string) => reader.refuse({ pointer: `/${name}`, code, detail })
  if (type && !isRowType(type)) return refuse("since", "unsupported_combination", `since cannot be combined with type=${type}.`)
  for (const name of PERIOD.filter((other) => reader.has(other)))
    refuse(name, "unsupported_combination", `${name} cannot be combined with since.`)
  const detail = "since must be the X-Next-Since of an earlier response, or an RFC 3339 time such as 2026-11-21T12:00:00Z."
  return parseInstant(text) ?? refuse("since", "invalid_date", detail)
}

/** Reads the query of the export. Faults found by its own parser are added to the other faults. */
function readQuery(
  reader: ArgumentReader,
  type: ExportType | undefined,
  given: Record<string, unknown>,
  moment: Moment,
  options: ParseOptions,
) {
  const taken = type ? specialOf(type) : []
  for (const name of SPECIAL.filter((special) => type && reader.has(special) && !taken.includes(special)))
    reader.refuse({ pointer: `/${name}`, code: "unsupported_combination", detail: `${name} cannot be combined with type=${type}.` })
  const report = type ? reportOf(type) : "goals"
  const own = Object.fromEntries(Object.entries(given).filter(([name]) => RANGED.includes(name) || taken.includes(name)))
  try {
    const parsed = parseQuery(report, { ...own, ...(report === "breakdown" && { dimension: type }) }, moment, "text", options)
    return { ...parsed, limit: Number.MAX_SAFE_INTEGER }
  } catch (thrown) {
    if (!(thrown instanceof AppError) || !thrown.members.errors) throw thrown
    for (const fault of thrown.members.errors) reader.refuse(fault)
    return undefined
  }
}

function reportOf(type: ExportType): Report {
  // Like raw rows, the goals report accepts only range and filters.
  if (type === "goals" || isRowType(type)) return "goals"
  return type === "timeseries" ? "timeseries" : "breakdown"
}

function specialOf(type: ExportType): readonly string[] {
  const report = reportOf(type)
  if (report === "goals") return []
  if (report === "timeseries") return ["metrics", "interval"]
  return type === "property" ? ["metrics", "property"] : ["metrics"]
}
