import type { Transporter } from "nodemailer"
import type { Clock } from "../../domain/clock.ts"
import type { Log } from "../../domain/log.ts"
import type { Catalog, Statements } from "../../store/catalog/catalog.ts"
import { deleteMail, insertMail, listDueMails, postponeMail, type WaitingMail } from "../../store/catalog/outbox.ts"
import type { Random, Secrets } from "../secrets/secrets.ts"

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
  /** Key under which the outcome is reported, as `<owner>:<key>`. It is stored in clear, so it must not contain an address. */
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
}

const MINUTE_MS = 60_000
/** Minutes until each retry of a failed delivery. The email is dropped after the last one. */
const RETRY_MINUTES = [1, 2, 5, 10, 30, 60, 120, 240, 480]
const BATCH = 50
const TIMEOUT_MS = 20_000

/** Returns the place that a queued email is encrypted for. */
export const mailPlace = (name: string) => ({ table: "mails", row: name, purpose: "letter" })

export function createMail({ catalog, clock, random, secrets, log, smtp }: MailOptions): MailQueue {
  let transport: Promise<Transporter> | undefined
  let running: Promise<void> | undefined
  let wantsMore = false
  const receivers = new Map<string, ReceiveOutcome>()

  async function post(statements: Statements, { key, ...email }: EmailMessage): Promise<void> {
    if (!smtp) return
    refuseHeaders(email)
    const name = random(16).toHex()
    const sealed = secrets.seal(new TextEncoder().encode(JSON.stringify(email)), mailPlace(name))
    await insertMail(statements, { name, sealed, outcome_key: key ?? null, now: clock.now() })
  }

  async function sendAll(): Promise<void> {
    for (let isFull = false; wantsMore || isFull; ) {
      wantsMore = false
      const mails = await listDueMails(catalog, clock.now(), BATCH)
      for (const mail of mails) await sendOne(mail)
      isFull = mails.length === BATCH
    }
  }

  async function sendOne(mail: WaitingMail): Promise<void> {
    const opened = secrets.open(mail.sealed, mailPlace(mail.name))
    // The key is lost, so the email can never be sent.
    if (!opened || !smtp) return end(mail, "given_up")
    const email = JSON.parse(new TextDecoder().decode(opened)) as EmailMessage // written by `post`
    try {
      transport ??= transportOver(smtp)
      await (await transport).sendMail(composed(email, mail.name, smtp))
    } catch (error) {
      return retryLater(mail, error)
    }
    await end(mail, "accepted")
  }

  /** Removes an email from the queue and reports its outcome, both or neither. */
  async function end({ id, outcome_key }: WaitingMail, outcome: EmailOutcome): Promise<void> {
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

  async function retryLater(mail: WaitingMail, error: unknown): Promise<void> {
    const { id, attempts } = mail
    const { code, responseCode } = error as { code?: string; responseCode?: number } // the fields of the library's errors
    const pause = RETRY_MINUTES[attempts]
    // A failed login says nothing about the email, and the administrator may correct the password.
    const isRefused = code !== "EAUTH" && responseCode !== undefined && responseCode >= 500
    const isFinal = pause === undefined || isRefused
    log.warn(isFinal ? "email dropped: the mail server rejected it or all retries failed" : "email not sent yet; will retry", {
      mail_id: id,
      code,
      smtp_code: responseCode,
    })
    if (isFinal) await end(mail, isRefused ? "refused" : "given_up")
    else await postponeMail(catalog, id, clock.now() + pause * MINUTE_MS)
  }

  function deliver(): Promise<void> {
    wantsMore = true
    running ??= sendAll().finally(() => {
      running = undefined
    })
    return running
  }

  function wake(): void {
    if (smtp) deliver().catch((error) => log.warn("emails could not be sent", { error }))
  }

  return {
    isOn: () => smtp !== undefined,
    post,
    wake,
    deliver,
    settled: async () => running?.catch(() => {}),
    onOutcome: (owner, receive) => void receivers.set(owner, receive),
    async send(email) {
      await catalog.transaction((statements) => post(statements, email))
      wake()
    },
  }
}

const HEADERS: readonly string[] = ["List-Unsubscribe", "List-Unsubscribe-Post", "Reply-To"] satisfies EmailHeader[]

/** Throws for a header that could change the message in another way than its name says. */
function refuseHeaders({ headers = {} }: EmailMessage): void {
  for (const [name, value] of Object.entries(headers))
    if (!HEADERS.includes(name) || !/^[\x20-\x7e]{1,900}$/.test(value)) throw new Error(`An email has the invalid header ${name}`)
}

/** Returns the message for the library. All attempts have the same `Message-ID`, by which mail programs recognize a repetition. */
function composed({ to, subject, text, html = htmlOf(subject, text), headers = {} }: EmailMessage, name: string, smtp: SmtpSettings) {
  const { "Reply-To": replyTo = smtp.replyTo, ...others } = headers
  return {
    from: smtp.from,
    // As an object, the address is encoded as a single address whatever characters it contains.
    to: { name: "", address: to },
    ...(replyTo !== undefined && { replyTo }),
    messageId: `<${name}@${/@([^\s<>@]+)>?$/.exec(smtp.from)?.[1] ?? "footfall.invalid"}>`,
    subject,
    text,
    html,
    // The values were checked when the email was queued. `prepared` keeps a long URL on one line.
    headers: Object.entries(others).map(([key, value]) => ({ key, value: { prepared: true, value } })),
  }
}

async function transportOver({ host, port, security, user, password }: SmtpSettings): Promise<Transporter> {
  const { createTransport } = await import("nodemailer")
  return createTransport({
    host,
    port,
    secure: security === "tls",
    requireTLS: security === "starttls",
    ignoreTLS: security === "none",
    ...(user !== undefined && { auth: { user, pass: password ?? "" } }),
    connectionTimeout: TIMEOUT_MS,
    greetingTimeout: TIMEOUT_MS,
    socketTimeout: TIMEOUT_MS,
    // The library must not read files or fetch URLs on behalf of an email.
    disableFileAccess: true,
    disableUrlAccess: true,
  })
}

const ESCAPES: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;" }
const escaped = (text: string): string => text.replace(/[&<>"']/g, (character) => ESCAPES[character]!)

/** Returns the HTML version of a plain text email: a paragraph per block, and a link where a line is a URL. */
export function htmlOf(subject: string, text: string): string {
  const blocks = text.split(/\n{2,}/).map((block) => `<p>${block.split("\n").map(lineOf).join("<br>")}</p>`)
  const style = "font:16px/1.5 system-ui,sans-serif;color:#1c1c1c;max-width:36em"
  return `<!doctype html><html><head><meta charset="utf-8"><title>${escaped(subject)}</title></head><body style="${style}">${blocks.join("")}</body></html>`
}

const lineOf = (line: string): string => (/^https?:\/\/\S+$/.test(line) ? `<a href="${escaped(line)}">${escaped(line)}</a>` : escaped(line))
