import type { Clock } from "../../domain/clock.ts"
import { AppError } from "../../domain/error.ts"
import { parseId } from "../../domain/id.ts"
import { type ApiKey, siteRoleOf as siteRoleOfKey } from "../../domain/key.ts"
import { ORGANIZATION } from "../../domain/limits.ts"
import {
  isAbove,
  missingPermission,
  parseSiteMember,
  refuseUnheldPermissions,
  tooManyGuests,
  userNotFound,
} from "../../domain/membership.ts"
import {
  type Permissions,
  permissionsAt,
  permissionsOnSite,
  type Rank,
  roleOnSite,
  type SiteRole,
  type Standing,
  sitePermissions,
} from "../../domain/permission.ts"
import type { Site } from "../../domain/site.ts"
import type { Catalog, Statements } from "../../store/catalog/catalog.ts"
import {
  countGuests,
  deleteSiteMember,
  listSiteMembers,
  memberOf,
  membershipOf,
  putSiteMember,
  type SiteMember,
  siteRoleOf,
} from "../../store/catalog/members.ts"
import type { Alongside } from "../definitions/site-things.ts"
import type { Sessions } from "../sign-in/sessions.ts"

/** Who changes a role: a user by id, or an API key, which acts within its scopes and the permissions of its creator. */
type Giver = number | ApiKey

/**
 * Roles of users on a single site. Such a role raises or limits a member's role there, and is all that a guest has.
 * `user_not_found` is thrown for a user without a role here or without a membership of the site's organization.
 */
export interface SiteMembers {
  /** Lists the roles by user. */
  list(site: Site): Promise<SiteMember[]>
  get(site: Site, user: string | undefined): Promise<SiteMember>
  /** Assigns or changes a role. Throws `validation_failed`, `forbidden` for a role above the caller's own, `limit_reached`. */
  put(site: Site, user: string | undefined, body: unknown, by: Giver, alongside?: Alongside<SiteMember>): Promise<SiteMember>
  remove(site: Site, user: string | undefined, by: Giver, alongside?: Alongside<SiteMember>): Promise<void>
  /** Throws `forbidden` if the caller must not give a new guest this role. */
  refuseGiving(statements: Statements, site: Site, role: SiteRole, by: Giver): Promise<void>
  /** Returns whether `refuseGiving` does not throw. */
  canGive(statements: Statements, site: Site, role: SiteRole, by: Giver): Promise<boolean>
  /** Throws `user_not_found` for a user who cannot have a role on the site. */
  refuseStranger(site: Site, user: string | undefined): Promise<void>
}

/** Role and permissions of who changes a role. */
interface Granter {
  role: Rank | undefined
  held: ReadonlySet<string>
}

interface SiteMembersOptions {
  /** Sessions whose tokens are renewed when a user's permissions change. */
  sessions: Pick<Sessions, "renewAll">
  catalog: Catalog
  clock: Pick<Clock, "now">
  permissions: Permissions
}

export function createSiteMembers({ catalog, clock, permissions, sessions }: SiteMembersOptions): SiteMembers {
  async function find(statements: Statements, site: Site, user: string | number | undefined): Promise<SiteMember | undefined> {
    const id = parseId(user)
    return (await listSiteMembers(statements, site.id)).find(({ user_id }) => user_id === id)
  }
  async function rowOf(statements: Statements, site: Site, user: string | undefined): Promise<SiteMember> {
    const row = await find(statements, site, user)
    if (!row) throw userNotFound()
    return row
  }
  /** Returns the current role and permissions of the caller on the site. Throws `forbidden`. */
  async function granterOf(statements: Statements, site: Site, by: Giver): Promise<Granter> {
    if (typeof by === "number") return memberGranting(statements, site, by)
    const siteRole = siteRoleOfKey(by, permissions)
    const ofScopes = siteRole && sitePermissions({ role: "guest", grants: [], denies: [], siteRole }, permissionsAt(site, permissions))
    if (!siteRole || !ofScopes) return { role: undefined, held: new Set() }
    // The permissions of a creator who has left no longer limit the key.
    const creator = by.created_by === null ? undefined : await membershipOf(statements, site.organization_id, by.created_by)
    if (!creator) return { role: siteRole, held: ofScopes }
    const { role, held } = await memberGranting(statements, site, creator.user_id)
    return { role: role && isAbove(siteRole, role) ? role : siteRole, held: held.intersection(ofScopes) }
  }
  async function memberGranting(statements: Statements, site: Site, by: number): Promise<Granter> {
    const [member, siteRole] = [await membershipOf(statements, site.organization_id, by), await siteRoleOf(statements, site.id, by)]
    const standing = member && { ...member, ...(siteRole && { siteRole }) }
    const held = standing && permissionsOnSite(standing, permissionsAt(site, permissions))
    if (!held?.has("members:write")) throw missingPermission("members:write")
    return { role: roleOnSite(standing!), held } // a user with a permission has a role
  }
  /**
   * Throws `forbidden` if the change grants a permission that the caller lacks. Without a site role the role in the organization
   * applies.
   */
  function refuseGain(
    site: Site,
    member: Standing,
    rows: { before?: SiteRole | undefined; after?: SiteRole },
    held: ReadonlySet<string>,
  ): void {
    const { role, grants, denies } = member
    const [before, after] = [rows.before, rows.after].map((siteRole) =>
      sitePermissions({ role, grants, denies, ...(siteRole && { siteRole }) }, permissionsAt(site, permissions)),
    )
    refuseUnheldPermissions(after!.difference(before!), held)
  }

  async function refuseGiving(statements: Statements, site: Site, role: SiteRole, by: Giver): Promise<void> {
    const { role: own, held } = await granterOf(statements, site, by)
    refuseHigher(role, own)
    refuseGain(site, { role: "guest", grants: [], denies: [] }, { after: role }, held)
  }

  return {
    list: (site) => listSiteMembers(catalog, site.id),
    get: (site, user) => rowOf(catalog, site, user),
    put: (site, user, body, by, alongside) =>
      catalog.transaction(async (statements) => {
        const member = await memberOf(statements, site.organization_id, parseId(user) ?? 0)
        if (!member) throw userNotFound()
        const { role } = parseSiteMember(body)
        const { role: own, held } = await granterOf(statements, site, by)
        refuseHigher(role, own)
        const before = await find(statements, site, user)
        if (before && isAbove(before.role, own))
          throw new AppError("forbidden", "You can't change a member whose role on this site is above your own.")
        if (before?.role === role) return before
        refuseGain(site, member, { before: before?.role, after: role }, held)
        await putSiteMember(statements, {
          siteId: site.id,
          userId: member.user_id,
          role,
          by: typeof by === "number" ? by : by.created_by,
          now: clock.now(),
        })
        if (
          !before &&
          member.role === "guest" &&
          (await countGuests(statements, site.organization_id, site.id)) > ORGANIZATION.guestsPerSite
        )
          throw tooManyGuests()
        await sessions.renewAll(statements, member.user_id)
        const after = await rowOf(statements, site, user)
        await alongside?.(statements, { ...(before && { before }), after })
        return after
      }),
    async remove(site, user, by, alongside) {
      await catalog.transaction(async (statements) => {
        const before = await rowOf(statements, site, user)
        const { role: own, held } = await granterOf(statements, site, by)
        if (own === undefined || isAbove(before.role, own))
          throw new AppError("forbidden", "You can't change a member whose role on this site is above your own.")
        // Without the site role the organization role applies again. A caller who is limited on this site must not lift a limit,
        // neither their own nor another user's.
        const member = await memberOf(statements, site.organization_id, before.user_id)
        if (member && isAbove(member.role, before.role) && isAbove(member.role, own))
          throw new AppError("forbidden", "You can't remove this site role, because the member's organization role is above your own.")
        if (member) refuseGain(site, member, { before: before.role }, held)
        await deleteSiteMember(statements, site.id, before.user_id)
        await sessions.renewAll(statements, before.user_id)
        await alongside?.(statements, { before })
      })
    },
    refuseGiving,
    canGive: (statements, site, role, by) =>
      refuseGiving(statements, site, role, by).then(
        () => true,
        (error) => {
          if (error instanceof AppError && error.code === "forbidden") return false
          throw error
        },
      ),
    async refuseStranger(site, user) {
      if (!(await membershipOf(catalog, site.organization_id, parseId(user) ?? 0))) throw userNotFound()
    },
  }
}

/** Throws `forbidden` for a role above the own one. */
function refuseHigher(role: SiteRole, own: Rank | undefined): asserts own is Rank {
  if (own === undefined || isAbove(role, own)) throw new AppError("forbidden", "You can't assign a role above your own.")
}
