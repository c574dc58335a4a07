import { AppError } from "../../domain/error.ts"
import { EXPORT_FORMATS, EXPORT_TYPES, type ExportFormat, type ExportType, isRowType } from "../../domain/export.ts"
import { ArgumentReader, refuseArguments } from "./arguments.ts"
import { parseQuestion, type Question, type Report, type Sight } from "./parse.ts"
import type { Moment } from "./period.ts"

/** A parsed export (api.md section 10) with a resolved range. */
export interface ExportQuestion {
  type: ExportType
  format: ExportFormat
  /** For raw rows only range and filter matter. */
  question: Question
}

const RANGED = ["period", "from", "to", "timezone", "filters", "imports"]
/** Arguments that only some types accept. */
const SPECIAL = ["metrics", "interval", "property"]

/** Parses the query string of an export. Throws `invalid_query` with all faults at once. */
export function parseExport(given: Record<string, unknown>, moment: Moment, sight: Sight = {}): ExportQuestion {
  const reader = new ArgumentReader(given, ["type", "format", ...RANGED, ...SPECIAL])
  const type = reader.choice("type", EXPORT_TYPES)
  const format = reader.choice("format", EXPORT_FORMATS) ?? "csv"
  if (!reader.has("type"))
    reader.refuse({ pointer: "/type", code: "required", detail: "The export type is required.", allowed: EXPORT_TYPES })
  const question = readQuestion(reader, type, given, moment, sight)
  refuseArguments(reader, "text")
  // These are undefined only when there are faults, and those were thrown above.
  return { type: type!, format, question: question! }
}

/** Reads the query of the export. Faults found by its own parser are added to the other faults. */
function readQuestion(reader: ArgumentReader, type: ExportType | undefined, given: Record<string, unknown>, moment: Moment, sight: Sight) {
  const taken = type ? specialOf(type) : []
  for (const name of SPECIAL.filter((special) => type && reader.has(special) && !taken.includes(special)))
    reader.refuse({ pointer: `/${name}`, code: "unsupported_combination", detail: `${name} cannot be combined with type=${type}.` })
  const report = type ? reportOf(type) : "goals"
  const own = Object.fromEntries(Object.entries(given).filter(([name]) => RANGED.includes(name) || taken.includes(name)))
  try {
    const question = parseQuestion(report, { ...own, ...(report === "breakdown" && { dimension: type }) }, moment, "text", sight)
    return { ...question, limit: Number.MAX_SAFE_INTEGER }
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
