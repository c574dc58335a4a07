import { Elysia } from "elysia"
import { AuditRowShown, shownAuditRow } from "../../domain/audit.ts"
import type { PrivateRouter } from "../../plugin/router.ts"
import { AUDIT_PARAMETERS, type AuditList, readAuditFilters } from "../../services/audit-list.ts"
import { privatePage, readPaging } from "../../services/paging.ts"
import { Listed, ListQuery } from "./tagged.ts"

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
