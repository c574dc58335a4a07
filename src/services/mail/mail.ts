import type { Transporter } from "nodemailer"
import type { Clock } from "../../domain/clock.ts"
import type { Log } from "../../domain/log.ts"
import type { Catalog, Statements } from "../../store/catalog/catalog.ts"
import { deleteMail, insertMail, listDueMails, postponeMail, type WaitingMail } from "../../store/catalog/outbox.ts"
import type { Random, Secrets } from "../secrets/secrets.ts"

/** An email to one address, as plain text. */
export interface EmailMessage {
  to: string
  subject: string
  text: string
}

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
}

/**
 * A durable queue of emails. An email that is queued in a transaction is sent if the transaction commits, even after a crash. An
 * interrupted delivery may send it twice. Queued emails are encrypted, because they contain sign-in links.
 */
export interface MailQueue extends Mail {
  /** Queues an email in the caller's transaction. Call `wake` after the commit. Does nothing without a mail server. */
  post(statements: Statements, email: EmailMessage): Promise<void>
  /** Starts to send the queued emails in the background. */
  wake(): void
  /** Resolves when no delivery is running. */
  settled(): Promise<void>
  /** Sends all due emails. Resolves when each is sent or scheduled for a retry. */
  deliver(): Promise<void>
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

  async function post(statements: Statements, email: EmailMessage): Promise<void> {
    if (!smtp) return
    const name = random(16).toHex()
    const sealed = secrets.seal(new TextEncoder().encode(JSON.stringify(email)), mailPlace(name))
    await insertMail(statements, { name, sealed, now: clock.now() })
  }

  async function sendAll(): Promise<void> {
    do {
      wantsMore = false
      for (const mail of await listDueMails(catalog, clock.now(), BATCH)) await sendOne(mail)
    } while (wantsMore)
  }

  async function sendOne(mail: WaitingMail): Promise<void> {
    const opened = secrets.open(mail.sealed, mailPlace(mail.name))
    // The key is lost, so the email can never be sent.
    if (!opened || !smtp) return deleteMail(catalog, mail.id)
    const { to, subject, text } = JSON.parse(new TextDecoder().decode(opened)) as EmailMessage // written by `post`
    try {
      transport ??= transportOver(smtp)
      // As an object, the address is encoded as a single address whatever characters it contains.
      await (await transport).sendMail({ from: smtp.from, to: { name: "", address: to }, subject, text, html: htmlOf(subject, text) })
      await deleteMail(catalog, mail.id)
    } catch (error) {
      await retryLater(mail, error)
    }
  }

  async function retryLater({ id, attempts }: WaitingMail, error: unknown): Promise<void> {
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
    if (isFinal) await deleteMail(catalog, id)
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
    async send(email) {
      await catalog.transaction((statements) => post(statements, email))
      wake()
    },
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
