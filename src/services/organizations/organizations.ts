import type { Clock } from "../../domain/clock.ts"
import { AppError } from "../../domain/error.ts"
import { type Organization, parseConfirmation, parseOrganization, patchOrganization } from "../../domain/organization.ts"
import { siteDeleted } from "../../domain/product-event.ts"
import type { User } from "../../domain/user.ts"
import { type Expected, refuseOtherVersion, refuseStaleBody } from "../../domain/version.ts"
import type { Catalog, Statements } from "../../store/catalog/catalog.ts"
import { insertMembership, listOwnerIds } from "../../store/catalog/members.ts"
import {
  deleteOrganization,
  insertOrganization,
  listOrganizations,
  type OrganizationCounts,
  organizationById,
  organizationCounts,
  updateOrganization,
} from "../../store/catalog/organizations.ts"
import { organizationNotFound } from "../access/access.ts"
import type { Handover } from "../access/handover.ts"
import type { Connections } from "../connections/connections.ts"
import type { Alongside } from "../definitions/site-things.ts"
import type { Outbox } from "../jobs/outbox.ts"
import { inSlices } from "../lists/paging.ts"
import type { InstanceSettings } from "../settings/settings.ts"
import { refuseLockOut } from "../sign-in/sso-rule.ts"
import type { Sites } from "../sites/sites.ts"

/** Options of a change to an organization. */
export interface OrganizationTerms {
  expected?: Expected
  alongside?: Alongside<Organization>
  /** Returns the organization as the API shows it, for the `version_conflict` error. */
  current?(organization: Organization): object
}

export interface Organizations {
  /** Creates an organization for the command line. Throws `validation_failed`. */
  create(body: unknown, terms?: { owner?: number; alongside?: Alongside<Organization> }): Promise<Organization>
  /** Creates the first organization for the command line. Returns undefined if an organization exists. Throws `validation_failed`. */
  createFirst(body: unknown, alongside?: Alongside<Organization>): Promise<Organization | undefined>
  /** Creates an organization that the user owns. Throws `forbidden` if only instance admins can create organizations. */
  createOwned(owner: Pick<User, "id" | "is_instance_admin">, body: unknown, alongside?: Alongside<Organization>): Promise<Organization>
  /** Whether a user may create organizations on this instance. */
  mayCreate(user: Pick<User, "is_instance_admin">): boolean
  /** Returns all organizations by ascending id. */
  list(): Promise<Organization[]>
  get(id: number): Promise<Organization | undefined>
  counts(id: number): Promise<OrganizationCounts>
  /**
   * Applies a merge patch to the organization and its policy. Throws `validation_failed`, `precondition_failed`, `version_conflict`, and
   * `provider_required` if `sso_only` is turned on and members have no identity provider to sign in with.
   */
  update(id: number, patch: unknown, terms?: OrganizationTerms): Promise<Organization>
  /**
   * Deletes an organization with its sites and API keys. The recorded data is removed later, like that of deleted sites. The body confirms
   * the organization's name: `{confirm}`. Throws `validation_failed`, `precondition_failed`.
   */
  remove(id: number, body: unknown, by: number | null, terms?: OrganizationTerms): Promise<void>
}

interface OrganizationsOptions {
  catalog: Catalog
  clock: Pick<Clock, "now">
  settings: Pick<InstanceSettings, "get">
  sites: Pick<Sites, "forget" | "directory">
  outbox: Pick<Outbox, "write">
  handover: Pick<Handover, "organizationEnds">
  connections: Pick<Connections, "revocationOf">
  hasInstanceProvider: boolean
}

export function createOrganizations({
  catalog,
  clock,
  settings,
  sites,
  outbox,
  handover,
  connections,
  hasInstanceProvider,
}: OrganizationsOptions): Organizations {
  /** Returns the policy of a new organization, with the instance's default lifetime of API keys. */
  const firstPolicy = () => ({ key_default_days: settings.get("key_default_days") })

  function make(body: unknown, owner: number | undefined, alongside: Alongside<Organization> | undefined): Promise<Organization> {
    const { name } = parseOrganization(body)
    return catalog.transaction((statements) => insert(statements, name, owner, alongside))
  }
  async function insert(statements: Statements, name: string, owner?: number, alongside?: Alongside<Organization>): Promise<Organization> {
    const now = clock.now()
    const organization = await insertOrganization(statements, { name, policy: firstPolicy(), now })
    if (owner !== undefined) await insertMembership(statements, { organizationId: organization.id, userId: owner, role: "owner", now })
    await alongside?.(statements, { after: organization })
    return organization
  }

  const mayCreate: Organizations["mayCreate"] = ({ is_instance_admin }) =>
    is_instance_admin || settings.get("organization_creation") === "users"

  return {
    mayCreate,
    create: async (body, { owner, alongside } = {}) => make(body, owner, alongside),
    async createFirst(body, alongside) {
      const { name } = parseOrganization(body)
      return catalog.transaction(async (statements) => {
        const [present] = await listOrganizations(statements, { after: 0, limit: 1 })
        return present ? undefined : insert(statements, name, undefined, alongside)
      })
    },
    async createOwned(owner, body, alongside) {
      if (!mayCreate(owner))
        throw new AppError("forbidden", "Only instance admins can create organizations on this instance.", {
          required_permission: "instance_admin",
        })
      return make(body, owner.id, alongside)
    },
    list: () => inSlices((slice) => listOrganizations(catalog, slice)),
    get: (id) => organizationById(catalog, id),
    counts: (id) => organizationCounts(catalog, id, clock.now()),
    update: (id, patch, { expected, alongside, current = (organization: Organization): object => organization } = {}) =>
      catalog.transaction(async (statements) => {
        const before = await organizationById(statements, id)
        if (!before) throw organizationNotFound()
        const { version, ...fields } = patchOrganization(before, patch, new Set(await listOwnerIds(statements, id)))
        refuseOtherVersion(before, expected)
        refuseStaleBody(before, version, current)
        if (Bun.deepEquals({ ...before, ...fields }, before)) return before
        const after = await updateOrganization(statements, id, fields, clock.now())
        if (after.policy.sso_only && !before.policy.sso_only) await refuseLockOut(statements, id, hasInstanceProvider)
        await alongside?.(statements, { before, after })
        return after
      }),
    async remove(id, body, by, { expected, alongside } = {}) {
      const revoke = await connections.revocationOf(id)
      await catalog.transaction(async (statements) => {
        const before = await organizationById(statements, id)
        if (!before) throw organizationNotFound()
        parseConfirmation(body, before.name)
        refuseOtherVersion(before, expected)
        const hidden = await deleteOrganization(statements, id, { now: clock.now(), by })
        await handover.organizationEnds(statements, id)
        for (const siteId of hidden) {
          const site = sites.directory.byId(siteId)
          if (site) await outbox.write(statements, siteDeleted(site, "deleted"))
        }
        await alongside?.(statements, { before })
        return hidden
      }, sites.forget)
      // The providers may be slow or unreachable, and nothing here depends on them.
      void revoke()
    },
  }
}
