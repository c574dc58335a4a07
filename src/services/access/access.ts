import { AppError, siteNotFound } from "../domain/error.ts"
import { parseId } from "../domain/id.ts"
import type { Organization, Role } from "../domain/organization.ts"
import {
  organizationPermissions,
  type Permissions,
  permissionsOnSite,
  type Rank,
  roleOnSite,
  type Standing,
  sitePermissions,
} from "../domain/permission.ts"
import type { Site } from "../domain/site.ts"
import type { Catalog, Statements } from "../store/catalog/catalog.ts"
import { type Membership, membershipOf, membershipsOf, siteRoleOf, siteRolesOf } from "../store/catalog/memberships.ts"
import { organizationById } from "../store/catalog/organizations.ts"
import type { Person } from "./sessions.ts"
import type { Sites } from "./sites.ts"
import { type SsoRule, ssoRequired } from "./sso-rule.ts"

/** What somebody may do on one site. (Aliases: routes cannot be given an interface.) */
export type SiteAccess = {
  site: Site
  role: Rank
  permissions: ReadonlySet<string>
}

/** What somebody may do in one organization. */
export type OrganizationAccess = {
  organization: Organization
  role: Role
  permissions: ReadonlySet<string>
}

/**
 * Who may do what. Nothing of it is remembered from one request to the next, so that a change of a role holds at once. What
 * somebody may not see does not exist for them: `site_not_found`, `organization_not_found`. Of an organization whose members have
 * to come by an identity provider nothing is reached by a session that was opened otherwise, before or since: `sso_required`.
 */
export interface Access {
  onSite(person: Person, id: string | undefined): Promise<SiteAccess>
  /** The same of a site that was deleted and can still be brought back. */
  onDeletedSite(person: Person, id: string | undefined): Promise<SiteAccess>
  onOrganization(person: Person, id: string | undefined): Promise<OrganizationAccess>
  /** All organizations of a user, and all sites a user can see, by id. Throws `sso_required` where nothing else is left. */
  all(person: Person): Promise<Reached>
  /** The same with those that want another way in, where the user may do nothing by this session. */
  standing(person: Person): Promise<Reached>
  /** After a change of how members come in, in its transaction: throws `provider_required` where whoever makes it would be out. */
  refuseOwnLockOut(person: Person, organizationId: number, statements: Statements): Promise<void>
}

interface Reached {
  organizations: OrganizationAccess[]
  sites: SiteAccess[]
}

interface AccessOptions {
  catalog: Catalog
  sites: Pick<Sites, "directory" | "list" | "deleted">
  permissions: Permissions
  sso: Pick<SsoRule, "letsIn">
}

export function createAccess({ catalog, sites, permissions, sso }: AccessOptions): Access {
  async function membership({ user, session }: Person, organizationId: number): Promise<Membership | undefined> {
    if (session.organization_id !== null && session.organization_id !== organizationId) return undefined
    return membershipOf(catalog, organizationId, user.id)
  }

  const siteAccess = (site: Site, standing: Standing, permitted = sitePermissions): SiteAccess | undefined => {
    const role = roleOnSite(standing)
    return role && { site, role, permissions: permitted(standing, permissions) }
  }
  const organizationAccess = (organization: Organization, { role, grants, denies }: Membership): OrganizationAccess => ({
    organization,
    role,
    permissions: organizationPermissions({ role, grants, denies }, permissions),
  })

  async function accessTo(person: Person, site: Site | undefined): Promise<SiteAccess> {
    const member = site && (await membership(person, site.organization_id))
    const siteRole = member && (await siteRoleOf(catalog, site.id, person.user.id))
    const access = member && siteAccess(site, { ...member, ...(siteRole && { siteRole }) }, permissionsOnSite)
    if (!access?.permissions.has("site:read")) throw siteNotFound()
    await refuseOtherWay(person, access.site.organization_id)
    return access
  }

  async function refuseOtherWay(person: Person, organizationId: number): Promise<void> {
    if (!(await sso.letsIn(person, organizationId))) throw ssoRequired()
  }

  async function reach(person: Person): Promise<Reached & { shut: OrganizationAccess[] }> {
    const only = person.session.organization_id
    const members = (await membershipsOf(catalog, person.user.id)).filter(
      ({ organization_id }) => only === null || organization_id === only,
    )
    const rows = new Map((await siteRolesOf(catalog, person.user.id)).map(({ site_id, role }) => [site_id, role]))
    const organizations: OrganizationAccess[] = []
    const shut: OrganizationAccess[] = []
    const visible: SiteAccess[] = []
    for (const member of members) {
      const organization = await organizationById(catalog, member.organization_id)
      if (!organization) continue
      if (!(await sso.letsIn(person, organization.id))) {
        shut.push({ organization, role: member.role, permissions: new Set() })
        continue
      }
      organizations.push(organizationAccess(organization, member))
      for (const site of await sites.list(member.organization_id)) {
        const siteRole = rows.get(site.id)
        const access = siteAccess(site, { ...member, ...(siteRole && { siteRole }) })
        if (access?.permissions.has("site:read")) visible.push(access)
      }
    }
    return { organizations, shut, sites: visible.sort((a, b) => a.site.id - b.site.id) }
  }

  return {
    async refuseOwnLockOut(person, organizationId, statements) {
      if (await sso.letsIn(person, organizationId, statements)) return
      throw new AppError(
        "provider_required",
        "You would be out at once: sign in through the identity provider first, or be an owner among those who may use a password.",
      )
    },
    onSite: (person, idText) => accessTo(person, sites.directory.byId(parseId(idText) ?? 0)),
    onDeletedSite: async (person, idText) => accessTo(person, await sites.deleted(parseId(idText) ?? 0)),
    async onOrganization(person, idText) {
      const id = parseId(idText) ?? 0
      const [organization, member] = [await organizationById(catalog, id), await membership(person, id)]
      if (!organization || !member || member.role === "guest") throw organizationNotFound()
      await refuseOtherWay(person, id)
      return organizationAccess(organization, member)
    },
    async all(person) {
      const { organizations, sites, shut } = await reach(person)
      if (organizations.length === 0 && shut.length > 0) throw ssoRequired()
      return { organizations, sites }
    },
    async standing(person) {
      const { organizations, sites, shut } = await reach(person)
      return { organizations: [...organizations, ...shut].sort((a, b) => a.organization.id - b.organization.id), sites }
    },
  }
}

export const organizationNotFound = () => new AppError("organization_not_found", "No organization with this id is visible to you")
