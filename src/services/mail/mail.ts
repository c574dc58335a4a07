import type { Clock } from "../../domain/clock.ts"
import type { Log } from "../../domain/log.ts"
import type { Catalog, Statements } from "../../store/catalog/catalog.ts"
import { deleteMail, insertMail, listDueMails, postponeMail, type WaitingMail } from "../../store/catalog/outbox.ts"
import type { LiveNodes } from "../runtime/nodes.ts"
import type { Random, Secrets } from "../secrets/secrets.ts"
import { createDelivery, type OpenedMail } from "./delivery.ts"
import { composed, DEADLINE_MS, refuseHeaders, transportOver } from "./message.ts"

/** The headers that an email can have in addition to those that every email has. */
export type EmailHeader = "List-Unsubscribe" | "List-Unsubscribe-Post" | "Reply-To"

/** An email to one address. */
export interface EmailMessage {
  to: string
  subject: string
  text: string
  /** A whole HTML document. Default: the text as HTML. */
  html?: string
  headers?: Readonly<Partial<Record<EmailHeader, string>>>
  /**
   * Key under which the outcome is reported, as `<owner>:<key>`. It is stored in clear, so it must not contain an address. Emails with a key
   * are those of reports, so all others, such as links for a sign-in, are sent before them.
   */
  key?: string
}

/** What became of an email: the mail server took it, refused it for good, or no retry succeeded. */
export type EmailOutcome = "accepted" | "refused" | "given_up"

/** Receives the outcome of an owner's emails, in the transaction that removes the email from the queue. */
export type ReceiveOutcome = (statements: Statements, report: { key: string; outcome: EmailOutcome }) => Promise<void>

/** Sending of emails, as services and plugins see it. */
export interface Mail {
  /** Whether a mail server is configured. Without one, the dashboard shows links instead. */
  isOn(): boolean
  /** Queues an email in a transaction of its own and starts sending it. Does nothing without a mail server. */
  send(email: EmailMessage): Promise<void>
}

/** Connection to the mail server. */
export interface SmtpSettings {
  host: string
  port: number
  security: "none" | "starttls" | "tls"
  user: string | undefined
  password: string | undefined
  from: string
  /** Address for replies. An email can name another one. */
  replyTo: string | undefined
}

/**
 * A durable queue of emails. An email that is queued in a transaction is sent if the transaction commits, even after a crash. An
 * interrupted delivery may send it twice, with the same `Message-ID`. Queued emails are encrypted, because they contain sign-in links.
 */
export interface MailQueue extends Mail {
  /**
   * Queues an email in the caller's transaction. Call `wake` after the commit. Does nothing without a mail server. Throws for a header
   * that is not on the list or contains anything but visible ASCII.
   */
  post(statements: Statements, email: EmailMessage): Promise<void>
  /** Starts to send the queued emails in the background. */
  wake(): void
  /** Resolves when no delivery is running. */
  settled(): Promise<void>
  /** Sends all due emails. Resolves when each is sent or scheduled for a retry. */
  deliver(): Promise<void>
  /** Starts no further email, and waits up to two seconds for those under way. What was not sent by then stays queued. */
  stop(): Promise<void>
  /** Registers the receiver of the outcomes of an owner's emails. */
  onOutcome(owner: string, receive: ReceiveOutcome): void
}

interface MailOptions {
  catalog: Catalog
  clock: Pick<Clock, "now">
  random: Random
  secrets: Secrets
  log: Log
  smtp: SmtpSettings | undefined
  /** The nodes that share the catalog, of which one sends the emails. */
  nodes?: Pick<LiveNodes, "takeTurn"> | undefined
}

/** A row of the queue without its content. */
type MailRow = Omit<WaitingMail, "sealed">

const MINUTE_MS = 60_000
/** Minutes until each retry of a failed delivery. The email is dropped after the last one. */
const RETRY_MINUTES = [1, 2, 5, 10, 30, 60, 120, 240, 480]
/** Time for emails under way when the instance stops. The others stay queued. */
const FAREWELL_MS = 2_000

/** Returns the place that a queued email is encrypted for. */
export const mailPlace = (name: string) => ({ table: "mails", row: name, purpose: "letter" })

export function createMail({ catalog, clock, random, secrets, log, smtp, nodes }: MailOptions): MailQueue {
  const receivers = new Map<string, ReceiveOutcome>()
  const stopping = new AbortController()
  let transport: ReturnType<typeof transportOver> | undefined
  const delivery = createDelivery({ load, send, close })

  async function post(statements: Statements, { key, ...email }: EmailMessage): Promise<void> {
    if (!smtp) return
    refuseHeaders(email)
    const name = random(16).toHex()
    const sealed = secrets.seal(new TextEncoder().encode(JSON.stringify(email)), mailPlace(name))
    await insertMail(statements, { name, sealed, outcome_key: key ?? null, now: clock.now() })
  }

  /** Lists due emails with their contents. One whose key is lost can never be sent, and is removed. */
  async function load(except: readonly number[], limit: number) {
    const mails: OpenedMail[] = []
    if (nodes && !(await nodes.takeTurn("send emails"))) return { mails, hasMore: false }
    const rows = await listDueMails(catalog, { now: clock.now(), except, limit })
    for (const { sealed, ...mail } of rows) {
      const opened = secrets.open(sealed, mailPlace(mail.name))
      if (opened)
        mails.push({ ...mail, email: JSON.parse(new TextDecoder().decode(opened)) }) // written by `post`
      else await end(mail, "given_up")
    }
    return { mails, hasMore: rows.length === limit }
  }

  async function send(mail: OpenedMail): Promise<void> {
    if (!smtp) return
    transport ??= transportOver(smtp)
    const signal = AbortSignal.any([stopping.signal, AbortSignal.timeout(DEADLINE_MS)])
    try {
      await (await transport).sendMail({ ...composed(mail.email, mail.name, smtp), signal })
    } catch (error) {
      if (!stopping.signal.aborted) await retryLater(mail, error)
      return
    }
    await end(mail, "accepted")
  }

  async function close(): Promise<void> {
    const opened = await transport
    opened?.close()
    transport = undefined
  }

  /** Removes an email from the queue and reports its outcome, both or neither. */
  async function end({ id, outcome_key }: MailRow, outcome: EmailOutcome): Promise<void> {
    const [, owner = "", key = ""] = /^([^:]*):(.*)$/.exec(outcome_key ?? "") ?? []
    const receive = receivers.get(owner)
    if (!receive) return deleteMail(catalog, id)
    const report = catalog.transaction(async (statements) => {
      await deleteMail(statements, id)
      await receive(statements, { key, outcome })
    })
    await report.catch(async (error) => {
      // Otherwise the email would be sent again and again.
      log.error("the outcome of an email could not be stored", { mail_id: id, outcome, error })
      await deleteMail(catalog, id)
    })
  }

  async function retryLater(mail: MailRow, error: unknown): Promise<void> {
    const { id, attempts } = mail
    const { code, command, responseCode = 0 } = error as { code?: string; command?: string; responseCode?: number } // the fields of the library's errors
    const pause = RETRY_MINUTES[attempts]
    // A refused login, greeting or sender says nothing about the email, and the administrator may correct the settings.
    const isRefused = (command === "RCPT TO" || command === "DATA") && responseCode >= 500 && responseCode !== 503
    const isFinal = pause === undefined || isRefused
    log.warn(isFinal ? "email dropped: the mail server rejected it or all retries failed" : "email not sent yet; will retry", {
      mail_id: id,
      code,
      ...(responseCode > 0 && { smtp_code: responseCode }),
    })
    if (isFinal) await end(mail, isRefused ? "refused" : "given_up")
    else await postponeMail(catalog, id, clock.now() + pause * MINUTE_MS)
  }

  const deliver = async (): Promise<void> => {
    if (smtp) await delivery.run()
  }

  const wake = (): void => {
    deliver().catch((error) => log.warn("emails could not be sent", { error }))
  }

  return {
    isOn: () => smtp !== undefined,
    post,
    wake,
    deliver,
    settled: delivery.settled,
    async stop() {
      const timer = setTimeout(() => stopping.abort(), FAREWELL_MS)
      await delivery.stop()
      clearTimeout(timer)
    },
    onOutcome: (owner, receive) => void receivers.set(owner, receive),
    async send(email) {
      await catalog.transaction((statements) => post(statements, email))
      wake()
    },
  }
}
