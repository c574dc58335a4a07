import { type Static, Type as t } from "@sinclair/typebox"
import { refuseFaults } from "./error.ts"
import { ORGANIZATION, THINGS } from "./limits.ts"
import { field, textOf } from "./response.ts"
import { fault, inDocumentOrder, inspect } from "./shape.ts"

/** The owner of sites, members and API keys. Times are epoch milliseconds. */
export interface Organization {
  id: number
  name: string
  policy: OrganizationPolicy
  created_at: number
  updated_at: number
  version: number
}

/** The policy of an organization for its members. Null means the setting of the instance. */
export interface OrganizationPolicy {
  require_mfa: boolean
  public_links: "allowed" | "password_required" | "off"
  key_default_days: number
  key_max_days: number | null
  session_idle_days: number | null
  session_absolute_days: number | null
  sso_only: boolean
  /** Owners who can sign in with a password despite `sso_only`. */
  break_glass_user_ids: readonly number[]
}

export const DEFAULT_POLICY: OrganizationPolicy = {
  require_mfa: false,
  public_links: "allowed",
  key_default_days: 365,
  key_max_days: null,
  session_idle_days: null,
  session_absolute_days: null,
  sso_only: false,
  break_glass_user_ids: [],
}

/** A member's rank in an organization. */
export type Role = "owner" | "admin" | "editor" | "viewer" | "guest"

const name = t.String({ minLength: 1, maxLength: THINGS.siteNameChars, description: "Name of the organization." })
const days = t.Integer(ORGANIZATION.policyDays)
const daysOrNull = (description: string) => t.Union([days, t.Null()], { description })

export const PolicyInput = t.Object(
  {
    require_mfa: t.Boolean({ description: "Whether members must use two-factor authentication." }),
    public_links: t.Union([t.Literal("allowed"), t.Literal("password_required"), t.Literal("off")], {
      description: "Whether sites can be shared by a public link.",
    }),
    key_default_days: t.Integer({ ...ORGANIZATION.policyDays, description: "Default lifetime of API keys, in days." }),
    key_max_days: daysOrNull("Maximum lifetime of API keys, in days. null means unlimited."),
    session_idle_days: daysOrNull("Days without a request after which a session expires. null means the setting of the instance."),
    session_absolute_days: daysOrNull("Days after sign-in when a session expires. null means the setting of the instance."),
    sso_only: t.Boolean({ description: "Whether members must sign in through an identity provider." }),
    break_glass_user_ids: t.Array(t.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER }), {
      maxItems: ORGANIZATION.breakGlassUsers,
      uniqueItems: true,
      description: "Ids of owners who can sign in with a password despite `sso_only`.",
    }),
  },
  { additionalProperties: false, description: "Rules for members, shared views and API keys." },
)

export const OrganizationInput = t.Object({ name }, { additionalProperties: false, title: "OrganizationInput" })

/** A merge patch of an organization. Read-only fields of the GET response are accepted and ignored. */
export const OrganizationPatch = t.Object(
  {
    name: t.Optional(name),
    policy: t.Optional(t.Partial(PolicyInput, { description: "Changed rules of the policy. Others are kept." })),
    version: t.Optional(t.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER, description: "Version that the change is based on." })),
    role: t.Optional(t.Unknown({ description: "Read-only. Accepted and ignored." })),
    counts: t.Optional(t.Unknown({ description: "Read-only. Accepted and ignored." })),
  },
  { additionalProperties: false, title: "OrganizationPatch" },
)

export const OrganizationResponse = t.Object(
  {
    id: field.id("Id of the organization."),
    name: t.String({ description: "Display name." }),
    role: textOf<Role>({ description: "Role of the caller." }),
    policy: PolicyInput,
    counts: t.Object(
      {
        members: field.integer("Number of members, guests included."),
        sites: field.integer("Number of sites."),
        keys: field.integer("Number of API keys."),
      },
      { description: "Number of members, sites and API keys." },
    ),
    version: t.Integer({ description: "Version of the organization, which increases with each change." }),
  },
  { title: "Organization" },
)
export type OrganizationResponse = Static<typeof OrganizationResponse>

/** Reads a new organization from a request body. Throws `validation_failed`. */
export function parseOrganization(body: unknown): { name: string } {
  const { fields, faults } = inspect(OrganizationInput, body)
  refuseFaults(inDocumentOrder(faults, body))
  return { name: fields.name! } // present, because no fault was found
}

/** Applies a merge patch to an organization. `owners` are the users allowed in `break_glass_user_ids`. Throws `validation_failed`. */
export function patchOrganization(
  organization: Organization,
  body: unknown,
  owners: ReadonlySet<number>,
): { name: string; policy: OrganizationPolicy; version: number | undefined } {
  const { fields, faults } = inspect(OrganizationPatch, body)
  const named = fields.policy?.break_glass_user_ids ?? []
  const strangers = named.flatMap((id, i) =>
    owners.has(id) ? [] : [fault(`/policy/break_glass_user_ids/${i}`, "invalid_choice", "must be an owner of the organization")],
  )
  refuseFaults(inDocumentOrder([...faults, ...strangers], body))
  return { name: fields.name ?? organization.name, policy: { ...organization.policy, ...fields.policy }, version: fields.version }
}

const Confirmation = t.Object({ confirm: t.String() }, { additionalProperties: false, title: "Confirmation" })

/** Checks that a permanent deletion was confirmed by the name. Throws `validation_failed` for another name. */
export function parseConfirmation(body: unknown, name: string): void {
  const { fields, faults } = inspect(Confirmation, body)
  const isOther = fields.confirm !== undefined && fields.confirm !== name
  refuseFaults(isOther ? [fault("/confirm", "invalid_choice", "must be exactly the name")] : faults)
}

/** Returns the default and the maximum lifetime of keys in an organization, in days. Null means unlimited. */
export function keyLife(
  { key_default_days, key_max_days }: OrganizationPolicy,
  instanceMax: number | null,
): { default: number; maximum: number | null } {
  const bounds = [key_max_days, instanceMax].filter((bound) => bound !== null)
  const maximum = bounds.length === 0 ? null : Math.min(...bounds)
  return { default: maximum === null ? key_default_days : Math.min(key_default_days, maximum), maximum }
}
