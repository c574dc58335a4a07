import { type Static, Type as t } from "@sinclair/typebox"
import { AppError, refuseFaults } from "./error.ts"
import { ORGANIZATION } from "./limits.ts"
import type { Role } from "./organization.ts"
import { allPermissions, isAtLeast, type Permissions, type SiteRole, type Standing, sitePermissions } from "./permission.ts"
import { field, Instant, orNull, textOf } from "./response.ts"
import { fault, inDocumentOrder, inspect } from "./shape.ts"

export const ROLES = ["owner", "admin", "editor", "viewer", "guest"] as const satisfies readonly Role[]

export const RoleInput = t.Union([t.Literal("owner"), t.Literal("admin"), t.Literal("editor"), t.Literal("viewer"), t.Literal("guest")], {
  description: "Role in the organization. Guests only have site-specific roles.",
})
export const SiteRoleInput = t.Union([t.Literal("admin"), t.Literal("editor"), t.Literal("viewer")], { description: "Role on the site." })
const UserId = t.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER })
const names = (description: string) => t.Array(t.String(), { maxItems: 100, uniqueItems: true, description })

/** Field of a response that clients can send back unchanged. */
const READ_ONLY = t.Optional(t.Unknown({ description: "Read-only. Accepted and ignored." }))
/** A merge patch of a member. Read-only fields of the list are accepted and ignored. */
export const MemberPatch = t.Object(
  {
    role: t.Optional(RoleInput),
    grants: t.Optional(names("Permissions in addition to those of the role.")),
    denies: t.Optional(names("Permissions of the role that the member does not have.")),
    version: t.Optional(t.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER, description: "Version that the change is based on." })),
    user: READ_ONLY,
    site_roles: READ_ONLY,
    mfa: READ_ONLY,
    last_seen_at: READ_ONLY,
    joined_at: READ_ONLY,
  },
  { additionalProperties: false, title: "MemberPatch" },
)

/** A user as other members see them. */
export const PersonResponse = t.Object(
  {
    id: field.id("Id of the user."),
    name: t.String({ description: "Display name." }),
    email: t.String({ description: "Email address." }),
  },
  { description: "User." },
)
export type PersonResponse = Static<typeof PersonResponse>

export const MemberResponse = t.Object(
  {
    user: PersonResponse,
    role: RoleInput,
    grants: t.Array(t.String(), { description: "Permissions in addition to those of the role." }),
    denies: t.Array(t.String(), { description: "Permissions of the role that the member does not have." }),
    site_roles: t.Array(
      t.Object({
        site_id: field.id("Id of the site."),
        role: textOf<SiteRole>({ description: "Role on the site: `admin`, `editor` or `viewer`." }),
      }),
      {
        description: "Site-specific roles, which differ from the role in the organization.",
      },
    ),
    mfa: t.Boolean({ description: "Whether the member has a second factor." }),
    last_seen_at: orNull(Instant, { description: "Time of the latest request. null before the first sign-in." }),
    joined_at: t.String({ format: "date-time", description: "Time at which the user became a member." }),
    version: t.Integer({ description: "Version of the membership, which increases with each change." }),
  },
  { title: "Member" },
)
export type MemberResponse = Static<typeof MemberResponse>

/** A site-specific role. */
export const SiteMemberResponse = t.Object(
  {
    user: PersonResponse,
    role: textOf<SiteRole>({ description: "Role on the site: `admin`, `editor` or `viewer`." }),
    created_at: field.instant("Time at which the role was assigned."),
  },
  { title: "SiteMember" },
)
export type SiteMemberResponse = Static<typeof SiteMemberResponse>

/** The fields of a membership that determine permissions. */
export type Position = Pick<Standing, "role" | "grants" | "denies">

/**
 * Applies a merge patch to a member. Owners and guests have no grants or denies: an owner has all permissions, a guest has those
 * of site-specific roles. Throws `validation_failed`.
 */
export function patchMember(member: Position, body: unknown, permissions: Permissions): Position & { version: number | undefined } {
  const { fields, faults } = inspect(MemberPatch, body)
  const role = fields.role ?? member.role
  const isPlain = role === "owner" || role === "guest"
  const wrong = (["grants", "denies"] as const).flatMap((list) =>
    (fields[list] ?? []).flatMap((name, i) => {
      if (isPlain) return [fault(`/${list}/${i}`, "invalid_choice", `is not allowed for ${role === "owner" ? "an owner" : "a guest"}`, [])]
      const known = Object.keys(permissions)
      return Object.hasOwn(permissions, name) ? [] : [fault(`/${list}/${i}`, "invalid_choice", "must be the name of a permission", known)]
    }),
  )
  refuseFaults(inDocumentOrder([...faults, ...wrong], body))
  const { grants = member.grants, denies = member.denies, version } = fields
  return { role, grants: isPlain ? [] : [...grants].sort(), denies: isPlain ? [] : [...denies].sort(), version }
}

/**
 * Prevents privilege escalation: a member cannot assign a role above their own or a permission that they lack, and only owners
 * can appoint, change and remove owners. `after` is undefined when the member is removed. Throws `forbidden`.
 */
export function refuseEscalation(giver: Standing, before: Position, after: Position | undefined, permissions: Permissions): void {
  const owns = giver.role === "owner"
  if (!owns && (before.role === "owner" || after?.role === "owner"))
    throw missingPermission("org:delete", "Only owners can appoint, change or remove owners.")
  if (isAbove(before.role, giver.role)) throw new AppError("forbidden", "You can't change a member whose role is above your own.")
  if (!after) return
  if (isAbove(after.role, giver.role)) throw new AppError("forbidden", "This role is higher than your own.")
  const gained = allPermissions(after, permissions).difference(allPermissions(before, permissions))
  refuseUnheldPermissions(new Set(grantedBetween(before, after)).union(gained), allPermissions(giver, permissions))
}

/** Throws `forbidden` when a member tries to grant a permission that they do not have. */
export function refuseUnheldPermissions(given: ReadonlySet<string>, held: ReadonlySet<string>): void {
  const lacked = [...given].find((name) => !held.has(name))
  if (lacked !== undefined) throw missingPermission(lacked, `You can't grant ${lacked} because you don't have it yourself.`)
}

/** Returns the permissions of a role without grants and denies. For a guest, those on a site with role viewer. */
export const permissionsOfRole = (role: Role, permissions: Permissions): Set<string> =>
  role === "guest"
    ? sitePermissions({ role, grants: [], denies: [], siteRole: "viewer" }, permissions)
    : allPermissions({ role, grants: [], denies: [] }, permissions)

/** Returns whether a member can assign a role: it is not above their own and contains no permission that they lack. */
export const canAssignRole = (giver: Standing, role: Role, permissions: Permissions): boolean =>
  !isAbove(role, giver.role) && permissionsOfRole(role, permissions).isSubsetOf(allPermissions(giver, permissions))

/** Returns the permissions that a change adds explicitly: new grants and lifted denies. */
const grantedBetween = (before: Position, after: Position): string[] => [
  ...after.grants.filter((name) => !before.grants.includes(name)),
  // Denies do not apply to owners, and whether the caller may appoint one was checked before.
  ...(after.role === "owner" ? [] : before.denies.filter((name) => !after.denies.includes(name))),
]

/** Returns whether a role is above another one. */
export const isAbove = (role: Role, other: Role): boolean => role !== "guest" && !isAtLeast(other, role)

export const missingPermission = (permission: string, detail = `This requires the permission ${permission}.`) =>
  new AppError("forbidden", detail, { required_permission: permission })

const Removal = t.Object({ transfer_to: t.Optional(UserId) }, { additionalProperties: false, title: "MemberRemoval" })

/** Reads to which member the belongings of a removed member are transferred. Throws `validation_failed` unless that member stays. */
export function parseRemoval(body: unknown, staying: ReadonlySet<number>): { transfer_to: number | undefined } {
  const { fields, faults } = inspect(Removal, body)
  const { transfer_to } = fields
  const isStranger = transfer_to !== undefined && !staying.has(transfer_to)
  refuseFaults(isStranger ? [fault("/transfer_to", "invalid_choice", "must be another member of the organization")] : faults)
  return { transfer_to }
}

const Transfer = t.Object({ user_id: UserId }, { additionalProperties: false, title: "OwnershipTransfer" })

/** Reads the new owner from a request body. `candidates` are the members who can become owner. Throws `validation_failed`. */
export function parseTransfer(body: unknown, candidates: ReadonlySet<number>): { user_id: number } {
  const { fields, faults } = inspect(Transfer, body)
  const isStranger = fields.user_id !== undefined && !candidates.has(fields.user_id)
  refuseFaults(
    isStranger ? [fault("/user_id", "invalid_choice", "must be another active member of the organization who is not a guest")] : faults,
  )
  return { user_id: fields.user_id! } // present, because no fault was found
}

export const SiteMemberInput = t.Object({ role: SiteRoleInput }, { additionalProperties: false, title: "SiteMemberInput" })

/** Reads a site-specific role from a request body. Throws `validation_failed`. */
export function parseSiteMember(body: unknown): { role: SiteRole } {
  const { fields, faults } = inspect(SiteMemberInput, body)
  refuseFaults(faults)
  return { role: fields.role! } // present, because no fault was found
}

export const userNotFound = () => new AppError("user_not_found", "This organization has no member with this id.")
export const lastOwner = () => new AppError("last_owner", "An organization needs at least one owner. Make another member an owner first.")

export const tooManyGuests = () =>
  new AppError("limit_reached", `A site can have at most ${ORGANIZATION.guestsPerSite} guests.`, {
    limit: ORGANIZATION.guestsPerSite,
    resource: "guests",
  })

export const tooManyMembers = () =>
  new AppError("limit_reached", `An organization can have at most ${ORGANIZATION.members} members.`, {
    limit: ORGANIZATION.members,
    resource: "members",
  })
