import { refuseFaults } from "../../domain/error.ts"
import { fault, isObject } from "../../domain/shape.ts"

/** The version that a body names, and the rest of it. Throws `validation_failed` for one that is no number. */
export function bodyVersion(body: unknown): { version: number | undefined; patch: unknown } {
  if (!isObject(body) || !Object.hasOwn(body, "version")) return { version: undefined, patch: body }
  const { version, ...patch } = body
  if (!Number.isSafeInteger(version)) refuseFaults([fault("/version", "invalid_type", "must be a whole number")])
  return { version: version as number, patch } // just looked at
}
