import type { AppError, Fault } from "../../domain/error.ts"
import { visibleText } from "../../domain/text.ts"
import { argumentExample, callExample } from "./examples.ts"
import { INPUT, type ToolName } from "./input-schemas.ts"

/** Why a tool did not answer, in words that a model can act on. */
interface FailedCall {
  code: string
  message: string
  errors?: readonly FailedArgument[]
}
interface FailedArgument {
  field: string
  code: string
  message: string
  allowed?: Fault["allowed"]
}

/** Codes of single arguments that say more than that an argument is wrong. */
const SPEAKING = ["invalid_range", "invalid_timezone", "too_many_points", "unsupported_combination", "unsupported_metric"]

/** The failure of a call as the tool's own answer. The code is that of the first argument at fault. */
export function failedCall(failure: AppError, tool: ToolName, given: Record<string, unknown>): FailedCall {
  const faults = faultsOf(failure)
  if (faults.length === 0) return { code: failure.code, message: messageOf(failure, given) }
  const errors = faults.map((fault) => failedArgument(fault, tool))
  return { code: codeOf(faults[0]!), message: errors.map(({ message }) => message).join(" "), errors }
}

function faultsOf({ code, message, members }: AppError): readonly Fault[] {
  if (code === "invalid_cursor") return [{ pointer: "/cursor", code, detail: `${message} Leave it out for the first page.` }]
  return members.errors ?? []
}

const codeOf = (fault: Fault): string => (SPEAKING.includes(fault.code) && !isBesideSaved(fault) ? fault.code : "invalid_argument")

/** Of a saved funnel these are given already: naming them is a wrong argument, not a question that cannot be answered. */
const isBesideSaved = ({ pointer, code }: Fault): boolean =>
  code === "unsupported_combination" && ["/steps", "/order", "/window_hours"].includes(pointer)

function failedArgument(fault: Fault, tool: ToolName): FailedArgument {
  const { pointer, code, detail, allowed } = fault
  const field = fieldOf(pointer)
  const name = pointer.split("/")[1]!
  const isInside = pointer !== `/${name}`
  if (code === "unknown_field" && !isInside) return unknownArgument(field, code, tool)
  const says = detail.startsWith(`${field} `) ? detail : `${field}: ${detail}`
  const example = isBesideSaved(fault) ? argumentExample("funnel_id") : argumentExample(name, isInside ? undefined : allowed)
  const message = [says, allowedText(allowed, detail), example].filter((part) => part !== "").join(" ")
  return { field, code, message, ...(allowed && { allowed }) }
}

/** The service names its own arguments alone, not the id that stands beside them. */
function unknownArgument(field: string, code: string, tool: ToolName): FailedArgument {
  const allowed = Object.keys(INPUT[tool].properties)
  const message = `${field}: ${tool} has no such argument. Allowed: ${allowed.join(", ")}. ${callExample(tool)}`
  return { field, code, message, allowed }
}

/** `/filters/0/values` as `filters[0].values`. The names in it may have been sent. */
function fieldOf(pointer: string): string {
  const names = pointer.split("/").slice(1)
  const path = names
    .map((name) => name.replaceAll("~1", "/").replaceAll("~0", "~"))
    .reduce((path, name) => path + (/^\d+$/.test(name) ? `[${name}]` : `.${name}`))
  return visibleText(path).slice(0, 100)
}

function allowedText(allowed: Fault["allowed"], says: string): string {
  if (allowed === undefined) return ""
  if ("min" in allowed) return says.includes(String(allowed.max)) ? "" : `Allowed: ${allowed.min} to ${allowed.max}.`
  const list = allowed.join(", ")
  return list === "" || says.includes(list) ? "" : `Allowed: ${list}.`
}

function messageOf({ code, message, members }: AppError, given: Record<string, unknown>): string {
  switch (code) {
    case "site_not_found":
      return `No site ${given.site_id} is visible to this API key. Call list_sites.`
    case "funnel_not_found":
      return `Site ${given.site_id} has no funnel ${given.funnel_id}. Call list_goals for the saved funnels.`
    case "identity_insufficient":
      return `${message} Give a shorter window_hours, for example {"window_hours":24}, or leave it out.`
    case "query_timeout":
      return 'The report took longer than 15 seconds. Ask for a shorter range, for example {"period":"7d"}.'
    default:
      return members.retry_after === undefined
        ? message
        : `${message.replace(/\.$/, "")}. Try again in ${Math.ceil(members.retry_after)} s.`
  }
}
