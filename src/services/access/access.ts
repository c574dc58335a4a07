import { AppError, siteNotFound } from "../../domain/error.ts"
import { parseId } from "../../domain/id.ts"
import type { Organization, Role } from "../../domain/organization.ts"
import {
  allPermissions,
  organizationPermissions,
  type Permissions,
  permissionsAt,
  permissionsOnSite,
  type Rank,
  roleOnSite,
  type Standing,
  sitePermissions,
} from "../../domain/permission.ts"
import type { Site, SiteDirectory } from "../../domain/site.ts"
import type { Catalog, Statements } from "../../store/catalog/catalog.ts"
import {
  listMembers,
  listSiteRoles,
  type Membership,
  membershipOf,
  membershipsOf,
  siteRoleOf,
  siteRolesOf,
} from "../../store/catalog/members.ts"
import { organizationById } from "../../store/catalog/organizations.ts"
import { userById } from "../../store/catalog/users.ts"
import type { Person } from "../sign-in/sessions.ts"
import { type SsoRule, ssoRequired } from "../sign-in/sso-rule.ts"

/** A user's role and permissions on a site. A type alias, because routes cannot be given an interface. */
export type SiteAccess = {
  site: Site
  role: Rank
  permissions: ReadonlySet<string>
}

/** A user's role and permissions in an organization. */
export type OrganizationAccess = {
  organization: Organization
  role: Role
  permissions: ReadonlySet<string>
}

/**
 * Authorization of users. Nothing is cached between requests, so that a change of a role takes effect immediately. A site or organization
 * that a user may not see is reported as missing: `site_not_found`, `organization_not_found`. If an organization requires single sign-on,
 * other sessions get `sso_required`.
 */
export interface Access {
  onSite(person: Person, id: string | undefined): Promise<SiteAccess>
  /** Returns the access to a deleted site that can still be restored. */
  onDeletedSite(person: Person, id: string | undefined): Promise<SiteAccess>
  /**
   * Returns the present access of an active user to a site, undefined without any. For what runs in a user's name without a session:
   * the rules for sign-ins do not apply.
   */
  ofUser(userId: number, siteId: number): Promise<SiteAccess | undefined>
  /** Returns the permissions that a user has on every site of an organization by role, without those of site-specific roles. */
  byRole(userId: number, organizationId: number): Promise<ReadonlySet<string>>
  /** Returns the email addresses of the active members with a permission on a site, or on every site of the organization. */
  holders(organizationId: number, permission: string, siteId?: number): Promise<string[]>
  onOrganization(person: Person, id: string | undefined): Promise<OrganizationAccess>
  /** Returns the organizations and visible sites of a user by id. Throws `sso_required` if single sign-on is required for all of them. */
  all(person: Person): Promise<Reached>
  /** Returns the same with the organizations that require single sign-on, in which this session has no permissions. */
  standing(person: Person): Promise<Reached>
  /** Throws `provider_required` if a change to the sign-in rules locks out its author. Call it after the change, in its transaction. */
  refuseOwnLockOut(person: Person, organizationId: number, statements: Statements): Promise<void>
}

interface Reached {
  organizations: OrganizationAccess[]
  sites: SiteAccess[]
}

interface AccessOptions {
  catalog: Catalog
  sites: {
    directory: Pick<SiteDirectory, "byId">
    list(organizationId: number): Promise<Site[]>
    deleted(id: number): Promise<Site>
  }
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
    return role && { site, role, permissions: permitted(standing, permissionsAt(site, permissions)) }
  }
  const organizationAccess = (organization: Organization, { role, grants, denies }: Membership): OrganizationAccess => ({
    organization,
    role,
    permissions: organizationPermissions({ role, grants, denies }, permissions),
  })

  async function siteAccessOf(site: Site, member: Membership): Promise<SiteAccess | undefined> {
    const siteRole = await siteRoleOf(catalog, site.id, member.user_id)
    const access = siteAccess(site, { ...member, ...(siteRole && { siteRole }) }, permissionsOnSite)
    return access?.permissions.has("site:read") ? access : undefined
  }

  async function accessTo(person: Person, site: Site | undefined): Promise<SiteAccess> {
    const member = site && (await membership(person, site.organization_id))
    const access = member && (await siteAccessOf(site, member))
    if (!access) throw siteNotFound()
    await requireSso(person, access.site.organization_id)
    return access
  }

  async function requireSso(person: Person, organizationId: number): Promise<void> {
    if (!(await sso.letsIn(person, organizationId))) throw ssoRequired()
  }

  async function reach(person: Person): Promise<Reached & { needingSso: OrganizationAccess[] }> {
    const only = person.session.organization_id
    const members = (await membershipsOf(catalog, person.user.id)).filter(
      ({ organization_id }) => only === null || organization_id === only,
    )
    const rows = new Map((await siteRolesOf(catalog, person.user.id)).map(({ site_id, role }) => [site_id, role]))
    const organizations: OrganizationAccess[] = []
    const needingSso: OrganizationAccess[] = []
    const visible: SiteAccess[] = []
    for (const member of members) {
      const organization = await organizationById(catalog, member.organization_id)
      if (!organization) continue
      if (!(await sso.letsIn(person, organization.id))) {
        needingSso.push({ organization, role: member.role, permissions: new Set() })
        continue
      }
      organizations.push(organizationAccess(organization, member))
      for (const site of await sites.list(member.organization_id)) {
        const siteRole = rows.get(site.id)
        const access = siteAccess(site, { ...member, ...(siteRole && { siteRole }) })
        if (access?.permissions.has("site:read")) visible.push(access)
      }
    }
    return { organizations, needingSso, sites: visible.sort((a, b) => a.site.id - b.site.id) }
  }

  return {
    async refuseOwnLockOut(person, organizationId, statements) {
      if (await sso.letsIn(person, organizationId, statements)) return
      throw new AppError(
        "provider_required",
        "This change would lock you out of the organization. Sign in with the identity provider first, or add yourself to the owners who may use a password.",
      )
    },
    onSite: (person, idText) => accessTo(person, sites.directory.byId(parseId(idText) ?? 0)),
    onDeletedSite: async (person, idText) => accessTo(person, await sites.deleted(parseId(idText) ?? 0)),
    async ofUser(userId, siteId) {
      const site = sites.directory.byId(siteId)
      const isActive = (await userById(catalog, userId))?.status === "active"
      const member = site && isActive && (await membershipOf(catalog, site.organization_id, userId))
      return member ? siteAccessOf(site, member) : undefined
    },
    async byRole(userId, organizationId) {
      const member = await membershipOf(catalog, organizationId, userId)
      return member ? allPermissions(member, permissions) : new Set()
    },
    async holders(organizationId, permission, siteId) {
      const roles = siteId === undefined ? [] : (await listSiteRoles(catalog, organizationId)).filter((row) => row.site_id === siteId)
      const siteRoles = new Map(roles.map(({ user_id, role }) => [user_id, role]))
      const members = await listMembers(catalog, organizationId)
      return members.flatMap(({ email, status, user_id, role, grants, denies }) => {
        const siteRole = siteRoles.get(user_id)
        const held = sitePermissions({ role, grants, denies, ...(siteRole && { siteRole }) }, permissions)
        return status === "active" && held.has(permission) ? [email] : []
      })
    },
    async onOrganization(person, idText) {
      const id = parseId(idText) ?? 0
      const [organization, member] = [await organizationById(catalog, id), await membership(person, id)]
      if (!organization || !member || member.role === "guest") throw organizationNotFound()
      await requireSso(person, id)
      return organizationAccess(organization, member)
    },
    async all(person) {
      const { organizations, sites, needingSso } = await reach(person)
      if (organizations.length === 0 && needingSso.length > 0) throw ssoRequired()
      return { organizations, sites }
    },
    async standing(person) {
      const { organizations, sites, needingSso } = await reach(person)
      return { organizations: [...organizations, ...needingSso].sort((a, b) => a.organization.id - b.organization.id), sites }
    },
  }
}

export const organizationNotFound = () =>
  new AppError("organization_not_found", "This organization doesn't exist or you don't have access to it.")
