import { domainOf, type IdentityProvider } from "../../domain/identity-provider.ts"
import type { User } from "../../domain/user.ts"
import type { Statements } from "../../store/catalog/catalog.ts"
import { verifiedDomain } from "../../store/catalog/oidc.ts"
import type { Guest, OpenSession, SignedIn } from "../sign-in/session.ts"
import { type SsoRule, ssoRequired } from "../sign-in/sso-rule.ts"
import type { OidcClaims } from "./exchange.ts"
import type { ApplyRoleMap } from "./roles.ts"

/** A sign-in that an identity provider has authenticated. */
export interface OidcArrival {
  provider: IdentityProvider
  claims: OidcClaims
  guest: Guest
}

/** Completes the sign-in of a known user and applies the roles that the provider's groups map to. Throws `sso_required`. */
export type EnterByOidc = (statements: Statements, user: User, arrival: OidcArrival) => Promise<SignedIn>

export interface OidcEntryOptions {
  applyRoleMap: ApplyRoleMap
  sso: Pick<SsoRule, "isRequired">
  openSession: OpenSession
}

export function oidcEntry({ applyRoleMap, sso, openSession }: OidcEntryOptions): EnterByOidc {
  return async (statements, user, { provider, claims, guest }) => {
    await applyRoleMap(statements, provider, { user, groups: claims.groups, actor: guest.actor })
    const { organizationId } = provider
    if (organizationId === null && (await sso.isRequired(user, "instance_provider", statements))) throw ssoRequired()
    const entry = { method: "oidc", mfa: claims.mfa, provider: provider.id, ...(organizationId !== null && { organizationId }) } as const
    return openSession(statements, user, entry, guest)
  }
}

/** Whether a provider may authenticate an email address. An organization's provider may only for domains that the organization has verified. */
export async function mayVouchFor(statements: Statements, { organizationId }: IdentityProvider, email: string): Promise<boolean> {
  return organizationId === null || (await verifiedDomain(statements, domainOf(email)))?.organization_id === organizationId
}
