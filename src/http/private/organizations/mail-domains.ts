import { type Static, Type as t } from "@sinclair/typebox"
import { Elysia } from "elysia"
import type { Deed } from "../../domain/audit.ts"
import { DomainInput, type MailDomain, proofOf } from "../../domain/mail-domain.ts"
import { instantText } from "../../domain/moment.ts"
import { leaveUnread } from "../../plugin/body.ts"
import type { PrivateRouter } from "../../plugin/router.ts"
import { type Audit, recorded } from "../../services/audit.ts"
import type { MailDomains } from "../../services/mail-domains.ts"
import { pageOfAll, readPlainPaging } from "../../services/paging.ts"
import type { creation } from "../public/creation.ts"
import { NoQuery, Sent, takes } from "../public/things.ts"
import { Id, Instant, Listed, ListQuery, refuses } from "./tagged.ts"

export interface MailDomainRoutesOptions {
  mailDomains: MailDomains
  audit: Audit
}

const DomainShown = t.Object(
  {
    id: Id,
    domain: t.String(),
    record: t.Object({ type: t.Literal("TXT"), name: t.String(), value: t.String() }, { description: "What the DNS must show" }),
    verified_at: t.Union([Instant, t.Null()]),
    created_at: Instant,
  },
  { title: "MailDomain" },
)
type DomainShown = Static<typeof DomainShown>

const says = (summary: string) => ({ summary, tags: ["organizations"] })
const ORG_WRITE = "org:write"

/** Domains of e-mail addresses that an organization proves to be its own. */
export function mailDomainRoutes(router: PrivateRouter, create: ReturnType<typeof creation>, options: MailDomainRoutesOptions) {
  const { mailDomains, audit } = options
  return new Elysia({ prefix: "/api/private/organizations/:organization/domains" })
    .use(router)
    .get(
      "",
      async ({ organization, query }) => {
        const paging = readPlainPaging(`domains/${organization.id}`, query)
        const page = await pageOfAll(paging, await mailDomains.list(organization.id))
        return { ...page, data: page.data.map(shownDomain) }
      },
      { canOrganization: ORG_WRITE, query: ListQuery, response: { 200: Listed(DomainShown) }, detail: says("List domains") },
    )
    .post(
      "",
      ({ organization, user, actor, ...call }) =>
        create<MailDomain, DomainShown>(
          { ...call, user },
          (body, also) => mailDomains.create(organization.id, body, recorded(audit, actor, deedOf("create"), also)),
          (domain) => ({ location: `/api/private/organizations/${organization.id}/domains/${domain.id}`, body: shownDomain(domain) }),
        ),
      {
        canOrganization: ORG_WRITE,
        query: NoQuery,
        body: Sent,
        response: { 201: DomainShown },
        detail: { ...says("Name a domain"), ...refuses("domain_taken"), ...takes(DomainInput) },
      },
    )
    .post(
      "/:id/verify",
      async ({ organization, params, actor }) =>
        shownDomain(await mailDomains.verify(organization.id, params.id, recorded(audit, actor, deedOf("verify")))),
      {
        canOrganization: { permission: ORG_WRITE, read: leaveUnread },
        query: NoQuery,
        response: { 200: DomainShown },
        detail: { ...says("Look for the TXT record"), ...refuses("domain_not_verified", "domain_taken", "outbound_disabled") },
      },
    )
    .delete(
      "/:id",
      async ({ organization, params, actor, status }) => {
        await mailDomains.remove(organization.id, params.id, recorded(audit, actor, deedOf("delete")))
        return status(204, undefined)
      },
      {
        canOrganization: { permission: ORG_WRITE, read: leaveUnread },
        query: NoQuery,
        detail: { ...says("Give a domain up"), ...refuses("provider_required") },
      },
    )
}

const shownDomain = (domain: MailDomain): DomainShown => ({
  id: domain.id,
  domain: domain.domain,
  record: { type: "TXT", name: domain.domain, value: proofOf(domain) },
  verified_at: domain.verified_at === null ? null : instantText(domain.verified_at),
  created_at: instantText(domain.created_at),
})

const deedOf =
  (verb: string) =>
  ({ id, domain, organization_id }: MailDomain): Deed => ({
    action: `accounts.mail_domain.${verb}`,
    target: { type: "mail_domain", id, label: domain },
    organizationId: organization_id,
  })
