import { caseKey, type OwnStatements, type Site } from "#plugin"
import type { IntegrationsHost } from "../area.ts"
import { lastDue, plan, type ReportPeriod } from "./calendar.ts"
import { contentOf, type ReportContent } from "./content.ts"
import { emailOf } from "./email.ts"
import { REPORT_READY } from "./events.ts"
import { knownRecipients, openTokens, unsubscribeUrl } from "./recipients.ts"
import { type Recipient, type Report, stateOf } from "./report.ts"
import { listDue, noteOutcome, noteSent, noteSentNow, reportById, setNextAt } from "./rows.ts"
import { wordedReport } from "./wording.ts"

/** Sending of reports. Each period is sent once, whatever happens to the process and to the clock. */
export interface Sending {
  /** Sends all reports that are due. For the job. */
  sendDue(signal: AbortSignal): Promise<void>
  /** Sends the last whole period once more. `alongside` runs first in the transaction. Returns the number of messages and the period. */
  sendNow(site: Site, report: Report, alongside: (statements: OwnStatements) => Promise<void>): Promise<SentNow>
  /** Records the outcome of an email. */
  outcome(statements: OwnStatements, key: string, outcome: "accepted" | "refused" | "given_up"): Promise<void>
}

export interface SentNow {
  queued: number
  period: ReportPeriod
}

const KEY = "report "

/**
 * After each report, the job rests for a multiple of the time that the report took, so that the queries of people find the query workers
 * free. Many reports are due at the same hour, but none has to arrive within a minute.
 */
const PAUSE_FACTOR = 3
const MAX_PAUSE_MS = 300

export const dashboardUrl = (host: IntegrationsHost, { id }: Site, { from, to }: { from: string; to: string }): string =>
  `${host.baseUrl()}/sites/${id}?period=custom&from=${from}&to=${to}`

export function createSending(host: IntegrationsHost): Sending {
  const { db, now } = host

  /** Sends a report that is due, and plans the next time. What happens too late is left out. */
  async function sendOne(report: Report, signal: AbortSignal): Promise<void> {
    const site = host.services.sites.directory.byId(report.site_id)
    if (!site) return // it was deleted and will be purged
    const at = now()
    const { period, sent, next_at } = plan(report, site.timezone, at)
    if (!period || !(await canReach(site, report))) return setNextAt(db, report.id, next_at)
    const content = await contentOf(host, site, report, period, { signal, isBackground: true })
    const prepared = await prepare(site, report, content)
    await db.transaction(async (statements) => {
      const present = await reportById(statements, report.id)
      // A report that was changed meanwhile is still due, and the next run sends it as it is then.
      if (present?.version !== report.version || !Bun.deepEquals(present.sent, report.sent)) return
      await queue(statements, site, report, prepared)
      await noteSent(statements, { id: report.id, sent, next_at }, at)
    })
  }

  /** Returns whether there is anyone to send a report to. A member's own subscription ends with their access or their address. */
  async function canReach(site: Site, { channel, user_id, recipients }: Report): Promise<boolean> {
    if (channel === "chat") return true
    if (!host.mail.isOn()) return false
    if (user_id === null) return true
    const holders = await host.services.access.holders(site.organization_id, "site:read", site.id)
    return holders.some((address) => recipients.some((recipient) => caseKey(recipient) === caseKey(address)))
  }

  interface Prepared {
    content: ReportContent
    emails: { recipient: Recipient; address: string; token: string }[]
  }

  async function prepare(site: Site, report: Report, content: ReportContent): Promise<Prepared> {
    if (report.channel === "chat") return { content, emails: [] }
    const { keyOf, byKey } = await knownRecipients(host, db, report)
    const tokens = await openTokens(host, byKey.values())
    const emails = report.recipients.flatMap((address) => {
      const recipient = byKey.get(keyOf(address))
      const token = recipient && tokens.get(recipient.id)
      if (recipient && token === undefined)
        host.log.error("the token of a recipient can't be decrypted", { report: report.id, site: site.id })
      return recipient && token !== undefined && stateOf(recipient) === "active" ? [{ recipient, address, token }] : []
    })
    return { content, emails }
  }

  /** Queues the emails of a report and publishes that it is ready. */
  async function queue(statements: OwnStatements, site: Site, { id, channel }: Report, { content, emails }: Prepared): Promise<void> {
    const report = wordedReport(content, site.name)
    const dashboard = dashboardUrl(host, site, content)
    for (const { recipient, address, token } of emails) {
      const unsubscribe = unsubscribeUrl(host, token)
      const email = emailOf(report, { dashboard, unsubscribe })
      const headers = { "List-Unsubscribe": `<${unsubscribe}>`, "List-Unsubscribe-Post": "List-Unsubscribe=One-Click" }
      await host.mail.post(statements, { to: address, ...email, headers, key: `${KEY}${recipient.id}` })
    }
    await host.outbox.write(statements, {
      event: REPORT_READY,
      organizationId: site.organization_id,
      siteId: site.id,
      payload: { report_id: id, channel, title: report.title, ...content },
    })
  }

  return {
    async sendDue(signal) {
      for (let after = 0, failure: unknown; ; ) {
        const reports = await listDue(db, now(), after)
        for (const report of reports) {
          if (signal.aborted) return
          const began = performance.now()
          await sendOne(report, signal).catch((error) => {
            host.log.error("a report could not be sent; it is tried again", { report: report.id, error })
            failure = error
          })
          after = report.id
          if (report !== reports.at(-1)) await Bun.sleep(Math.min(MAX_PAUSE_MS, PAUSE_FACTOR * (performance.now() - began)))
        }
        if (reports.length > 0) continue
        if (failure !== undefined && !signal.aborted) throw failure
        return
      }
    },

    async sendNow(site, report, alongside) {
      const { period } = lastDue(report, site.timezone, now())
      const prepared = await prepare(site, report, await contentOf(host, site, report, period))
      return db.transaction(async (statements) => {
        await alongside(statements)
        await queue(statements, site, report, prepared)
        await noteSentNow(statements, report.id, now())
        return { queued: report.channel === "chat" ? 1 : prepared.emails.length, period }
      })
    },

    async outcome(statements, key, outcome) {
      if (!key.startsWith(KEY) || outcome === "given_up") return
      await noteOutcome(statements, Number(key.slice(KEY.length)), outcome === "refused")
    },
  }
}
