import { Type as t } from "@sinclair/typebox"
import { type AnyElysia, Elysia } from "elysia"
import type { PluginRoutes } from "../../plugin/load.ts"
import { type Authorize, type PrivateRouter, privateRouter } from "../../web/router.ts"
import type { OpenApiDocument } from "../openapi/document.ts"
import { type creation, NoQuery } from "../public/requests.ts"
import { type MeAccountOptions, meAccountRoutes } from "./me/account.ts"
import { type MeFactorsOptions, meFactorRoutes } from "./me/factors.ts"
import { type MeOptions, meRoutes } from "./me/me.ts"
import { mePasskeyRoutes } from "./me/passkeys.ts"
import { type SessionRoutesOptions, sessionRoutes } from "./me/session.ts"
import { type MeSessionsOptions, meSessionRoutes } from "./me/sessions.ts"
import { type ApiKeyRoutesOptions, apiKeyRoutes, scopeRoutes, siteApiKeyRoutes } from "./organizations/api-keys.ts"
import { acceptanceRoutes, type InvitationRoutesOptions, invitationRoutes } from "./organizations/invitations.ts"
import { type MailDomainRoutesOptions, mailDomainRoutes } from "./organizations/mail-domains.ts"
import { type MemberRoutesOptions, memberRoutes } from "./organizations/members.ts"
import {
  type OrganizationAuditOptions,
  type OrganizationRoutesOptions,
  organizationAuditRoutes,
  organizationRoutes,
} from "./organizations/organizations.ts"
import { type ProviderRoutesOptions, providerRoutes } from "./organizations/providers.ts"
import { type SiteMemberRoutesOptions, siteMemberRoutes } from "./organizations/site-members.ts"
import { type OidcRoutesOptions, oidcRoutes } from "./sign-in/oidc.ts"
import { type RecoveryRoutesOptions, recoveryRoutes } from "./sign-in/recovery.ts"
import { type SetupRoutesOptions, setupRoutes } from "./sign-in/setup.ts"
import { type SignInRoutesOptions, signInRoutes } from "./sign-in/sign-in.ts"
import type { SiteAreasGroup } from "./sites/site-areas.ts"
import { siteAreaRoutes } from "./sites/site-areas.ts"

export interface PrivateOptions
  extends Pick<PluginRoutes, "pluginRoutes">,
    Omit<MeOptions, "organizations">,
    SetupRoutesOptions,
    SignInRoutesOptions,
    RecoveryRoutesOptions,
    SessionRoutesOptions,
    MeAccountOptions,
    MeSessionsOptions,
    MeFactorsOptions,
    OidcRoutesOptions,
    MembershipRoutesOptions,
    ReferenceOptions,
    SiteAreasGroup {
  authorize: Authorize
}

/** Creates the routes below `/api/private`: those of the core, then those of the plugins. They accept sessions, never API keys. */
export function privateRoutes(options: PrivateOptions): AnyElysia[] {
  const router = privateRouter(options.authorize)
  return [
    setupRoutes(router, options),
    signInRoutes(router, options),
    recoveryRoutes(router, options),
    sessionRoutes(router, options),
    oidcRoutes(router, options),
    meRoutes(router, options),
    meAccountRoutes(router, options),
    meSessionRoutes(router, options),
    meFactorRoutes(router, options),
    mePasskeyRoutes(router, options),
    ...membershipRoutes(router, options),
    ...siteAreaRoutes(router, options),
    privateReferenceRoutes(router, options),
    ...options.pluginRoutes,
  ]
}

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

export interface ReferenceOptions {
  /** Creates the document. Called on the first request, when all routes are mounted. */
  describe(): OpenApiDocument
  /** Effective limits, in groups. */
  limits: object
}

/** Creates the routes that describe the private API. They require a session, so that strangers learn nothing about installed plugins. */
export function privateReferenceRoutes(router: PrivateRouter, { describe, limits }: ReferenceOptions) {
  let document: OpenApiDocument | undefined
  const shared = { signedIn: true, query: NoQuery, response: { 200: t.Object({}, { additionalProperties: true }) } } as const
  return new Elysia({ prefix: "/api/private" })
    .use(router)
    .get(
      "/openapi.json",
      () => {
        document ??= describe()
        return document
      },
      {
        ...shared,
        detail: { summary: "Get this description as an OpenAPI document", operationId: "getPrivateOpenApi", tags: ["documents"] },
      },
    )
    .get("/limits", () => limits, {
      ...shared,
      detail: { summary: "Get the effective limits. null means unlimited", operationId: "getLimits", tags: ["documents"] },
    })
}
