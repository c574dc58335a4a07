import { Type as t } from "@sinclair/typebox"
import { AppError, refuseFaults } from "../domain/error.ts"
import { fault, inspect, isObject } from "../domain/shape.ts"
import type { Site } from "../domain/site.ts"
import { SiteInput } from "../domain/site-input.ts"
import type { Access } from "./access.ts"
import type { Person } from "./sessions.ts"
import type { Terms } from "./site-things.ts"
import type { Sites } from "./sites.ts"

/** What moves a site as a whole from one owner to another. */
export interface SiteMoves {
  /**
   * To another organization, of which the person is an owner as well. Throws `validation_failed`, `organization_not_found` for
   * one they cannot see, `forbidden`, `limit_reached`.
   */
  transfer(site: Site, body: unknown, person: Person, terms?: Terms<Site>): Promise<Site>
}

interface SiteMovesOptions {
  sites: Pick<Sites, "transfer">
  access: Pick<Access, "onOrganization">
}

const TransferInput = t.Object(
  { organization_id: t.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER }) },
  { additionalProperties: false },
)

export const createSiteMoves = ({ sites, access }: SiteMovesOptions): SiteMoves => ({
  async transfer(site, body, person, terms) {
    const { fields, faults } = inspect(TransferInput, body)
    refuseFaults(faults)
    const { organization, role } = await access.onOrganization(person, String(fields.organization_id))
    if (role !== "owner")
      throw new AppError("forbidden", "This needs an owner of both organizations.", { required_permission: "org:delete" })
    return organization.id === site.organization_id ? site : sites.transfer(site.id, organization.id, terms)
  },
})

/** Of a patch the fields that are changed here. What `shown` says beside them may be sent back as it is. */
export function readSitePatch(site: Site, patch: unknown, shown: readonly string[]): unknown {
  if (!isObject(patch)) return patch
  const { name, hosts, ...others } = patch
  const settings = Object.keys(others).filter((field) => Object.hasOwn(SiteInput.properties, field))
  // The present value of a setting is known by the same name.
  const changed = settings.filter((field) => !Bun.deepEquals(others[field], site[field as "timezone"]))
  const unknown = Object.keys(others).filter((field) => !shown.includes(field))
  refuseFaults([
    ...changed.map((field) => fault(`/${field}`, "read_only", "is changed in the settings of the site")),
    ...unknown.map((field) => fault(`/${field.slice(0, 100)}`, "unknown_field", "does not exist")),
  ])
  return { ...(Object.hasOwn(patch, "name") && { name }), ...(Object.hasOwn(patch, "hosts") && { hosts }) }
}
