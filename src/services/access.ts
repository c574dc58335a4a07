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
import type { Catalog } from "../store/catalog/catalog.ts"
import { type Membership, membershipOf, membershipsOf, siteRoleOf, siteRolesOf } from "../store/catalog/memberships.ts"
import { organizationById } from "../store/catalog/organizations.ts"
import type { Person } from "./sessions.ts"
import type { Sites } from "./sites.ts"

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
 * somebody may not see does not exist for them: `site_not_found`, `organization_not_found`.
 */
export interface Access {
  onSite(person: Person, id: string | undefined): Promise<SiteAccess>
  /** The same of a site that was deleted and can still be brought back. */
  onDeletedSite(person: Person, id: string | undefined): Promise<SiteAccess>
  onOrganization(person: Person, id: string | undefined): Promise<OrganizationAccess>
  /** All organizations of a user, and all sites a user can see, by id. */
  all(person: Person): Promise<{ organizations: OrganizationAccess[]; sites: SiteAccess[] }>
}

interface AccessOptions {
  catalog: Catalog
  sites: Pick<Sites, "directory" | "list" | "deleted">
  permissions: Permissions
}

export function createAccess({ catalog, sites, permissions }: AccessOptions): Access {
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
    return access
  }

  return {
    onSite: (person, idText) => accessTo(person, sites.directory.byId(parseId(idText) ?? 0)),
    onDeletedSite: async (person, idText) => accessTo(person, await sites.deleted(parseId(idText) ?? 0)),
    async onOrganization(person, idText) {
      const id = parseId(idText) ?? 0
      const [organization, member] = [await organizationById(catalog, id), await membership(person, id)]
      if (!organization || !member || member.role === "guest") throw organizationNotFound()
      return organizationAccess(organization, member)
    },
    async all(person) {
      const only = person.session.organization_id
      const members = (await membershipsOf(catalog, person.user.id)).filter(
        ({ organization_id }) => only === null || organization_id === only,
      )
      const rows = new Map((await siteRolesOf(catalog, person.user.id)).map(({ site_id, role }) => [site_id, role]))
      const organizations: OrganizationAccess[] = []
      const visible: SiteAccess[] = []
      for (const member of members) {
        const organization = await organizationById(catalog, member.organization_id)
        if (!organization) continue
        organizations.push(organizationAccess(organization, member))
        for (const site of await sites.list(member.organization_id)) {
          const siteRole = rows.get(site.id)
          const access = siteAccess(site, { ...member, ...(siteRole && { siteRole }) })
          if (access?.permissions.has("site:read")) visible.push(access)
        }
      }
      return { organizations, sites: visible.sort((a, b) => a.site.id - b.site.id) }
    },
  }
}

export const organizationNotFound = () => new AppError("organization_not_found", "No organization with this id is visible to you")
