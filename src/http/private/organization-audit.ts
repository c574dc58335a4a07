import { type Static, Type as t } from "@sinclair/typebox"
import { Elysia } from "elysia"
import { instantText } from "../../domain/moment.ts"
import type { PrivateRouter } from "../../plugin/router.ts"
import { AUDIT_PARAMETERS, type AuditList, readAuditFilters } from "../../services/audit-list.ts"
import { privatePage, readPaging } from "../../services/paging.ts"
import { Id, Instant, Listed, ListQuery } from "./tagged.ts"

const Words = t.Union([t.String(), t.Null()])
const Whole = t.Union([t.Integer(), t.Null()])

/** A row of the log, as this list and that of the instance answer one. */
export const AuditRowShown = t.Object(
  {
    id: Id,
    at: Instant,
    actor_kind: t.String(),
    actor_id: Whole,
    actor_email: t.String(),
    impersonator_id: Whole,
    impersonator_email: Words,
    action: t.String(),
    target_type: t.String(),
    target_id: t.String(),
    target_label: t.String(),
    organization_id: Whole,
    site_id: Whole,
    outcome: t.String(),
    ip_prefix: t.String(),
    user_agent: t.String(),
    request_id: t.String(),
    changes: t.Any({ description: "By field: before and after" }),
  },
  { title: "AuditRow" },
)

type AuditRow = Awaited<ReturnType<AuditList["list"]>>[number]

const shownAuditRow = ({ at, ...row }: AuditRow): Static<typeof AuditRowShown> => ({ ...row, at: instantText(at) })

export interface OrganizationAuditOptions {
  auditList: AuditList
}

/** What happened in an organization, newest first. */
export const organizationAuditRoutes = (router: PrivateRouter, { auditList }: OrganizationAuditOptions) =>
  new Elysia({ prefix: "/api/private/organizations/:organization/audit" }).use(router).get(
    "",
    async ({ organization, query }) => {
      const paging = readPaging(`audit/${organization.id}`, query, AUDIT_PARAMETERS, readAuditFilters)
      const filters = { ...paging.filters, organizationId: organization.id }
      const page = await privatePage(
        paging,
        (limit) => auditList.list(filters, paging.after, limit),
        () => auditList.count(filters),
      )
      return { ...page, data: page.data.map(shownAuditRow) }
    },
    {
      canOrganization: "audit:read",
      query: ListQuery,
      response: { 200: Listed(AuditRowShown) },
      detail: { summary: "Who changed what", tags: ["organizations"] },
    },
  )
