import type { AppError, Fault } from "../../domain/error.ts"
import { visibleText } from "../../domain/text.ts"
import { INPUT, type ToolName } from "../public/report-schemas.ts"
import { argumentExample, callExample } from "./examples.ts"

/** Error of a tool call, with a message that a model can act on. */
interface FailedCall {
  code: string
  message: string
  errors?: readonly FailedArgument[]
  /** What a report over people needs, with the code `identity_insufficient`. */
  needed_days?: unknown
  mode?: unknown
  horizon_days?: unknown
  options?: unknown
}
interface FailedArgument {
  field: string
  code: string
  message: string
  allowed?: Fault["allowed"]
}

/** Codes of single arguments that say more than that an argument is wrong. */
const SPECIFIC_CODES = ["invalid_range", "invalid_timezone", "too_many_points", "unsupported_combination", "unsupported_metric"]

/** Converts a failure to the result of a tool. Its code is that of the first invalid argument. */
export function failedCall(failure: AppError, tool: ToolName, given: Record<string, unknown>): FailedCall {
  const faults = faultsOf(failure)
  if (faults.length === 0) return { code: failure.code, message: messageOf(failure, given), ...identityOf(failure) }
  const errors = faults.map((fault) => failedArgument(fault, tool))
  return { code: codeOf(faults[0]!), message: errors.map(({ message }) => message).join(" "), errors }
}

/** Returns the members that tell how long people would have to be recognized, and what can be done. */
function identityOf({ code, members: { needed_days, mode, horizon_days, options } }: AppError) {
  return code === "identity_insufficient" ? { needed_days, mode, horizon_days, options } : {}
}

function faultsOf({ code, message, members }: AppError): readonly Fault[] {
  if (code === "invalid_cursor") return [{ pointer: "/cursor", code, detail: `${message} Leave it out for the first page.` }]
  return members.errors ?? []
}

const codeOf = (fault: Fault): string =>
  SPECIFIC_CODES.includes(fault.code) && !conflictsWithSavedFunnel(fault) ? fault.code : "invalid_argument"

/** Returns whether an argument conflicts with a saved funnel, which already defines it. This is an invalid argument. */
const conflictsWithSavedFunnel = ({ pointer, code }: Fault): boolean =>
  code === "unsupported_combination" && ["/steps", "/order", "/window_hours"].includes(pointer)

function failedArgument(fault: Fault, tool: ToolName): FailedArgument {
  const { pointer, code, detail, allowed } = fault
  const field = fieldOf(pointer)
  const name = pointer.split("/")[1]!
  const isInside = pointer !== `/${name}`
  if (code === "unknown_field" && !isInside) return unknownArgument(field, code, tool)
  const sentence = detail.startsWith(`${field} `) ? detail : `${field}: ${detail}`
  const example = conflictsWithSavedFunnel(fault) ? argumentExample("funnel_id") : argumentExample(name, isInside ? undefined : allowed)
  const message = [sentence, allowedText(allowed, detail), example].filter((part) => part !== "").join(" ")
  return { field, code, message, ...(allowed && { allowed }) }
}

/** Describes an unknown argument with all arguments of the tool, including the site id, which the service does not know. */
function unknownArgument(field: string, code: string, tool: ToolName): FailedArgument {
  const allowed = Object.keys(INPUT[tool].properties)
  const message = `${field}: ${tool} has no such argument. Allowed: ${allowed.join(", ")}. ${callExample(tool)}`
  return { field, code, message, allowed }
}

/** Converts `/filters/0/values` to `filters[0].values`. Names can come from the request, so they are made printable. */
function fieldOf(pointer: string): string {
  const names = pointer.split("/").slice(1)
  const path = names
    .map((name) => name.replaceAll("~1", "/").replaceAll("~0", "~"))
    .reduce((path, name) => path + (/^\d+$/.test(name) ? `[${name}]` : `.${name}`))
  return visibleText(path).slice(0, 100)
}

function allowedText(allowed: Fault["allowed"], sentence: string): string {
  if (allowed === undefined) return ""
  if ("min" in allowed) return sentence.includes(String(allowed.max)) ? "" : `Allowed: ${allowed.min} to ${allowed.max}.`
  const list = allowed.join(", ")
  return list === "" || sentence.includes(list) ? "" : `Allowed: ${list}.`
}

function messageOf({ code, message, members }: AppError, given: Record<string, unknown>): string {
  switch (code) {
    case "site_not_found":
      return `No site ${given.site_id} is visible to this API key. Call list_sites.`
    case "funnel_not_found":
      return `Site ${given.site_id} has no funnel ${given.funnel_id}. Call list_goals for the saved funnels.`
    case "identity_insufficient":
      return JSON.stringify(given.filters ?? []).includes('"cohort"')
        ? `${message} Ask for a shorter range, for example {"period":"today"}, or leave out the cohort.`
        : `${message} Give a shorter window_hours, for example {"window_hours":24}, or leave it out.`
    case "query_timeout":
      return 'The report took longer than 15 seconds. Ask for a shorter range, for example {"period":"7d"}.'
    default:
      return members.retry_after === undefined
        ? message
        : `${message.replace(/\.$/, "")}. Try again in ${Math.ceil(members.retry_after)} s.`
  }
}
