import type { AnyElysia } from "elysia"
import type { PluginRoutes } from "../../plugin/load.ts"
import { privateRouter } from "../../web/router.ts"
import { type AuthorizeOptions, createAuthorize } from "./authorize.ts"
import { type MeAccountOptions, meAccountRoutes } from "./me/account.ts"
import { type MeFactorsOptions, meFactorRoutes } from "./me/factors.ts"
import { type MeOptions, meRoutes } from "./me/me.ts"
import { mePasskeyRoutes } from "./me/passkeys.ts"
import { type SessionRoutesOptions, sessionRoutes } from "./me/session.ts"
import { type MeSessionsOptions, meSessionRoutes } from "./me/sessions.ts"
import { type MembershipRoutesOptions, membershipRoutes } from "./organizations/memberships.ts"
import { privateReferenceRoutes, type ReferenceOptions } from "./reference.ts"
import { type OidcRoutesOptions, oidcRoutes } from "./sign-in/oidc.ts"
import { type RecoveryRoutesOptions, recoveryRoutes } from "./sign-in/recovery.ts"
import { type SetupRoutesOptions, setupRoutes } from "./sign-in/setup.ts"
import { type SignInRoutesOptions, signInRoutes } from "./sign-in/sign-in.ts"
import { type SiteAreasGroup, siteAreaRoutes } from "./sites/site-areas.ts"

export interface PrivateOptions
  extends PluginRoutes,
    Omit<AuthorizeOptions, "cookie">,
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
    SiteAreasGroup {}

/** Everything below `/api/private` that the core answers: for people who are signed in, by session alone. */
export function privateRoutes(options: PrivateOptions): AnyElysia[] {
  const authorize = createAuthorize(options)
  const router = privateRouter(authorize)
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
    ...options.mountPlugins({ authorize, addressOf: options.addressOf }),
  ]
}
