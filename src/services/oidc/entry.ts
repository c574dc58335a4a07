import { domainOf, type IdentityProvider } from "../domain/identity-provider.ts"
import type { User } from "../domain/user.ts"
import type { Statements } from "../store/catalog/catalog.ts"
import { provedDomain } from "../store/catalog/mail-domains.ts"
import type { OidcClaims } from "./oidc-exchange.ts"
import type { ApplyRoleMap } from "./oidc-roles.ts"
import type { Guest, OpenSession, SignedIn } from "./sign-in-session.ts"
import { type SsoRule, ssoRequired } from "./sso-rule.ts"

/** Somebody at the door whom a provider has vouched for. */
export interface OidcArrival {
  provider: IdentityProvider
  claims: OidcClaims
  guest: Guest
}

/** Lets a user in whom the arrival has turned out to be, with the roles that the groups at the provider give. Throws `sso_required`. */
export type EnterByOidc = (statements: Statements, user: User, arrival: OidcArrival) => Promise<SignedIn>

export interface OidcEntryOptions {
  applyRoleMap: ApplyRoleMap
  sso: Pick<SsoRule, "isWanted">
  openSession: OpenSession
}

export function oidcEntry({ applyRoleMap, sso, openSession }: OidcEntryOptions): EnterByOidc {
  return async (statements, user, { provider, claims, guest }) => {
    await applyRoleMap(statements, provider, { user, groups: claims.groups, actor: guest.actor })
    const { organizationId } = provider
    if (organizationId === null && (await sso.isWanted(user, "instance_provider", statements))) throw ssoRequired()
    const entry = { method: "oidc", mfa: claims.mfa, provider: provider.id, ...(organizationId !== null && { organizationId }) } as const
    return openSession(statements, user, entry, guest)
  }
}

/** A provider of an organization speaks for addresses of domains that the organization has proved, and for no others. */
export async function speaksFor(statements: Statements, { organizationId }: IdentityProvider, email: string): Promise<boolean> {
  return organizationId === null || (await provedDomain(statements, domainOf(email)))?.organization_id === organizationId
}
