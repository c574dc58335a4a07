import { type Static, Type as t } from "@sinclair/typebox"
import { Elysia } from "elysia"
import type { User } from "../../../domain/user.ts"
import type { Access } from "../../../services/access/access.ts"
import type { Organizations } from "../../../services/organizations/organizations.ts"
import type { Factors, SecondFactors } from "../../../services/sign-in/second-factors.ts"
import type { Person } from "../../../services/sign-in/sessions.ts"
import type { PrivateRouter } from "../../../web/router.ts"
import { NoQuery } from "../../public/requests.ts"

const Names = t.Array(t.String())
const Choice = t.Union([t.String(), t.Null()])

export const OwnUserResponse = t.Object({
  id: t.Integer(),
  email: t.String(),
  email_verified: t.Boolean(),
  name: t.String(),
  is_instance_admin: t.Boolean(),
  mfa: t.Object({ totp: t.Boolean(), passkeys: t.Integer(), recovery_codes_left: t.Integer() }),
  locale: Choice,
  time_format: Choice,
  theme: Choice,
  shortcuts: t.Boolean(),
  start_page: Choice,
  version: t.Integer(),
})

const MeResponse = t.Object({
  user: OwnUserResponse,
  organizations: t.Array(t.Object({ id: t.Integer(), name: t.String(), role: t.String(), policy: t.Any(), permissions: Names })),
  sites: t.Array(t.Object({ id: t.Integer(), name: t.String(), organization_id: t.Integer(), role: t.String(), permissions: Names })),
  features: Names,
  makes_organizations: t.Boolean({ description: "Whether the user can create organizations on this instance." }),
  impersonation: t.Optional(t.Object({ by: t.String(), mode: t.String(), expires_at: t.String() })),
})

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

export async function toMeResponse(person: Person, options: MeOptions): Promise<Static<typeof MeResponse>> {
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

export function toOwnUserResponse(user: User, mfa: Factors): Static<typeof OwnUserResponse> {
  const { id, email, name, is_instance_admin, email_verified_at, locale, time_format, theme, shortcuts, start_page, version } = user
  const choices = { locale, time_format, theme, shortcuts, start_page }
  return { id, email, email_verified: email_verified_at !== null, name, is_instance_admin, mfa, ...choices, version }
}
