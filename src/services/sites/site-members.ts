import type { Clock } from "../domain/clock.ts"
import { AppError } from "../domain/error.ts"
import { parseId } from "../domain/id.ts"
import { ORGANIZATION } from "../domain/limits.ts"
import { isAbove, lacking, parseSiteMember, refuseUnheld, tooManyGuests, userNotFound } from "../domain/membership.ts"
import { type Permissions, permissionsOnSite, roleOnSite, type SiteRole, type Standing, sitePermissions } from "../domain/permission.ts"
import type { Site } from "../domain/site.ts"
import type { Catalog, Statements } from "../store/catalog/catalog.ts"
import { countGuests, listSiteMembers, memberOf, type SiteMember } from "../store/catalog/members.ts"
import { deleteSiteMember, membershipOf, putSiteMember, siteRoleOf } from "../store/catalog/memberships.ts"
import type { Sessions } from "./sessions.ts"
import type { Alongside } from "./site-things.ts"

/**
 * Rows of a site: they raise or limit a member there, and are all that a guest has. A user who is no member of the site's
 * organization, or has no row, is `user_not_found`.
 */
export interface SiteMembers {
  /** By user. */
  list(site: Site): Promise<SiteMember[]>
  get(site: Site, user: string | undefined): Promise<SiteMember>
  /** Gives a row or changes it. Throws `validation_failed`, `forbidden` for a role above the giver's, `limit_reached`. */
  put(site: Site, user: string | undefined, body: unknown, by: number, alongside?: Alongside<SiteMember>): Promise<SiteMember>
  remove(site: Site, user: string | undefined, by: number, alongside?: Alongside<SiteMember>): Promise<void>
  /** Throws `user_not_found` for somebody who could not have a row. */
  refuseStranger(site: Site, user: string | undefined): Promise<void>
}

interface SiteMembersOptions {
  /** Whose rights change goes on under another token. */
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
  async function have(statements: Statements, site: Site, user: string | undefined): Promise<SiteMember> {
    const row = await find(statements, site, user)
    if (!row) throw userNotFound()
    return row
  }
  /** Who gives, as they stand on the site now. Throws `forbidden`. */
  async function giverOf(statements: Statements, site: Site, by: number) {
    const [member, siteRole] = [await membershipOf(statements, site.organization_id, by), await siteRoleOf(statements, site.id, by)]
    const standing = member && { ...member, ...(siteRole && { siteRole }) }
    const held = standing && permissionsOnSite(standing, permissions)
    if (!held?.has("members:write")) throw lacking("members:write")
    return { role: roleOnSite(standing!), held } // whoever holds something stands somewhere
  }
  /** Without a row the role in the organization holds. */
  function refuseGain(member: Standing, rows: { before?: SiteRole | undefined; after?: SiteRole }, held: ReadonlySet<string>): void {
    const { role, grants, denies } = member
    const [before, after] = [rows.before, rows.after].map((siteRole) =>
      sitePermissions({ role, grants, denies, ...(siteRole && { siteRole }) }, permissions),
    )
    refuseUnheld(after!.difference(before!), held)
  }

  return {
    list: (site) => listSiteMembers(catalog, site.id),
    get: (site, user) => have(catalog, site, user),
    put: (site, user, body, by, alongside) =>
      catalog.transaction(async (statements) => {
        const member = await memberOf(statements, site.organization_id, parseId(user) ?? 0)
        if (!member) throw userNotFound()
        const { role } = parseSiteMember(body)
        const { role: own, held } = await giverOf(statements, site, by)
        if (own === undefined || isAbove(role, own)) throw new AppError("forbidden", "The role is above your own.")
        const before = await find(statements, site, user)
        if (before && isAbove(before.role, own)) throw new AppError("forbidden", "The member's role on the site is above your own.")
        if (before?.role === role) return before
        refuseGain(member, { before: before?.role, after: role }, held)
        await putSiteMember(statements, { siteId: site.id, userId: member.user_id, role, by, now: clock.now() })
        if (
          !before &&
          member.role === "guest" &&
          (await countGuests(statements, site.organization_id, site.id)) > ORGANIZATION.guestsPerSite
        )
          throw tooManyGuests()
        await sessions.renewAll(statements, member.user_id)
        const after = await have(statements, site, user)
        await alongside?.(statements, { ...(before && { before }), after })
        return after
      }),
    async remove(site, user, by, alongside) {
      await catalog.transaction(async (statements) => {
        const before = await have(statements, site, user)
        const { role: own, held } = await giverOf(statements, site, by)
        if (own === undefined || isAbove(before.role, own))
          throw new AppError("forbidden", "The member's role on the site is above your own.")
        // Without the row the role in the organization holds again: whoever is limited here must not lift a limit, their own or another's.
        const member = await memberOf(statements, site.organization_id, before.user_id)
        if (member && isAbove(member.role, before.role) && isAbove(member.role, own))
          throw new AppError("forbidden", "Without the row the member's role on the site is above your own.")
        if (member) refuseGain(member, { before: before.role }, held)
        await deleteSiteMember(statements, site.id, before.user_id)
        await sessions.renewAll(statements, before.user_id)
        await alongside?.(statements, { before })
      })
    },
    async refuseStranger(site, user) {
      if (!(await membershipOf(catalog, site.organization_id, parseId(user) ?? 0))) throw userNotFound()
    },
  }
}
