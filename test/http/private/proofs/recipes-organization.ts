import { ORGANIZATION } from "../../../../src/domain/limits.ts"
import { fresh, type Json, type Scene } from "../scene.ts"
import type { Recipe } from "./recipes.ts"
import { PROVIDER, THINGS } from "./things.ts"

/** An invitation whose last email is old enough to send it again. */
async function waitingInvitation(scene: Scene): Promise<string | number> {
  const id = await THINGS.invitation_id!(scene)
  await scene.world.instance.app.instance.accounts.background.settled()
  scene.world.instance.clock.advance(ORGANIZATION.invitationPauseMs)
  return id
}

const secretOf = (answer: Json): string[] => [answer.key]

/** Routes below `/organizations`, and their counterparts below `/sites`. */
export const ORGANIZATION_RECIPES: Readonly<Record<string, Recipe>> = {
  "POST /organizations": () => ({
    body: { name: fresh("Made") },
    auditEntry: { action: "accounts.organization.create", target: ["organization"], organization: "made" },
  }),
  "PATCH /organizations/{organization}": ({ organization }) => ({
    body: { name: fresh("Name") },
    auditEntry: { action: "accounts.organization.update", target: ["organization", organization] },
  }),
  "DELETE /organizations/{organization}": async (scene) => {
    await scene.moveApart()
    const { name } = await scene.prepare(await scene.organizationOwner(), "GET", `/organizations/${scene.organization}`)
    return {
      body: { confirm: name },
      auditEntry: { action: "accounts.organization.delete", target: ["organization", scene.organization] },
    }
  },
  "POST /organizations/{organization}/sites": () => ({
    body: { name: fresh("Site"), hosts: [`${fresh("host")}.example`] },
    auditEntry: { action: "sites.site.create", target: ["site"], site: "made" },
  }),
  "POST /organizations/{organization}/transfer-ownership": async (scene) => {
    await scene.moveApart()
    const { id } = await scene.createUser({ role: "viewer" })
    return {
      body: { user_id: id },
      auditEntry: { action: "accounts.organization.transfer", target: ["organization", scene.organization] },
    }
  },

  "POST /organizations/{organization}/domains": () => ({
    body: { domain: `${fresh("mail")}.example` },
    auditEntry: { action: "accounts.mail_domain.create", target: ["mail_domain"] },
  }),
  "DELETE /organizations/{organization}/domains/{domain_id}": () => ({
    auditEntry: { action: "accounts.mail_domain.delete", target: ["mail_domain"] },
  }),
  "POST /organizations/{organization}/domains/{domain_id}/verify": () => ({
    refused: { status: 409, code: "domain_not_verified" },
    silent: "The test domains have no DNS records; the entry is tested where records are provided.",
  }),

  "POST /organizations/{organization}/providers": () => ({
    body: PROVIDER,
    auditEntry: { action: "accounts.provider.create", target: ["provider"], secrets: () => [PROVIDER.client_secret] },
  }),
  "PATCH /organizations/{organization}/providers/{provider_id}": () => ({
    body: { name: fresh("Provider"), client_secret: "another secret" },
    auditEntry: { action: "accounts.provider.update", target: ["provider"], secrets: () => ["another secret"] },
  }),
  "DELETE /organizations/{organization}/providers/{provider_id}": () => ({
    auditEntry: { action: "accounts.provider.delete", target: ["provider"] },
  }),
  "POST /organizations/{organization}/providers/{provider_id}/test": () => ({ silent: "It only calls the provider." }),

  "PATCH /organizations/{organization}/members/{user}": () => ({
    body: { denies: ["export:read"] },
    auditEntry: { action: "accounts.member.update", target: ["user"] },
  }),
  "DELETE /organizations/{organization}/members/{user}": () => ({ auditEntry: { action: "accounts.member.remove", target: ["user"] } }),
  "POST /organizations/{organization}/members/invite": () => ({
    body: { email: `${fresh("new")}@example.com`, role: "viewer" },
    auditEntry: { action: "accounts.invitation.create", target: ["invitation"] },
  }),
  "POST /organizations/{organization}/invitations/{invitation_id}/resend": async (scene) => ({
    ids: { invitation_id: await waitingInvitation(scene) },
    auditEntry: { action: "accounts.invitation.resend", target: ["invitation"] },
  }),
  "DELETE /organizations/{organization}/invitations/{invitation_id}": () => ({
    auditEntry: { action: "accounts.invitation.delete", target: ["invitation"] },
  }),

  "POST /organizations/{organization}/api-keys": () => ({
    body: { name: fresh("Key"), scopes: ["stats:read"], site_access: "all" },
    auditEntry: { action: "accounts.api_key.create", target: ["api_key"], secrets: secretOf },
  }),
  "PATCH /organizations/{organization}/api-keys/{api_key_id}": () => ({
    body: { name: fresh("Key") },
    auditEntry: { action: "accounts.api_key.update", target: ["api_key"] },
  }),
  "DELETE /organizations/{organization}/api-keys/{api_key_id}": () => ({
    auditEntry: { action: "accounts.api_key.revoke", target: ["api_key"] },
  }),
  "POST /organizations/{organization}/api-keys/{api_key_id}/rotate": () => ({
    body: { grace_hours: 1 },
    auditEntry: { action: "accounts.api_key.rotate", target: ["api_key"], secrets: secretOf },
  }),
  "POST /sites/{site}/api-keys": () => ({
    body: { name: fresh("Key"), scopes: ["stats:read"] },
    auditEntry: { action: "accounts.api_key.create", target: ["api_key"], secrets: secretOf, site: null },
  }),
  "PUT /sites/{site}/members/{user}": () => ({
    body: { role: "editor" },
    auditEntry: { action: "accounts.site_member.put", target: ["user"] },
  }),
  "DELETE /sites/{site}/members/{user}": async (scene) => {
    const { id } = await scene.createUser({ role: "guest", siteRole: "viewer" })
    return { ids: { user: id }, auditEntry: { action: "accounts.site_member.remove", target: ["user", id] } }
  },
}
