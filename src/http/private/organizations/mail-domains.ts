import { Elysia } from "elysia"
import type { AuditEntry } from "../../../domain/audit.ts"
import { DomainInput, DomainResponse, type MailDomain, proofOf } from "../../../domain/identity-provider.ts"
import { instantText } from "../../../domain/moment.ts"
import { Listed } from "../../../domain/response.ts"
import { type Audit, recorded } from "../../../services/audit/audit.ts"
import { pageOfAll, readPlainPaging } from "../../../services/lists/paging.ts"
import type { MailDomains } from "../../../services/oidc/mail-domains.ts"
import { readNothing } from "../../../web/body.ts"
import type { PrivateRouter } from "../../../web/router.ts"
import type { creation } from "../../public/requests.ts"
import { NoQuery, Sent, takes } from "../../public/requests.ts"
import { ListQuery, refuses } from "../responses.ts"

export interface MailDomainRoutesOptions {
  mailDomains: MailDomains
  audit: Audit
}

const operation = (summary: string) => ({ summary, tags: ["organizations"] })
const ORG_WRITE = "org:write"

/** Creates the routes for the email domains that an organization verifies. */
export function mailDomainRoutes(router: PrivateRouter, create: ReturnType<typeof creation>, options: MailDomainRoutesOptions) {
  const { mailDomains, audit } = options
  return new Elysia({ prefix: "/api/private/organizations/:organization/domains" })
    .use(router)
    .get(
      "",
      async ({ organization, query }) => {
        const paging = readPlainPaging(`domains/${organization.id}`, query)
        const page = await pageOfAll(paging, await mailDomains.list(organization.id))
        return { ...page, data: page.data.map(toDomainResponse) }
      },
      { canOrganization: ORG_WRITE, query: ListQuery, response: { 200: Listed(DomainResponse) }, detail: operation("List domains") },
    )
    .post(
      "",
      ({ organization, user, actor, ...call }) =>
        create<MailDomain, DomainResponse>(
          { ...call, user },
          (body, also) => mailDomains.create(organization.id, body, recorded(audit, actor, auditEntry("create"), also)),
          (domain) => ({ location: `/api/private/organizations/${organization.id}/domains/${domain.id}`, body: toDomainResponse(domain) }),
        ),
      {
        canOrganization: ORG_WRITE,
        query: NoQuery,
        body: Sent,
        response: { 201: DomainResponse },
        detail: { ...operation("Add a domain"), ...refuses("domain_taken"), ...takes(DomainInput) },
      },
    )
    .post(
      "/:id/verify",
      async ({ organization, params, actor }) =>
        toDomainResponse(await mailDomains.verify(organization.id, params.id, recorded(audit, actor, auditEntry("verify")))),
      {
        canOrganization: { permission: ORG_WRITE, read: readNothing },
        query: NoQuery,
        response: { 200: DomainResponse },
        detail: { ...operation("Verify a domain"), ...refuses("domain_not_verified", "domain_taken", "outbound_disabled") },
      },
    )
    .delete(
      "/:id",
      async ({ organization, params, actor, status }) => {
        await mailDomains.remove(organization.id, params.id, recorded(audit, actor, auditEntry("delete")))
        return status(204, undefined)
      },
      {
        canOrganization: { permission: ORG_WRITE, read: readNothing },
        query: NoQuery,
        detail: { ...operation("Remove a domain"), ...refuses("provider_required") },
      },
    )
}

const toDomainResponse = (domain: MailDomain): DomainResponse => ({
  id: domain.id,
  domain: domain.domain,
  record: { type: "TXT", name: domain.domain, value: proofOf(domain) },
  verified_at: domain.verified_at === null ? null : instantText(domain.verified_at),
  created_at: instantText(domain.created_at),
})

const auditEntry =
  (verb: string) =>
  ({ id, domain, organization_id }: MailDomain): AuditEntry => ({
    action: `accounts.mail_domain.${verb}`,
    target: { type: "mail_domain", id, label: domain },
    organizationId: organization_id,
  })
