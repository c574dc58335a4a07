import type { Transporter } from "nodemailer"
import type { Clock } from "../domain/clock.ts"
import type { Log } from "../domain/log.ts"
import type { Catalog, Statements } from "../store/catalog/catalog.ts"
import { deleteMail, insertMail, listDueMails, postponeMail, type WaitingMail } from "../store/catalog/mails.ts"
import { htmlOf } from "./mail-html.ts"
import type { Letter, Mail } from "./mail-port.ts"
import type { Random, Secrets } from "./secrets.ts"

/** Where mails go out. */
export interface SmtpSettings {
  host: string
  port: number
  security: "none" | "starttls" | "tls"
  user: string | undefined
  password: string | undefined
  from: string
}

/**
 * Mails, kept until the server has taken them: what is posted in a transaction goes out if it commits, also after a crash;
 * one that was cut off while being sent may come twice. They hold links that let people in, so they wait sealed.
 */
export interface PostedMail extends Mail {
  /** To be sent when the transaction has committed; then call `wake`. Does nothing without a mail server. */
  post(statements: Statements, letter: Letter): Promise<void>
  /** Begins to send what waits. */
  wake(): void
  /** Resolves when nothing is being sent. */
  settled(): Promise<void>
  /** Sends what is due; resolves when it is sent or put off. */
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
/** What could not be sent is tried again after so many minutes, and given up after the last one. */
const PAUSES = [1, 2, 5, 10, 30, 60, 120, 240, 480]
const AT_ONCE = 50
const PATIENCE_MS = 20_000

/** Where a waiting mail is sealed. */
export const mailPlace = (name: string) => ({ table: "mails", row: name, purpose: "letter" })

export function createMail({ catalog, clock, random, secrets, log, smtp }: MailOptions): PostedMail {
  let transport: Promise<Transporter> | undefined
  let running: Promise<void> | undefined
  let wantsMore = false

  async function post(statements: Statements, letter: Letter): Promise<void> {
    if (!smtp) return
    const name = random(16).toHex()
    const sealed = secrets.seal(new TextEncoder().encode(JSON.stringify(letter)), mailPlace(name))
    await insertMail(statements, { name, sealed, now: clock.now() })
  }

  async function sendAll(): Promise<void> {
    do {
      wantsMore = false
      for (const mail of await listDueMails(catalog, clock.now(), AT_ONCE)) await sendOne(mail)
    } while (wantsMore)
  }

  async function sendOne(mail: WaitingMail): Promise<void> {
    const opened = secrets.open(mail.sealed, mailPlace(mail.name))
    // Sealed with a key that is lost: nobody can ever send it.
    if (!opened || !smtp) return deleteMail(catalog, mail.id)
    const { to, subject, text } = JSON.parse(new TextDecoder().decode(opened)) as Letter // written by `post`
    try {
      transport ??= transportOver(smtp)
      // An address given apart is encoded as one, whatever it holds.
      await (await transport).sendMail({ from: smtp.from, to: { name: "", address: to }, subject, text, html: htmlOf(subject, text) })
      await deleteMail(catalog, mail.id)
    } catch (error) {
      await putOff(mail, error)
    }
  }

  async function putOff({ id, attempts }: WaitingMail, error: unknown): Promise<void> {
    const { code, responseCode } = error as { code?: string; responseCode?: number } // as the library's errors are
    const pause = PAUSES[attempts]
    // A server that does not let us in has not judged the mail: the password may be put right.
    const isRefused = code !== "EAUTH" && responseCode !== undefined && responseCode >= 500
    const isFinal = pause === undefined || isRefused
    log.warn(isFinal ? "a mail could not be sent" : "a mail could not be sent yet", { mail_id: id, code, smtp_code: responseCode })
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
    if (smtp) deliver().catch((error) => log.warn("mails could not be sent", { error }))
  }

  return {
    isOn: () => smtp !== undefined,
    post,
    wake,
    deliver,
    settled: async () => running?.catch(() => {}),
    async send(letter) {
      await catalog.transaction((statements) => post(statements, letter))
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
    connectionTimeout: PATIENCE_MS,
    greetingTimeout: PATIENCE_MS,
    socketTimeout: PATIENCE_MS,
    // A letter never names a file or an address to be fetched.
    disableFileAccess: true,
    disableUrlAccess: true,
  })
}
