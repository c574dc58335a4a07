import {
  AnyQuery,
  ArgumentReader,
  etagOf,
  failures,
  NoQuery,
  operationsOf,
  Paged,
  pageOfAll,
  parameter,
  queryWith,
  readNothing,
  readPlainPaging,
  refuseArguments,
  Sent,
  type Site,
} from "#plugin"
import { authorOf, type IntegrationsHost } from "../area.ts"
import { lastDue } from "./calendar.ts"
import { factsOf } from "./chat.ts"
import { contentOf } from "./content.ts"
import { emailOf } from "./email.ts"
import { ReportInput, ReportPatch } from "./input.ts"
import { unsubscribeUrl } from "./recipients.ts"
import { REPORT_KINDS, SECTIONS } from "./report.ts"
import type { Reports, Viewer } from "./reports.ts"
import { reportNotFound } from "./reports.ts"
import { PreviewResponse, ReportResponse, SentResponse } from "./responses.ts"
import { reportById } from "./rows.ts"
import { dashboardUrl } from "./sending.ts"
import { wordedReport } from "./wording.ts"

const operation = operationsOf("integrations")
const PREVIEW = queryWith({
  kind: parameter.choice(REPORT_KINDS, "Kind of the report. Default: `weekly`."),
  sections: parameter.text(`Sections, separated by commas: ${SECTIONS.join(", ")}. Default: all.`),
})

const CHANGE_FAILURES = ["mail_unavailable", "too_many_recipients"] as const

/** Routes for reports. Members without further permissions use them for their own subscriptions. */
export function reportRoutes(host: IntegrationsHost, reports: Reports) {
  const find = async ({ id }: Record<string, string | undefined>, { site }: { site?: Site }): Promise<void> => {
    const report = /^[1-9]\d{0,14}$/.test(id ?? "") ? await reportById(host.db, Number(id)) : undefined
    if (report?.site_id !== site?.id) throw reportNotFound()
  }
  const can = { permission: "site:read", find }
  const viewerOf = ({ site, user, permissions }: Viewer): Viewer => ({ site, user, permissions })

  return host
    .siteRouter()
    .get(
      "/reports",
      async ({ query: given, ...call }) => {
        const viewer = viewerOf(call)
        const page = await pageOfAll(readPlainPaging(`reports/${call.site.id}`, given), await reports.list(viewer))
        return { ...page, data: await Promise.all(page.data.map((report) => reports.show(viewer, report))) }
      },
      {
        can: "site:read",
        query: AnyQuery,
        response: { 200: Paged(ReportResponse) },
        detail: operation("List reports. Without `integrations:read`, only your own subscriptions"),
      },
    )
    .get(
      "/reports/preview",
      async ({ site, query: given, request }) => {
        const reader = new ArgumentReader(given, ["kind", "sections"])
        const kind = reader.choice("kind", REPORT_KINDS) ?? "weekly"
        const sections = readSections(reader)
        refuseArguments(reader, "text")
        const { period } = lastDue({ kind, hour: 0 }, site.timezone, host.now())
        const content = await contentOf(host, site, { kind, sections }, period, { signal: request.signal })
        const report = wordedReport(content, site.name)
        const links = { dashboard: dashboardUrl(host, site, content), unsubscribe: unsubscribeUrl(host, "preview") }
        const facts = factsOf(content).map(({ label, value }) => ({ label, value: Array.isArray(value) ? value.join("\n") : value }))
        return {
          ...emailOf(report, links),
          report,
          chat: { title: report.title, facts },
          period: { from: period.from, to: period.to },
          mail_available: host.mail.isOn(),
        }
      },
      {
        can: "site:read",
        query: PREVIEW,
        response: { 200: PreviewResponse },
        detail: operation("Preview a report over the last whole period"),
      },
    )
    .post(
      "/reports",
      ({ actor, ...call }) =>
        host.create(
          call,
          (body, alongside) =>
            reports.create({ ...viewerOf(call), actor, userId: call.user.id }, body, (statements, created) =>
              alongside(statements, { after: created }),
            ),
          (created: ReportResponse) => ({
            location: `/api/private/sites/${call.site.id}/reports/${created.id}`,
            etag: etagOf(created),
            body: created,
          }),
        ),
      {
        can: "site:read",
        query: NoQuery,
        body: Sent,
        response: { 201: ReportResponse },
        detail: {
          ...operation("Create a report. Without `integrations:write`, only for your own verified address", ReportInput),
          ...failures("forbidden", ...CHANGE_FAILURES, "limit_reached"),
        },
      },
    )
    .get(
      "/reports/:id",
      async ({ params, set, ...call }) => {
        const report = await reports.get(viewerOf(call), params.id)
        set.headers.etag = etagOf(report)
        return reports.show(viewerOf(call), report)
      },
      { can, query: NoQuery, response: { 200: ReportResponse }, detail: { ...operation("Get a report"), ...failures("report_not_found") } },
    )
    .patch(
      "/reports/:id",
      async ({ params, body, set, ...call }) => {
        const report = await reports.update({ ...authorOf(call), ...viewerOf(call) }, params.id, body.value)
        set.headers.etag = etagOf(report)
        return reports.show(viewerOf(call), report)
      },
      {
        can,
        query: NoQuery,
        body: Sent,
        response: { 200: ReportResponse },
        detail: {
          ...operation("Change a report. People who have unsubscribed are asked to confirm", ReportPatch),
          ...failures("report_not_found", "forbidden", ...CHANGE_FAILURES, "version_conflict", "precondition_failed"),
        },
      },
    )
    .delete(
      "/reports/:id",
      async ({ params, status, ...call }) => {
        await reports.remove({ ...authorOf(call), ...viewerOf(call) }, params.id)
        return status(204, undefined)
      },
      {
        can: { ...can, read: readNothing },
        query: NoQuery,
        detail: { ...operation("Delete a report"), ...failures("report_not_found", "forbidden", "precondition_failed") },
      },
    )
    .post(
      "/reports/:id/send-now",
      async ({ params, ...call }) => {
        const { queued, period } = await reports.sendNow({ ...authorOf(call), ...viewerOf(call) }, params.id)
        return { queued, period: { from: period.from, to: period.to } }
      },
      {
        can: { ...can, read: readNothing },
        query: NoQuery,
        response: { 200: SentResponse },
        detail: {
          ...operation("Send a report over the last whole period now"),
          ...failures("report_not_found", "forbidden", "mail_unavailable", "rate_limited"),
        },
      },
    )
}

function readSections(reader: ArgumentReader): (typeof SECTIONS)[number][] {
  const text = reader.text("sections", { min: 1, max: 200 })
  if (text === undefined) return [...SECTIONS]
  const names = text.split(",")
  const unknown = names.find((name) => !SECTIONS.some((section) => section === name))
  if (unknown !== undefined)
    reader.refuse({ pointer: "/sections", code: "invalid_choice", detail: "sections must name sections.", allowed: SECTIONS })
  return SECTIONS.filter((section) => names.includes(section))
}
