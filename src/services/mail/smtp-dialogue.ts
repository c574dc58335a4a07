import { REDACTED } from "../domain/audit.ts"
import type { SmtpSettings } from "./mail.ts"

/** One exchange with a mail server. */
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

const PATIENCE_MS = 10_000
const LINE_CHARS = 500

/**
 * Talks to the mail server as sending does, with a short letter to `to`, or only up to the sign-in without one. What was said
 * comes back, without the password. Never rejects: a failure is the last step.
 */
export async function askMailServer(
  smtp: SmtpSettings,
  to?: string,
  monotonic: () => number = () => performance.now(),
): Promise<SmtpDialogue> {
  const steps: SmtpStep[] = []
  const begun = monotonic()
  let since = begun
  const heard = (line: Record<string, unknown>, text: string): void => {
    const said = hideSecrets(text.trimEnd(), smtp).slice(0, LINE_CHARS)
    if (said === "") return
    const last = steps.at(-1)
    if (line.tnx === "client") {
      steps.push({ name: nameOf(said), sent: said, received: "", ms: 0 })
      since = monotonic()
    } else if (last) {
      last.received = [last.received, said].filter(Boolean).join("\n")
      last.ms = Math.round(monotonic() - since)
    } else steps.push({ name: "greeting", sent: "", received: said, ms: Math.round(monotonic() - begun) })
  }
  try {
    await converse(smtp, to, heard)
    return { ok: true, steps }
  } catch (error) {
    const { message = "", code = "" } = error as { message?: string; code?: string } // as the library's errors are
    const received = hideSecrets(`${code} ${message}`.trim(), smtp).slice(0, LINE_CHARS)
    return { ok: false, steps: [...steps, { name: "failure", sent: "", received, ms: Math.round(monotonic() - begun) }] }
  }
}

async function converse(smtp: SmtpSettings, to: string | undefined, heard: (line: Record<string, unknown>, text: string) => void) {
  const { createTransport } = await import("nodemailer")
  const say = (line: Record<string, unknown>, text: unknown, ...values: unknown[]) => {
    if (line.tnx === "client" || line.tnx === "server") heard(line, typeof text === "string" ? filled(text, values) : String(text))
  }
  const silent = () => {}
  const transport = createTransport({
    host: smtp.host,
    port: smtp.port,
    secure: smtp.security === "tls",
    requireTLS: smtp.security === "starttls",
    ignoreTLS: smtp.security === "none",
    ...(smtp.user !== undefined && { auth: { user: smtp.user, pass: smtp.password ?? "" } }),
    connectionTimeout: PATIENCE_MS,
    greetingTimeout: PATIENCE_MS,
    socketTimeout: PATIENCE_MS,
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
        subject: "A test of the mail settings",
        text: "This mail shows that the mail settings of your web statistics work.",
      })
  } finally {
    transport.close()
  }
}

/** The library's lines come as a form with values. */
const filled = (form: string, values: readonly unknown[]): string => {
  let next = 0
  return form.replace(/%[sdj]/g, () => String(values[next++] ?? ""))
}

const nameOf = (said: string): string => (/^[A-Z]{4,8}\b/i.exec(said)?.[0] ?? "message").toLowerCase()

/** In clear, and as sign-ins write it. */
function hideSecrets(text: string, { user, password }: SmtpSettings): string {
  if (!password) return text
  const forms = [password, Buffer.from(password).toString("base64"), Buffer.from(`\u0000${user ?? ""}\u0000${password}`).toString("base64")]
  return forms.reduce((left, form) => left.replaceAll(form, REDACTED), text)
}
