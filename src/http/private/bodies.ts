import { type TProperties, Type as t } from "@sinclair/typebox"
import { refuseFaults } from "../../domain/error.ts"
import { fault, isObject } from "../../domain/shape.ts"
import type { Detail } from "../openapi/route.ts"

/** Schemas of bodies for the documentation. Services validate these bodies, because their rules go beyond a schema. */

const body = (properties: TProperties, required = true): Pick<Detail, "requestBody"> => ({
  requestBody: { required, content: { "application/json": { schema: t.Object(properties, { additionalProperties: false }) } } },
})

const Secret = t.String({ minLength: 1, maxLength: 1_024 })
const Email = t.String({ format: "email", maxLength: 254 })
const Password = t.String({ minLength: 12, maxLength: 256, description: "Password. It is not trimmed. Common passwords are rejected." })
const Typed = t.String({ maxLength: 1_024, description: "Password as typed." })
const Name = t.String({ minLength: 1, maxLength: 100 })
const Id = t.Integer({ minimum: 1 })
const Version = t.Optional(Id)
const Choice = t.Optional(t.Union([t.String(), t.Null()]))
const Passkey = {
  challenge_id: Secret,
  response: t.Object({}, { additionalProperties: true, description: "Response of the browser's WebAuthn API." }),
}

export const BODIES = {
  setUp: body({
    token: Secret,
    email: Email,
    password: Password,
    name: Name,
    organization: Name,
    site: t.Optional(t.Object({}, { additionalProperties: true, description: "First site, with the fields of a new site." })),
    dry_run: t.Optional(
      t.Boolean({ description: "Only validates the other fields and creates nothing. The response is 200 with their problems." }),
    ),
  }),
  login: body({ email: t.String({ minLength: 1, maxLength: 254 }), password: Typed }),
  factor: body({ ticket: Secret, code: t.Optional(Secret), recovery_code: t.Optional(Secret) }),
  passkeyBegin: body({ ticket: t.Optional(Secret) }, false),
  passkey: body(Passkey),
  forgot: body({ email: t.String({ minLength: 1, maxLength: 254 }) }),
  reset: body({ token: Secret, password: Password }),
  token: body({ token: Secret }),
  proof: body({ password: t.Optional(Typed), code: t.Optional(Secret), ...optional(Passkey) }),
  link: body({ ticket: Secret, password: t.Optional(Typed) }),

  profile: body({
    name: t.Optional(Name),
    locale: Choice,
    time_format: Choice,
    theme: Choice,
    shortcuts: t.Optional(t.Boolean()),
    start_page: Choice,
    version: Version,
  }),
  email: body({ email: Email }),
  password: body({ current: t.Optional(Typed), password: Password }),
  leave: body({ organization_id: Id }),
  totp: body({ ticket: Secret, code: Secret }),
  newPasskey: body({ ...optional(Passkey), name: t.Optional(Name) }),
  passkeyName: body({ name: t.Optional(Name), version: Version }),

  accept: body({ name: t.Optional(Name), password: t.Optional(Password) }, false),
  confirmation: body({ confirm: t.String({ description: "Current name, as confirmation." }) }),
  removal: body({ transfer_to: t.Optional(Id) }, false),
  owner: body({ user_id: Id }),
  rotation: body({ grace_hours: t.Optional(t.Integer({ minimum: 0, maximum: 168, default: 24 })) }, false),
} as const

function optional(properties: TProperties): TProperties {
  return Object.fromEntries(Object.entries(properties).map(([name, schema]) => [name, t.Optional(schema)]))
}

/** The version that a body names, and the rest of it. Throws `validation_failed` for one that is no number. */
export function bodyVersion(body: unknown): { version: number | undefined; patch: unknown } {
  if (!isObject(body) || !Object.hasOwn(body, "version")) return { version: undefined, patch: body }
  const { version, ...patch } = body
  if (!Number.isSafeInteger(version)) refuseFaults([fault("/version", "invalid_type", "must be a whole number")])
  return { version: version as number, patch } // just looked at
}
