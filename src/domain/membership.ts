import { Type as t } from "@sinclair/typebox"
import { AppError, refuseFaults } from "./error.ts"
import { ORGANIZATION } from "./limits.ts"
import type { Role } from "./organization.ts"
import { allPermissions, isAtLeast, type Permissions, type SiteRole, type Standing, sitePermissions } from "./permission.ts"
import { fault, inDocumentOrder, inspect } from "./shape.ts"

export const ROLES = ["owner", "admin", "editor", "viewer", "guest"] as const satisfies readonly Role[]

export const RoleInput = t.Union([t.Literal("owner"), t.Literal("admin"), t.Literal("editor"), t.Literal("viewer"), t.Literal("guest")])
const SiteRoleInput = t.Union([t.Literal("admin"), t.Literal("editor"), t.Literal("viewer")])
const UserId = t.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER })
const Names = t.Array(t.String(), { maxItems: 100, uniqueItems: true })

/** What the list says besides may be sent back. */
export const MemberPatch = t.Object(
  {
    role: t.Optional(RoleInput),
    grants: t.Optional(Names),
    denies: t.Optional(Names),
    version: t.Optional(t.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER })),
    user: t.Optional(t.Unknown()),
    site_roles: t.Optional(t.Unknown()),
    mfa: t.Optional(t.Unknown()),
    last_seen_at: t.Optional(t.Unknown()),
    joined_at: t.Optional(t.Unknown()),
  },
  { additionalProperties: false, title: "MemberPatch" },
)

/** What of a membership decides. */
export type Position = Pick<Standing, "role" | "grants" | "denies">

/**
 * A member after a change. Owners and guests have no exceptions: an owner cannot be denied anything, a guest has what the
 * rows of sites give. Throws `validation_failed`.
 */
export function patchMember(member: Position, body: unknown, permissions: Permissions): Position & { version: number | undefined } {
  const { fields, faults } = inspect(MemberPatch, body)
  const role = fields.role ?? member.role
  const isPlain = role === "owner" || role === "guest"
  const wrong = (["grants", "denies"] as const).flatMap((list) =>
    (fields[list] ?? []).flatMap((name, i) => {
      if (isPlain) return [fault(`/${list}/${i}`, "invalid_choice", `cannot be for ${role === "owner" ? "an owner" : "a guest"}`, [])]
      const known = Object.keys(permissions)
      return Object.hasOwn(permissions, name) ? [] : [fault(`/${list}/${i}`, "invalid_choice", "must be a permission", known)]
    }),
  )
  refuseFaults(inDocumentOrder([...faults, ...wrong], body))
  const { grants = member.grants, denies = member.denies, version } = fields
  return { role, grants: isPlain ? [] : [...grants].sort(), denies: isPlain ? [] : [...denies].sort(), version }
}

/**
 * Nobody gives a role above their own, or a permission they lack, be it by a grant or by the role; owners alone appoint,
 * change and remove owners. Throws `forbidden`. Without an `after` the member goes.
 */
export function refuseBeyond(giver: Standing, before: Position, after: Position | undefined, permissions: Permissions): void {
  const owns = giver.role === "owner"
  if (!owns && (before.role === "owner" || after?.role === "owner")) throw lacking("org:delete", "Only owners decide who is an owner.")
  if (isAbove(before.role, giver.role)) throw new AppError("forbidden", "The member's role is above your own.")
  if (!after) return
  if (isAbove(after.role, giver.role)) throw new AppError("forbidden", "The role is above your own.")
  const gained = allPermissions(after, permissions).difference(allPermissions(before, permissions))
  refuseUnheld(new Set(givenBetween(before, after)).union(gained), allPermissions(giver, permissions))
}

/** Throws `forbidden` when somebody would give what they do not hold themself. */
export function refuseUnheld(given: ReadonlySet<string>, held: ReadonlySet<string>): void {
  const lacked = [...given].find((name) => !held.has(name))
  if (lacked !== undefined) throw lacking(lacked, `You cannot give ${lacked}, which you do not have.`)
}

/** What a role gives to whoever has it without exceptions; a guest has what a row of a site gives. */
export const givenByRole = (role: Role, permissions: Permissions): Set<string> =>
  role === "guest"
    ? sitePermissions({ role, grants: [], denies: [], siteRole: "viewer" }, permissions)
    : allPermissions({ role, grants: [], denies: [] }, permissions)

/** Whether a member may give a role: it is not above their own, and gives nothing that is denied to them. */
export const mayGive = (giver: Standing, role: Role, permissions: Permissions): boolean =>
  !isAbove(role, giver.role) && givenByRole(role, permissions).isSubsetOf(allPermissions(giver, permissions))

/** Exceptions that add something: new grants, and denies that are lifted. */
const givenBetween = (before: Position, after: Position): string[] => [
  ...after.grants.filter((name) => !before.grants.includes(name)),
  // To an owner nothing is denied anyway, and who may make one has been asked.
  ...(after.role === "owner" ? [] : before.denies.filter((name) => !after.denies.includes(name))),
]

export const isAbove = (role: Role, other: Role): boolean => role !== "guest" && !isAtLeast(other, role)

export const lacking = (permission: string, detail = `This needs ${permission}.`) =>
  new AppError("forbidden", detail, { required_permission: permission })

const Removal = t.Object({ transfer_to: t.Optional(UserId) }, { additionalProperties: false, title: "MemberRemoval" })

/** Who gets what belonged to a member alone. Throws `validation_failed` for somebody who does not stay. */
export function parseRemoval(body: unknown, staying: ReadonlySet<number>): { transfer_to: number | undefined } {
  const { fields, faults } = inspect(Removal, body)
  const { transfer_to } = fields
  const isStranger = transfer_to !== undefined && !staying.has(transfer_to)
  refuseFaults(isStranger ? [fault("/transfer_to", "invalid_choice", "must be another member of the organization")] : faults)
  return { transfer_to }
}

const Transfer = t.Object({ user_id: UserId }, { additionalProperties: false, title: "OwnershipTransfer" })

/** Throws `validation_failed`; `heirs` are those who can be owner. */
export function parseTransfer(body: unknown, heirs: ReadonlySet<number>): { user_id: number } {
  const { fields, faults } = inspect(Transfer, body)
  const isStranger = fields.user_id !== undefined && !heirs.has(fields.user_id)
  refuseFaults(
    isStranger ? [fault("/user_id", "invalid_choice", "must be another active member of the organization, and no guest")] : faults,
  )
  return { user_id: fields.user_id! } // no fault: it is there
}

export const SiteMemberInput = t.Object({ role: SiteRoleInput }, { additionalProperties: false, title: "SiteMemberInput" })

/** Throws `validation_failed`. */
export function parseSiteMember(body: unknown): { role: SiteRole } {
  const { fields, faults } = inspect(SiteMemberInput, body)
  refuseFaults(faults)
  return { role: fields.role! } // no fault: it is there
}

export const userNotFound = () => new AppError("user_not_found", "No member of the organization has this id")
export const lastOwner = () => new AppError("last_owner", "The organization would be without an owner. Make somebody else one first.")

export const tooManyGuests = () =>
  new AppError("limit_reached", `A site may have ${ORGANIZATION.guestsPerSite} guests`, {
    limit: ORGANIZATION.guestsPerSite,
    resource: "guests",
  })

export const tooManyMembers = () =>
  new AppError("limit_reached", `An organization may have ${ORGANIZATION.members} members`, {
    limit: ORGANIZATION.members,
    resource: "members",
  })
