import { AppError } from "../domain/error.ts"
import { type PublicLinks, type ShareFields, strictestLinks } from "../domain/share.ts"
import type { Site } from "../domain/site.ts"
import type { Statements } from "../store/catalog/catalog.ts"
import { organizationById } from "../store/catalog/organizations.ts"
import type { InstanceSettings } from "./instance-settings.ts"

/** Which shared views a site may have. An organization may be stricter than the instance, and not the other way round. */
export const publicLinks =
  (settings: Pick<InstanceSettings, "get">) =>
  async (statements: Statements, site: Site): Promise<PublicLinks> => {
    const { policy } = (await organizationById(statements, site.organization_id))! // a site has one
    return strictestLinks(settings.get("public_links"), policy.public_links)
  }

export const isAllowed = (links: PublicLinks, hasPassword: boolean): boolean =>
  links === "allowed" || (links === "password_required" && hasPassword)

/** Throws `sharing_disabled`, `password_required`. */
export function refuseForbidden(links: PublicLinks, hasPassword: boolean): void {
  if (isAllowed(links, hasPassword)) return
  if (links === "off") throw new AppError("sharing_disabled", "The organization or the instance allows no shared views.")
  throw new AppError("password_required", "The organization or the instance allows shared views only with a password.")
}

/** The cookie of an unlocked view is not sent in frames. */
export function refuseEmbedded({ embed_origins }: ShareFields, hasPassword: boolean): void {
  if (hasPassword && embed_origins.length > 0)
    throw new AppError("embed_needs_no_password", "A view with a password cannot be embedded in other pages.")
}
