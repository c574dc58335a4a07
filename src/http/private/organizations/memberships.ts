import type { AnyElysia } from "elysia"
import type { PrivateRouter } from "../../../web/router.ts"
import type { creation } from "../../public/creation.ts"
import { type ApiKeyRoutesOptions, apiKeyRoutes, scopeRoutes } from "./api-keys.ts"
import { type OrganizationAuditOptions, organizationAuditRoutes } from "./audit.ts"
import { acceptanceRoutes, type InvitationRoutesOptions, invitationRoutes } from "./invitations.ts"
import { type MailDomainRoutesOptions, mailDomainRoutes } from "./mail-domains.ts"
import { type MemberRoutesOptions, memberRoutes } from "./members.ts"
import { type OrganizationRoutesOptions, organizationRoutes } from "./organizations.ts"
import { type ProviderRoutesOptions, providerRoutes } from "./providers.ts"
import { siteApiKeyRoutes } from "./site-api-keys.ts"
import { type SiteMemberRoutesOptions, siteMemberRoutes } from "./site-members.ts"

export interface MembershipRoutesOptions
  extends OrganizationRoutesOptions,
    OrganizationAuditOptions,
    MailDomainRoutesOptions,
    ProviderRoutesOptions,
    Omit<MemberRoutesOptions, "organizations">,
    SiteMemberRoutesOptions,
    InvitationRoutesOptions,
    ApiKeyRoutesOptions {
  create: ReturnType<typeof creation>
}

/** Creates the routes for organizations, their members and their API keys. */
export const membershipRoutes = (router: PrivateRouter, options: MembershipRoutesOptions): AnyElysia[] => [
  organizationRoutes(router, options.create, options),
  organizationAuditRoutes(router, options),
  mailDomainRoutes(router, options.create, options),
  providerRoutes(router, options.create, options),
  memberRoutes(router, options),
  siteMemberRoutes(router, options),
  invitationRoutes(router, options.create, options),
  acceptanceRoutes(router, options),
  scopeRoutes(router),
  apiKeyRoutes(router, options.create, options),
  siteApiKeyRoutes(router, options.create, options),
]
