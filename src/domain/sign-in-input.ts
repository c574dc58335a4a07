import { type Static, type TObject, Type as t } from "@sinclair/typebox"
import { type Fault, refuseFaults } from "./error.ts"
import { normalizePassword } from "./password.ts"
import { fault, inspect, isObject } from "./shape.ts"

/** Schema of a code or token. The maximum is longer than any that Footfall issues; values are looked up as sent. */
const SecretText = t.String({ minLength: 1, maxLength: 1_024 })
const Closed = { additionalProperties: false } as const

const LoginInput = t.Object({ email: t.String({ minLength: 1, maxLength: 254 }) }, Closed)
const FactorInput = t.Object({ ticket: SecretText, code: t.Optional(SecretText), recovery_code: t.Optional(SecretText) }, Closed)

/** Reads an email address and a password, which is not trimmed. Throws `validation_failed`. */
export function parseLogin(body: unknown): { email: string; password: string } {
  const { password, ...rest } = isObject(body) ? body : {}
  const { fields, faults } = inspect(LoginInput, isObject(body) ? rest : body)
  refuseFaults([...faults, ...(isObject(body) ? typedFaults(password, "/password") : [])])
  return { email: fields.email!, password: normalizePassword(String(password)) } // present, because no fault was found
}

/** Reads a second factor: either a code of an authenticator app or a recovery code. Throws `validation_failed`. */
export function parseFactor(body: unknown): { ticket: string } & ({ code: string } | { recovery_code: string }) {
  const { ticket, code, recovery_code } = parsed(FactorInput, body)
  if (code !== undefined && recovery_code !== undefined)
    refuseFaults([fault("/recovery_code", "unknown_field", "cannot be combined with code")])
  if (code !== undefined) return { ticket, code }
  if (recovery_code === undefined) refuseFaults([fault("/code", "required", "is required")])
  return { ticket, recovery_code: recovery_code! } // present, because a missing one was refused above
}

/** Validates a body against a schema and returns its fields. Throws `validation_failed` with all faults at once. */
export function parsed<Shape extends TObject>(schema: Shape, body: unknown): Static<Shape> {
  const { fields, faults } = inspect(schema, body)
  refuseFaults(faults)
  return fields as Static<Shape> // complete, because no fault was found
}

/** Returns the faults of a typed secret, which is not trimmed. */
export function typedFaults(value: unknown, pointer: string): Fault[] {
  if (value === undefined) return [fault(pointer, "required", "is required")]
  if (typeof value !== "string") return [fault(pointer, "invalid_type", "must be text")]
  if (value.length > 1_024) return [fault(pointer, "too_long", "must have at most 1024 characters")]
  return []
}

/** The response of a passkey. Its format is validated by the WebAuthn library. */
export type PasskeyResponse = Record<string, unknown>
export type Proof = { password: string } | { code: string } | { challenge_id: string; response: PasskeyResponse }

const CodeInput = t.Object({ code: SecretText }, Closed)
const PasskeyInput = t.Object({ challenge_id: SecretText, response: t.Record(t.String(), t.Unknown()) }, Closed)

/** Reads a confirmation of identity: a code, a passkey response or a password. Throws `validation_failed`. */
export function parseProof(body: unknown): Proof {
  if (isObject(body) && "code" in body) return parsed(CodeInput, body)
  if (isObject(body) && "challenge_id" in body) return parsePasskey(body)
  const { password, ...rest } = isObject(body) ? body : {}
  const { faults } = inspect(t.Object({}, Closed), isObject(body) ? rest : body)
  refuseFaults([...faults, ...(isObject(body) ? typedFaults(password, "/password") : [])])
  return { password: normalizePassword(String(password)) }
}

/** Reads the response of a passkey. It is not normalized, because it is signed. Throws `validation_failed`. */
export function parsePasskey(body: unknown): { challenge_id: string; response: PasskeyResponse } {
  const { challenge_id, response } = parsed(PasskeyInput, body)
  return { challenge_id, response: (body as { response?: PasskeyResponse }).response ?? response } // an object, as validated above
}

/** Reads a password change. `current` is undefined for a user without a password. Throws `validation_failed`. */
export function parsePasswordChange(body: unknown): { current: string | undefined; password: unknown } {
  const { current, password, ...rest } = isObject(body) ? body : {}
  const { faults } = inspect(t.Object({}, Closed), isObject(body) ? rest : body)
  refuseFaults([...faults, ...(current === undefined ? [] : typedFaults(current, "/current"))])
  return { current: current === undefined ? undefined : normalizePassword(String(current)), password }
}
