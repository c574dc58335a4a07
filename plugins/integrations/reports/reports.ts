import { AppError, caseKey, type OwnStatements, parseId, refuseOtherVersion, refuseStaleBody, type Site } from "#plugin"
import type { Author, IntegrationsHost } from "../area.ts"
import { integrationError } from "../errors.ts"
import { nextDue } from "./calendar.ts"
import { readNewReport, readReportPatch } from "./input.ts"
import { changeRecipients, dropRecipient, keysOf, knownRecipients, openTokens } from "./recipients.ts"
import { LIMITS, type Report, stateOf } from "./report.ts"
import { type ReportResponse, reportResponse } from "./responses.ts"
import { deleteReport, insertReport, listRecipients, listReports, type ReportFields, reportById, updateReport } from "./rows.ts"
import type { Sending, SentNow } from "./sending.ts"
import { titleOf } from "./wording.ts"

/** A user who looks at reports. */
export interface Viewer {
  site: Site
  user: { id: number; email: string; email_verified_at: number | null }
  permissions: ReadonlySet<string>
}

export type ReportAuthor = Author & Viewer

/**
 * The reports of a site. Members without further permissions see and keep only their own subscriptions: those whose sole recipient is
 * their own verified address. Each change writes one audit entry in its transaction.
 */
export interface Reports {
  list(viewer: Viewer): Promise<Report[]>
  /** Throws `report_not_found`. */
  get(viewer: Viewer, id: string | undefined): Promise<Report>
  show(viewer: Viewer, report: Report): Promise<ReportResponse>
  create(author: ReportAuthor, body: unknown, alongside: Alongside): Promise<ReportResponse>
  update(author: ReportAuthor, id: string | undefined, body: unknown): Promise<Report>
  remove(author: ReportAuthor, id: string | undefined): Promise<void>
  /** Sends the last whole period again. Throws `rate_limited` within ten minutes. */
  sendNow(author: ReportAuthor, id: string | undefined): Promise<SentNow>
}

type Alongside = (statements: OwnStatements, created: ReportResponse) => Promise<void>

const WRITE = "integrations:write"

export function createReports(host: IntegrationsHost, sending: Sending): Reports {
  const { db, now } = host

  async function find(statements: OwnStatements, viewer: Viewer, named: string | undefined): Promise<Report> {
    const report = await reportById(statements, parseId(named) ?? 0)
    if (report?.site_id === viewer.site.id && isVisible(viewer, report)) return report
    throw reportNotFound()
  }
  async function findOwn(viewer: Viewer, named: string | undefined): Promise<Report> {
    const report = await find(db, viewer, named)
    refuseUnlessManaged(viewer, report)
    return report
  }

  const audit = (
    statements: OwnStatements,
    { actor, site }: Author,
    verb: string,
    report: Report,
    changes?: Record<string, readonly [unknown, unknown]>,
  ): Promise<void> =>
    host.audit.write(statements, actor, {
      action: `integrations.report.${verb}`,
      target: { type: "report", id: report.id, label: titleOf(report.kind, site.name) },
      organizationId: site.organization_id,
      siteId: site.id,
      ...(changes && { changes }),
    })

  async function refuseFull(statements: OwnStatements, { site, userId }: Author, isOwnSubscription: boolean): Promise<void> {
    const all = await listReports(statements, site.id)
    const [count, limit] = isOwnSubscription
      ? [all.filter(({ user_id }) => user_id === userId).length, LIMITS.perUser]
      : [all.filter(({ user_id }) => user_id === null).length, LIMITS.perSite]
    if (count < limit) return
    const detail = isOwnSubscription
      ? `You can have at most ${limit} subscriptions on a site.`
      : `A site can have at most ${limit} reports.`
    throw new AppError("limit_reached", detail, { limit, resource: "reports" })
  }

  function refuseWithoutMail({ channel }: Pick<Report, "channel">): void {
    if (channel === "email" && !host.mail.isOn())
      throw new AppError("mail_unavailable", "This instance can't send email, because no mail server is configured. Set smtp_host.")
  }

  function refuseSoon({ sent_now_at }: Report): void {
    const wait = (sent_now_at ?? 0) + LIMITS.sendNowMs - now()
    if (wait <= 0) return
    throw new AppError("rate_limited", "This report was sent less than ten minutes ago.", { retry_after: Math.ceil(wait / 1_000) })
  }

  const show: Reports["show"] = async (viewer, report) => {
    const { keyOf, byKey } = await knownRecipients(host, db, report)
    const states = report.recipients.map((address) => {
      const recipient = byKey.get(keyOf(address))
      return recipient ? stateOf(recipient) : "active"
    })
    return reportResponse(report, { states, canManage: canManage(viewer, report) })
  }

  return {
    show,
    list: async (viewer) => (await listReports(db, viewer.site.id)).filter((report) => isVisible(viewer, report)),
    get: (viewer, id) => find(db, viewer, id),

    async create(author, body, alongside) {
      const { site, userId } = author
      const fields = readNewReport(body)
      refuseUnlessManaged(author, fields)
      refuseWithoutMail(fields)
      const keyOf = await keysOf(host, site.id)
      const user_id = isOwn(author, fields) ? userId : null
      return db.transaction(async (statements) => {
        await refuseFull(statements, author, user_id !== null)
        const next_at = nextDue(fields, site.timezone, now())
        const report = await insertReport(statements, { ...fields, site_id: site.id, user_id, next_at, created_by: userId }, now())
        await changeRecipients(host, statements, {
          ...{ site, report, keyOf, before: [], after: report.recipients, tokens: new Map() },
        })
        await audit(statements, author, "create", report, { kind: [null, report.kind], channel: [null, report.channel] })
        const created = reportResponse(report, { states: [], canManage: true })
        await alongside(statements, created)
        return created
      })
    },

    async update(author, id, body) {
      const { site } = author
      const known = await findOwn(author, id)
      const { fields, version } = readReportPatch(body, known)
      refuseUnlessManaged(author, fields)
      if (fields.channel !== known.channel) refuseWithoutMail(fields)
      const shown = await show(author, known)
      const keyOf = await keysOf(host, site.id)
      const tokens = await openTokens(host, await listRecipients(db, known.id))
      return db.transaction(async (statements) => {
        const report = await find(statements, author, id)
        refuseStaleBody(report, version, () => shown)
        refuseOtherVersion(report, author.expected)
        const changes = changedFields(report, fields)
        if (Object.keys(changes).length === 0) return report
        const isPlanned = fields.kind === report.kind && fields.hour === report.hour && fields.enabled === report.enabled
        const next_at = isPlanned ? report.next_at : nextDue(fields, site.timezone, now())
        const isSame = Bun.deepEquals(fields.recipients, report.recipients)
        const user_id = isOwn(author, fields) ? author.userId : isSame ? report.user_id : null
        const after = await updateReport(statements, report.id, { ...fields, user_id, next_at }, now())
        await changeRecipients(host, statements, {
          ...{ site, report: after, keyOf, tokens, before: report.recipients, after: after.recipients },
        })
        await audit(statements, author, "update", after, changes)
        return after
      })
    },

    async remove(author, id) {
      await findOwn(author, id)
      await db.transaction(async (statements) => {
        const report = await find(statements, author, id)
        refuseOtherVersion(report, author.expected)
        await dropReport(host, statements, report)
        await audit(statements, author, "delete", report)
      })
    },

    async sendNow(author, id) {
      const report = await findOwn(author, id)
      refuseWithoutMail(report)
      refuseSoon(report)
      return sending.sendNow(author.site, report, async (statements) => {
        refuseSoon(await find(statements, author, id))
        await audit(statements, author, "send", report)
      })
    },
  }
}

export const reportNotFound = () => integrationError("report_not_found", "This report doesn't exist.")

/** Returns whether a report is a viewer's own subscription. */
const isOwn = ({ user }: Viewer, { channel, recipients }: Pick<Report, "channel" | "recipients">): boolean =>
  channel === "email" && user.email_verified_at !== null && recipients.length === 1 && caseKey(recipients[0]!) === caseKey(user.email)

export const isVisible = (viewer: Viewer, report: Report): boolean =>
  viewer.permissions.has("integrations:read") || viewer.permissions.has(WRITE) || isOwn(viewer, report)

const canManage = (viewer: Viewer, report: ReportFields): boolean => viewer.permissions.has(WRITE) || isOwn(viewer, report)

function refuseUnlessManaged(viewer: Viewer, report: ReportFields): void {
  if (canManage(viewer, report)) return
  const detail = `Without the permission ${WRITE}, you can only subscribe your own verified email address.`
  throw new AppError("forbidden", detail, { required_permission: WRITE })
}

/** Deletes a report with its recipients and their tokens. */
export async function dropReport(host: IntegrationsHost, statements: OwnStatements, { id }: Pick<Report, "id">): Promise<void> {
  for (const recipient of await listRecipients(statements, id)) await dropRecipient(host, statements, recipient)
  await deleteReport(statements, id)
}

const CHANGED = ["kind", "channel", "hour", "sections", "enabled"] as const

/** Returns the changes for the audit log, with the number of recipients instead of their addresses. */
function changedFields(before: Report, after: ReportFields): Record<string, readonly [unknown, unknown]> {
  const names = CHANGED.filter((name) => !Bun.deepEquals(before[name], after[name]))
  return {
    ...Object.fromEntries(names.map((name) => [name, [before[name], after[name]]] as const)),
    ...(!Bun.deepEquals(before.recipients, after.recipients) && {
      recipients: [before.recipients.length, after.recipients.length] as const,
    }),
  }
}
