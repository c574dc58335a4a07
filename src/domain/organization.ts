import { Type as t } from "@sinclair/typebox"
import { refuseFaults } from "./error.ts"
import { ORGANIZATION, THINGS } from "./limits.ts"
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

/** What an organization demands of its members. Null: as the instance has it. */
export interface OrganizationPolicy {
  require_mfa: boolean
  public_links: "allowed" | "password_required" | "off"
  key_default_days: number
  key_max_days: number | null
  session_idle_days: number | null
  session_absolute_days: number | null
  sso_only: boolean
  /** Owners who may use a password under `sso_only`. */
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

const name = t.String({ minLength: 1, maxLength: THINGS.siteNameChars })
const days = t.Integer(ORGANIZATION.policyDays)
const daysOrNull = (holds: string) => t.Union([days, t.Null()], { description: `null = ${holds}` })

export const PolicyInput = t.Object(
  {
    require_mfa: t.Boolean(),
    public_links: t.Union([t.Literal("allowed"), t.Literal("password_required"), t.Literal("off")]),
    key_default_days: days,
    key_max_days: daysOrNull("keys may be without end"),
    session_idle_days: daysOrNull("as the instance has it"),
    session_absolute_days: daysOrNull("as the instance has it"),
    sso_only: t.Boolean(),
    break_glass_user_ids: t.Array(t.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER }), {
      maxItems: ORGANIZATION.breakGlassUsers,
      uniqueItems: true,
      description: "Owners who may use a password under sso_only",
    }),
  },
  { additionalProperties: false },
)

export const OrganizationInput = t.Object({ name }, { additionalProperties: false, title: "OrganizationInput" })

/** What GET says besides may be sent back. */
export const OrganizationPatch = t.Object(
  {
    name: t.Optional(name),
    policy: t.Optional(t.Partial(PolicyInput)),
    version: t.Optional(t.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER })),
    role: t.Optional(t.Unknown()),
    counts: t.Optional(t.Unknown()),
  },
  { additionalProperties: false, title: "OrganizationPatch" },
)

/** Throws `validation_failed`. */
export function parseOrganization(body: unknown): { name: string } {
  const { fields, faults } = inspect(OrganizationInput, body)
  refuseFaults(inDocumentOrder(faults, body))
  return { name: fields.name! } // no fault: it is there
}

/** What an organization is after a change. `owners` are those who may be named for breaking the glass. Throws `validation_failed`. */
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

/** What is gone for ever is named once more. Throws `validation_failed` for another name. */
export function parseConfirmation(body: unknown, name: string): void {
  const { fields, faults } = inspect(Confirmation, body)
  const isOther = fields.confirm !== undefined && fields.confirm !== name
  refuseFaults(isOther ? [fault("/confirm", "invalid_choice", "must be the name as it stands")] : faults)
}

/** How long keys of an organization live, in days: unless something else is said, and at most. Null: for ever. */
export function keyLife(
  { key_default_days, key_max_days }: OrganizationPolicy,
  instanceMax: number | null,
): { usual: number; most: number | null } {
  const bounds = [key_max_days, instanceMax].filter((bound) => bound !== null)
  const most = bounds.length === 0 ? null : Math.min(...bounds)
  return { usual: most === null ? key_default_days : Math.min(key_default_days, most), most }
}
