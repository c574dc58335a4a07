import { type Static, type TObject, Type as t } from "@sinclair/typebox"
import { type Fault, refuseFaults } from "./error.ts"
import { normalPassword } from "./password.ts"
import { fault, inspect, isObject } from "./shape.ts"

/** Longer than any of ours; what was sent as one is looked up as it is. */
const SecretText = t.String({ minLength: 1, maxLength: 1_024 })
const Closed = { additionalProperties: false } as const

const LoginInput = t.Object({ email: t.String({ minLength: 1, maxLength: 254 }) }, Closed)
const FactorInput = t.Object({ ticket: SecretText, code: t.Optional(SecretText), recovery_code: t.Optional(SecretText) }, Closed)

/** Throws `validation_failed`. The password is taken as it was typed. */
export function parseLogin(body: unknown): { email: string; password: string } {
  const { password, ...rest } = isObject(body) ? body : {}
  const { fields, faults } = inspect(LoginInput, isObject(body) ? rest : body)
  refuseFaults([...faults, ...(isObject(body) ? typedFaults(password, "/password") : [])])
  return { email: fields.email!, password: normalPassword(String(password)) } // no fault: it is there
}

/** A code of an app, or one of those for emergencies: exactly one of them. Throws `validation_failed`. */
export function parseFactor(body: unknown): { ticket: string } & ({ code: string } | { recovery_code: string }) {
  const { ticket, code, recovery_code } = parsed(FactorInput, body)
  if (code !== undefined && recovery_code !== undefined)
    refuseFaults([fault("/recovery_code", "unknown_field", "cannot be sent beside code")])
  if (code !== undefined) return { ticket, code }
  if (recovery_code === undefined) refuseFaults([fault("/code", "required", "is required")])
  return { ticket, recovery_code: recovery_code! } // refused just now if it is missing
}

/** The fields of a body that fits the schema. Throws `validation_failed` with all faults at once. */
export function parsed<Shape extends TObject>(schema: Shape, body: unknown): Static<Shape> {
  const { fields, faults } = inspect(schema, body)
  refuseFaults(faults)
  return fields as Static<Shape> // no fault: all that is required is there
}

/** Of a secret that somebody types: nothing of it is trimmed. */
export function typedFaults(value: unknown, pointer: string): Fault[] {
  if (value === undefined) return [fault(pointer, "required", "is required")]
  if (typeof value !== "string") return [fault(pointer, "invalid_type", "must be text")]
  if (value.length > 1_024) return [fault(pointer, "too_long", "may have 1024 characters")]
  return []
}

/** What a passkey has answered is judged by the library that knows its form. */
export type PasskeyResponse = Record<string, unknown>
export type Proof = { password: string } | { code: string } | { challenge_id: string; response: PasskeyResponse }

const CodeInput = t.Object({ code: SecretText }, Closed)
const PasskeyInput = t.Object({ challenge_id: SecretText, response: t.Record(t.String(), t.Unknown()) }, Closed)

/** Another proof of who somebody is: one of the three. Throws `validation_failed`. */
export function parseProof(body: unknown): Proof {
  if (isObject(body) && "code" in body) return parsed(CodeInput, body)
  if (isObject(body) && "challenge_id" in body) return parsePasskey(body)
  const { password, ...rest } = isObject(body) ? body : {}
  const { faults } = inspect(t.Object({}, Closed), isObject(body) ? rest : body)
  refuseFaults([...faults, ...(isObject(body) ? typedFaults(password, "/password") : [])])
  return { password: normalPassword(String(password)) }
}

/** Throws `validation_failed`. Nothing in the answer is tidied: it has been signed. */
export function parsePasskey(body: unknown): { challenge_id: string; response: PasskeyResponse } {
  const { challenge_id, response } = parsed(PasskeyInput, body)
  return { challenge_id, response: (body as { response?: PasskeyResponse }).response ?? response } // an object, as just shown
}

/** Throws `validation_failed`. Whoever has no password yet names none. */
export function parsePasswordChange(body: unknown): { current: string | undefined; password: unknown } {
  const { current, password, ...rest } = isObject(body) ? body : {}
  const { faults } = inspect(t.Object({}, Closed), isObject(body) ? rest : body)
  refuseFaults([...faults, ...(current === undefined ? [] : typedFaults(current, "/current"))])
  return { current: current === undefined ? undefined : normalPassword(String(current)), password }
}
