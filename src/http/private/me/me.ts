import { Elysia } from "elysia"
import { MeResponse, type OwnUserResponse } from "../../../domain/account.ts"
import type { User } from "../../../domain/user.ts"
import type { Access } from "../../../services/access/access.ts"
import type { Organizations } from "../../../services/organizations/organizations.ts"
import type { Factors, SecondFactors } from "../../../services/sign-in/second-factors.ts"
import type { Person } from "../../../services/sign-in/sessions.ts"
import type { PrivateRouter } from "../../../web/router.ts"
import { NoQuery } from "../../public/requests.ts"

export interface MeOptions {
  access: Access
  secondFactors: SecondFactors
  organizations: Pick<Organizations, "mayCreate">
  /** Returns the enabled plugins. */
  features(): readonly string[]
}

/** Creates the route that returns the signed-in user with all permissions. */
export const meRoutes = (router: PrivateRouter, options: MeOptions) =>
  new Elysia({ prefix: "/api/private/me" }).use(router).get("", ({ user, session }) => toMeResponse({ user, session }, options), {
    self: true,
    query: NoQuery,
    response: { 200: MeResponse },
    detail: { summary: "Get the signed-in user with their permissions", tags: ["me"] },
  })

export async function toMeResponse(person: Person, options: MeOptions): Promise<MeResponse> {
  const { access, secondFactors, features } = options
  const { organizations, sites } = await access.standing(person)
  const { impersonator_email, impersonation_mode, expires_at } = person.session
  return {
    user: toOwnUserResponse(person.user, await secondFactors.of(person.user)),
    organizations: organizations.map(({ organization, role, permissions }) => ({
      id: organization.id,
      name: organization.name,
      role,
      policy: organization.policy,
      permissions: [...permissions],
    })),
    sites: sites.map(({ site, role, permissions }) => ({
      id: site.id,
      name: site.name,
      organization_id: site.organization_id,
      role,
      permissions: [...permissions],
    })),
    features: [...features()],
    makes_organizations: options.organizations.mayCreate(person.user),
    ...(impersonation_mode && {
      impersonation: { by: impersonator_email ?? "", mode: impersonation_mode, expires_at: new Date(expires_at).toISOString() },
    }),
  }
}

export function toOwnUserResponse(user: User, mfa: Factors): OwnUserResponse {
  const { id, email, name, is_instance_admin, email_verified_at, locale, time_format, theme, shortcuts, start_page, version } = user
  const choices = { locale, time_format, theme, shortcuts, start_page }
  return { id, email, email_verified: email_verified_at !== null, name, is_instance_admin, mfa, ...choices, version }
}
