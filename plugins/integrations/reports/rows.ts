import { type OwnStatements, sql } from "#plugin"
import type { Recipient, Report } from "./report.ts"

const REPORT = sql`
  id, site_id, kind, channel, recipients_json, hour, sections_json, enabled, user_id, sent_json, last_sent_at, sent_now_at, next_at,
  created_by, created_at, updated_at, version`

type ReportRow = Omit<Report, "recipients" | "sections" | "sent" | "enabled"> & {
  recipients_json: string
  sections_json: string
  sent_json: string
  enabled: 0 | 1
}

// The columns contain what this file has written.
const toReport = ({ recipients_json, sections_json, sent_json, enabled, ...row }: ReportRow): Report => ({
  ...row,
  recipients: JSON.parse(recipients_json),
  sections: JSON.parse(sections_json),
  sent: JSON.parse(sent_json),
  enabled: enabled === 1,
})

export async function reportById(statements: OwnStatements, id: number): Promise<Report | undefined> {
  const row = await statements.get<ReportRow>(sql`select ${REPORT} from integrations_reports where id = ${id}`)
  return row && toReport(row)
}

/** Lists the reports of a site, by id. */
export async function listReports(statements: OwnStatements, siteId: number): Promise<Report[]> {
  const rows = await statements.all<ReportRow>(sql`
    select ${REPORT} from integrations_reports where site_id = ${siteId} order by id limit 1000`)
  return rows.map(toReport)
}

const DAY_MS = 86_400_000

/**
 * Lists enabled reports that are due, after an id. Those whose next time is further away than their period are included, because the
 * clock was set back.
 */
export async function listDue(statements: OwnStatements, now: number, after: number): Promise<Report[]> {
  const rows = await statements.all<ReportRow>(sql`
    select ${REPORT} from integrations_reports
    where enabled = 1 and id > ${after} and (next_at <= ${now}
      or next_at > ${now} + case kind when 'daily' then ${2 * DAY_MS} when 'weekly' then ${8 * DAY_MS} else ${32 * DAY_MS} end)
    order by id limit 100`)
  return rows.map(toReport)
}

export type ReportFields = Pick<Report, "kind" | "channel" | "recipients" | "hour" | "sections" | "enabled">
type NewReport = ReportFields & Pick<Report, "site_id" | "user_id" | "next_at" | "created_by">

export async function insertReport(statements: OwnStatements, report: NewReport, now: number): Promise<Report> {
  const { site_id, kind, channel, recipients, hour, sections, enabled, user_id, next_at, created_by } = report
  const row = await statements.get<ReportRow>(sql`
    insert into integrations_reports (
      site_id, kind, channel, recipients_json, hour, sections_json, enabled, user_id, next_at, created_by, created_at, updated_at
    ) values (
      ${site_id}, ${kind}, ${channel}, ${JSON.stringify(recipients)}, ${hour}, ${JSON.stringify(sections)}, ${enabled ? 1 : 0},
      ${user_id}, ${next_at}, ${created_by}, ${now}, ${now}
    ) returning ${REPORT}`)
  return toReport(row!) // an insert that returns has a row
}

/** Stores a change that people make, with a new version. */
export async function updateReport(
  statements: OwnStatements,
  id: number,
  { kind, channel, recipients, hour, sections, enabled, user_id, next_at }: ReportFields & Pick<Report, "user_id" | "next_at">,
  now: number,
): Promise<Report> {
  const row = await statements.get<ReportRow>(sql`
    update integrations_reports set kind = ${kind}, channel = ${channel}, recipients_json = ${JSON.stringify(recipients)}, hour = ${hour},
      sections_json = ${JSON.stringify(sections)}, enabled = ${enabled ? 1 : 0}, user_id = ${user_id}, next_at = ${next_at},
      updated_at = ${now}, version = version + 1
    where id = ${id} returning ${REPORT}`)
  return toReport(row!) // the caller has read it in this transaction
}

export const setNextAt = (statements: OwnStatements, id: number, nextAt: number): Promise<void> =>
  statements.run(sql`update integrations_reports set next_at = ${nextAt} where id = ${id}`)

/** Notes that a period was sent. */
export const noteSent = (
  statements: OwnStatements,
  { id, sent, next_at }: Pick<Report, "id" | "sent" | "next_at">,
  now: number,
): Promise<void> =>
  statements.run(sql`
    update integrations_reports set sent_json = ${JSON.stringify(sent)}, last_sent_at = ${now}, next_at = ${next_at} where id = ${id}`)

export const noteSentNow = (statements: OwnStatements, id: number, now: number): Promise<void> =>
  statements.run(sql`update integrations_reports set sent_now_at = ${now}, last_sent_at = ${now} where id = ${id}`)

export const deleteReport = (statements: OwnStatements, id: number): Promise<void> =>
  statements.run(sql`delete from integrations_reports where id = ${id}`)

const RECIPIENT = sql`id, report_id, email_key, token_hash, token_secret_id, failures, unsubscribed_at, asked_at`

/** Lists the recipients of a report, unsubscribed people that are no longer in its list included. */
export const listRecipients = (statements: OwnStatements, reportId: number): Promise<Recipient[]> =>
  statements.all(sql`select ${RECIPIENT} from integrations_recipients where report_id = ${reportId} order by id limit 1000`)

export const recipientByToken = (statements: OwnStatements, tokenHash: string): Promise<Recipient | undefined> =>
  statements.get(sql`select ${RECIPIENT} from integrations_recipients where token_hash = ${tokenHash}`)

/** Inserts a recipient whose token is stored next. Returns its id. */
export async function insertRecipient(
  statements: OwnStatements,
  { report_id, email_key, token_hash }: Pick<Recipient, "report_id" | "email_key" | "token_hash">,
): Promise<number> {
  const row = await statements.get<{ id: number }>(sql`
    insert into integrations_recipients (report_id, email_key, token_hash)
    values (${report_id}, ${email_key}, ${token_hash}) returning id`)
  return row!.id // an insert that returns has a row
}

export const setToken = (statements: OwnStatements, id: number, secretId: number): Promise<void> =>
  statements.run(sql`update integrations_recipients set token_secret_id = ${secretId} where id = ${id}`)

export const noteAsked = (statements: OwnStatements, id: number, now: number): Promise<void> =>
  statements.run(sql`update integrations_recipients set asked_at = ${now} where id = ${id}`)

/** Stores that a person has unsubscribed, or wants the report again. */
export const setUnsubscribed = (statements: OwnStatements, id: number, at: number | null): Promise<void> =>
  statements.run(sql`update integrations_recipients set unsubscribed_at = ${at}, failures = 0 where id = ${id}`)

/** Counts a permanent failure, or forgets those before a success. */
export const noteOutcome = (statements: OwnStatements, id: number, isFailure: boolean): Promise<void> =>
  statements.run(sql`update integrations_recipients set failures = ${isFailure ? sql`failures + 1` : 0} where id = ${id}`)

export const deleteRecipient = (statements: OwnStatements, id: number): Promise<void> =>
  statements.run(sql`delete from integrations_recipients where id = ${id}`)
