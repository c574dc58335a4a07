import { COLLECT, QUERY } from "../domain/limits.ts"
import { ArgumentReader, type Form, refuseArguments } from "./arguments.ts"

/** The event whose properties are asked for, and how many of them. */
export function readProperties(given: Record<string, unknown>, form: Form): { event: string | undefined; limit: number } {
  const reader = new ArgumentReader(given, ["event", "limit"])
  const event = reader.text("event", { min: 1, max: COLLECT.nameChars })
  const limit = reader.integer("limit", QUERY.propertyKeys) ?? QUERY.propertyKeys.default
  refuseArguments(reader, form)
  return { event, limit }
}
