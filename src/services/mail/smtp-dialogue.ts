import { Type as t } from "@sinclair/typebox"
import { REDACTED } from "../../domain/audit.ts"
import { AppError, refuseFaults } from "../../domain/error.ts"
import { inspect } from "../../domain/shape.ts"
import { EmailText, emailFaults } from "../../domain/user.ts"
import type { SmtpSettings } from "./mail.ts"

/** One command to a mail server and its response. `ms` is the time until the response was complete. */
export interface SmtpStep {
  name: string
  sent: string
  received: string
  ms: number
}

export interface SmtpDialogue {
  ok: boolean
  steps: SmtpStep[]
}

const TIMEOUT_MS = 10_000
const MAX_LINE_CHARS = 500

/**
 * Sends a test email to `to`, or only connects and logs in if `to` is missing, and returns the dialogue with the mail server without the
 * password. Never rejects: a failure is the last step.
 */
export async function askMailServer(
  smtp: SmtpSettings,
  to?: string,
  monotonic: () => number = () => performance.now(),
): Promise<SmtpDialogue> {
  const steps: SmtpStep[] = []
  const startedAt = monotonic()
  let sentAt = startedAt
  const onLine = (line: Record<string, unknown>, text: string): void => {
    const said = hideSecrets(text.trimEnd(), smtp).slice(0, MAX_LINE_CHARS)
    if (said === "") return
    const last = steps.at(-1)
    if (line.tnx === "client") {
      steps.push({ name: nameOf(said), sent: said, received: "", ms: 0 })
      sentAt = monotonic()
    } else if (last) {
      last.received = [last.received, said].filter(Boolean).join("\n")
      last.ms = Math.round(monotonic() - sentAt)
    } else steps.push({ name: "greeting", sent: "", received: said, ms: Math.round(monotonic() - startedAt) })
  }
  try {
    await converse(smtp, to, onLine)
    return { ok: true, steps }
  } catch (error) {
    const { message = "", code = "" } = error as { message?: string; code?: string } // the fields of the library's errors
    const received = hideSecrets(`${code} ${message}`.trim(), smtp).slice(0, MAX_LINE_CHARS)
    return { ok: false, steps: [...steps, { name: "failure", sent: "", received, ms: Math.round(monotonic() - startedAt) }] }
  }
}

async function converse(smtp: SmtpSettings, to: string | undefined, onLine: (line: Record<string, unknown>, text: string) => void) {
  const { createTransport } = await import("nodemailer")
  const say = (line: Record<string, unknown>, text: unknown, ...values: unknown[]) => {
    if (line.tnx === "client" || line.tnx === "server") onLine(line, typeof text === "string" ? filled(text, values) : String(text))
  }
  const silent = () => {}
  const transport = createTransport({
    host: smtp.host,
    port: smtp.port,
    secure: smtp.security === "tls",
    requireTLS: smtp.security === "starttls",
    ignoreTLS: smtp.security === "none",
    ...(smtp.user !== undefined && { auth: { user: smtp.user, pass: smtp.password ?? "" } }),
    connectionTimeout: TIMEOUT_MS,
    greetingTimeout: TIMEOUT_MS,
    socketTimeout: TIMEOUT_MS,
    disableFileAccess: true,
    disableUrlAccess: true,
    debug: true,
    logger: { level: silent, trace: say, debug: say, info: say, warn: silent, error: silent, fatal: silent },
  } as Parameters<typeof createTransport>[0])
  try {
    if (to === undefined) await transport.verify()
    else
      await transport.sendMail({
        from: smtp.from,
        to: { name: "", address: to },
        ...(smtp.replyTo !== undefined && { replyTo: smtp.replyTo }),
        subject: "Footfall test email",
        text: "This email shows that the mail settings of your Footfall instance work.",
      })
  } finally {
    transport.close()
  }
}

/** Fills the placeholders of the library's log lines with their values. */
const filled = (form: string, values: readonly unknown[]): string => {
  let next = 0
  return form.replace(/%[sdj]/g, () => String(values[next++] ?? ""))
}

const nameOf = (said: string): string => (/^[A-Z]{4,8}\b/i.exec(said)?.[0] ?? "message").toLowerCase()

/** Redacts the password, in plain text and in the base64 forms of the login commands. */
function hideSecrets(text: string, { user, password }: SmtpSettings): string {
  if (!password) return text
  const forms = [password, Buffer.from(password).toString("base64"), Buffer.from(`\u0000${user ?? ""}\u0000${password}`).toString("base64")]
  return forms.reduce((left, form) => left.replaceAll(form, REDACTED), text)
}

const MailTestInput = t.Object({ to: EmailText }, { additionalProperties: false, title: "MailTestInput" })

/** Sends a test email to the address in the body and returns the dialogue with the mail server. Throws `mail_unavailable`. */
export async function testMail(smtp: SmtpSettings | undefined, body: unknown): Promise<SmtpDialogue> {
  const { fields, faults } = inspect(MailTestInput, body)
  refuseFaults([...faults, ...emailFaults(fields.to, "/to")])
  if (!smtp) throw new AppError("mail_unavailable", "No mail server is configured. Set smtp_host.")
  return askMailServer(smtp, fields.to)
}
