import { AppError } from "../domain/error.ts"
import type { Form } from "../query/arguments.ts"

const MOST = 20

/** What two readers of the same arguments made of them; the faults that both found are said together. Anything else that is thrown goes before. */
export async function withAllFaults<One, Other>(
  form: Form,
  opening: Promise<One>,
  work: () => Other | Promise<Other>,
): Promise<[One, Other]> {
  const [one, other] = await Promise.allSettled([opening, (async () => work())()])
  if (one.status === "fulfilled" && other.status === "fulfilled") return [one.value, other.value]
  const reasons = [one, other].flatMap((part) => (part.status === "rejected" ? [part.reason] : []))
  const errors = reasons.flatMap((reason) => (reason instanceof AppError ? (reason.members.errors ?? []) : []))
  const unlike = reasons.find((reason) => !(reason instanceof AppError) || !reason.members.errors)
  if (unlike || errors.length === 0) throw unlike
  const count = errors.length === 1 ? "1 argument is" : `${errors.length} arguments are`
  throw new AppError(form === "text" ? "invalid_query" : "validation_failed", `${count} not valid.`, { errors: errors.slice(0, MOST) })
}

/** Arguments by those names, and the others. What was not given is in neither. */
export function splitArguments(given: Record<string, unknown>, names: readonly string[]) {
  const entries = Object.entries(given).filter(([, value]) => value !== undefined)
  return {
    own: Object.fromEntries(entries.filter(([name]) => names.includes(name))),
    ranged: Object.fromEntries(entries.filter(([name]) => !names.includes(name))),
  }
}
