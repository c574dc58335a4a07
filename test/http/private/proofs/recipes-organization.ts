import { ORGANIZATION } from "../../../../src/domain/limits.ts"
import { fresh, type Json, type Scene } from "../scene.ts"
import type { Recipe } from "./recipes.ts"
import { PROVIDER, THINGS } from "./things.ts"

/** One whose mail was sent long enough ago. */
async function waitingInvitation(scene: Scene): Promise<string | number> {
  const id = await THINGS.invitation_id!(scene)
  await scene.world.instance.app.instance.accounts.background.settled()
  scene.world.instance.clock.advance(ORGANIZATION.invitationPauseMs)
  return id
}

const secretOf = (answer: Json): string[] => [answer.key]

/** Below `/organizations`, and what of it sites show. */
export const ORGANIZATION_RECIPES: Readonly<Record<string, Recipe>> = {
  "POST /organizations": () => ({
    body: { name: fresh("Made") },
    deed: { action: "accounts.organization.create", target: ["organization"], organization: "made" },
  }),
  "PATCH /organizations/{organization}": ({ organization }) => ({
    body: { name: fresh("Name") },
    deed: { action: "accounts.organization.update", target: ["organization", organization] },
  }),
  "DELETE /organizations/{organization}": async (scene) => {
    await scene.moveApart()
    const { name } = await scene.prepare(await scene.boss(), "GET", `/organizations/${scene.organization}`)
    return {
      body: { confirm: name },
      deed: { action: "accounts.organization.delete", target: ["organization", scene.organization] },
    }
  },
  "POST /organizations/{organization}/sites": () => ({
    body: { name: fresh("Site"), hosts: [`${fresh("host")}.example`] },
    deed: { action: "sites.site.create", target: ["site"], site: "made" },
  }),
  "POST /organizations/{organization}/transfer-ownership": async (scene) => {
    await scene.moveApart()
    const { id } = await scene.somebody({ role: "viewer" })
    return {
      body: { user_id: id },
      deed: { action: "accounts.organization.transfer", target: ["organization", scene.organization] },
    }
  },

  "POST /organizations/{organization}/domains": () => ({
    body: { domain: `${fresh("mail")}.example` },
    deed: { action: "accounts.mail_domain.create", target: ["mail_domain"] },
  }),
  "DELETE /organizations/{organization}/domains/{domain_id}": () => ({
    deed: { action: "accounts.mail_domain.delete", target: ["mail_domain"] },
  }),
  "POST /organizations/{organization}/domains/{domain_id}/verify": () => ({
    refused: { status: 409, code: "domain_not_verified" },
    silent: "No name server knows a domain of these tests; the row is looked at where the records are given.",
  }),

  "POST /organizations/{organization}/providers": () => ({
    body: PROVIDER,
    deed: { action: "accounts.provider.create", target: ["provider"], secrets: () => [PROVIDER.client_secret] },
  }),
  "PATCH /organizations/{organization}/providers/{provider_id}": () => ({
    body: { name: fresh("Provider"), client_secret: "another secret" },
    deed: { action: "accounts.provider.update", target: ["provider"], secrets: () => ["another secret"] },
  }),
  "DELETE /organizations/{organization}/providers/{provider_id}": () => ({
    deed: { action: "accounts.provider.delete", target: ["provider"] },
  }),
  "POST /organizations/{organization}/providers/{provider_id}/test": () => ({ silent: "It only asks the provider." }),

  "PATCH /organizations/{organization}/members/{user}": () => ({
    body: { denies: ["export:read"] },
    deed: { action: "accounts.member.update", target: ["user"] },
  }),
  "DELETE /organizations/{organization}/members/{user}": () => ({ deed: { action: "accounts.member.remove", target: ["user"] } }),
  "POST /organizations/{organization}/members/invite": () => ({
    body: { email: `${fresh("new")}@example.com`, role: "viewer" },
    deed: { action: "accounts.invitation.create", target: ["invitation"] },
  }),
  "POST /organizations/{organization}/invitations/{invitation_id}/resend": async (scene) => ({
    ids: { invitation_id: await waitingInvitation(scene) },
    deed: { action: "accounts.invitation.resend", target: ["invitation"] },
  }),
  "DELETE /organizations/{organization}/invitations/{invitation_id}": () => ({
    deed: { action: "accounts.invitation.delete", target: ["invitation"] },
  }),

  "POST /organizations/{organization}/api-keys": () => ({
    body: { name: fresh("Key"), scopes: ["stats:read"], site_access: "all" },
    deed: { action: "accounts.api_key.create", target: ["api_key"], secrets: secretOf },
  }),
  "PATCH /organizations/{organization}/api-keys/{api_key_id}": () => ({
    body: { name: fresh("Key") },
    deed: { action: "accounts.api_key.update", target: ["api_key"] },
  }),
  "DELETE /organizations/{organization}/api-keys/{api_key_id}": () => ({
    deed: { action: "accounts.api_key.revoke", target: ["api_key"] },
  }),
  "POST /organizations/{organization}/api-keys/{api_key_id}/rotate": () => ({
    body: { grace_hours: 1 },
    deed: { action: "accounts.api_key.rotate", target: ["api_key"], secrets: secretOf },
  }),
  "POST /sites/{site}/api-keys": () => ({
    body: { name: fresh("Key"), scopes: ["stats:read"] },
    deed: { action: "accounts.api_key.create", target: ["api_key"], secrets: secretOf, site: null },
  }),
  "PUT /sites/{site}/members/{user}": () => ({
    body: { role: "editor" },
    deed: { action: "accounts.site_member.put", target: ["user"] },
  }),
  "DELETE /sites/{site}/members/{user}": async (scene) => {
    const { id } = await scene.somebody({ role: "guest", siteRole: "viewer" })
    return { ids: { user: id }, deed: { action: "accounts.site_member.remove", target: ["user", id] } }
  },
}
