import { Type as t } from "@sinclair/typebox"
import { refuseFaults } from "./error.ts"
import { RoleInput } from "./membership.ts"
import type { Role } from "./organization.ts"
import { fault, inDocumentOrder, inspect, isObject } from "./shape.ts"
import { EmailText, emailFaults, NameText } from "./user.ts"

const Id = t.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER })

/** The fields of a new user that an instance admin creates. The password is validated separately. */
const NewUserInput = t.Object(
  {
    email: EmailText,
    name: NameText,
    organization_id: t.Optional(Id),
    role: t.Optional(RoleInput),
    send_invitation: t.Optional(t.Boolean()),
    is_instance_admin: t.Optional(t.Boolean()),
  },
  { additionalProperties: false, title: "NewUserInput" },
)

/** Read-only fields of the GET response, which are accepted and ignored. */
const READ_ONLY_FIELDS = ["status", "organizations", "mfa", "auth", "last_login_at", "last_seen_at", "sessions", "api_keys"] as const

const UserPatch = t.Object(
  {
    name: t.Optional(NameText),
    email: t.Optional(EmailText),
    is_instance_admin: t.Optional(t.Boolean()),
    version: t.Optional(Id),
    ...(Object.fromEntries(READ_ONLY_FIELDS.map((name) => [name, t.Optional(t.Unknown())])) as Record<
      string,
      ReturnType<typeof t.Unknown>
    >),
  },
  { additionalProperties: false, title: "UserPatch" },
)

export interface NewUserFields {
  email: string
  name: string
  is_instance_admin: boolean
  send_invitation: boolean
  membership: { organizationId: number; role: Role } | undefined
  /** The password as it was typed, not validated yet. Undefined when the user chooses one later. */
  password: unknown
}

/** Reads a new user from a request body. An organization requires a role and vice versa; guests must be invited. Throws `validation_failed`. */
export function parseNewUser(body: unknown): NewUserFields {
  const { password, ...rest } = isObject(body) ? body : {}
  const { fields, faults } = inspect(NewUserInput, isObject(body) ? rest : body)
  const { organization_id, role } = fields
  const found = [...faults, ...emailFaults(fields.email)]
  if (organization_id !== undefined && role === undefined) found.push(fault("/role", "required", "is required with organization_id"))
  if (role !== undefined && organization_id === undefined) found.push(fault("/organization_id", "required", "is required with role"))
  if (role === "guest")
    found.push(fault("/role", "invalid_choice", "must be a role in the whole organization: guests are invited to single sites instead"))
  refuseFaults(inDocumentOrder(found, body))
  return {
    email: fields.email!, // present, because no fault was found
    name: fields.name!,
    is_instance_admin: fields.is_instance_admin ?? false,
    send_invitation: fields.send_invitation ?? true,
    membership: organization_id === undefined ? undefined : { organizationId: organization_id, role: role! },
    password,
  }
}

/** Reads a merge patch of a user. Throws `validation_failed`. */
export function parseUserPatch(body: unknown): { name?: string; email?: string; is_instance_admin?: boolean; version?: number } {
  const { fields, faults } = inspect(UserPatch, body)
  refuseFaults(inDocumentOrder([...faults, ...emailFaults(fields.email as string | undefined)], body))
  const { name, email, is_instance_admin, version } = fields as ReturnType<typeof parseUserPatch> // the types of their schemas
  return {
    ...(name !== undefined && { name }),
    ...(email !== undefined && { email }),
    ...(is_instance_admin !== undefined && { is_instance_admin }),
    ...(version !== undefined && { version }),
  }
}

const Removal = t.Object(
  { transfer: t.Optional(t.Array(t.Object({ organization_id: Id, user_id: Id }, { additionalProperties: false }), { maxItems: 1_000 })) },
  { additionalProperties: false, title: "UserRemoval" },
)

/** Reads the new owners of organizations of which a removed user is the only owner: user id by organization id. Throws `validation_failed`. */
export function parseUserRemoval(body: unknown): Map<number, number> {
  const { fields, faults } = inspect(Removal, body)
  refuseFaults(faults)
  return new Map((fields.transfer ?? []).map(({ organization_id, user_id }) => [organization_id, user_id]))
}
