import { Elysia } from "elysia"
import { AuditRowResponse, formatAuditRow } from "../../../domain/audit.ts"
import { AUDIT_PARAMETERS, type AuditList, readAuditFilters } from "../../../services/audit/audit-list.ts"
import { privatePage, readPaging } from "../../../services/lists/paging.ts"
import type { PrivateRouter } from "../../../web/router.ts"
import { Listed, ListQuery } from "../tagged.ts"

export interface OrganizationAuditOptions {
  auditList: AuditList
}

/** Creates the route for the audit log of an organization, newest entries first. */
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
      return { ...page, data: page.data.map(formatAuditRow) }
    },
    {
      canOrganization: "audit:read",
      query: ListQuery,
      response: { 200: Listed(AuditRowResponse) },
      detail: { summary: "List the audit log of an organization", tags: ["organizations"] },
    },
  )
