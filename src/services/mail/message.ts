import { MAX_CONNECTIONS } from "./delivery.ts"
import type { EmailHeader, EmailMessage, SmtpSettings } from "./mail.ts"

const HEADERS: readonly string[] = ["List-Unsubscribe", "List-Unsubscribe-Post", "Reply-To"] satisfies EmailHeader[]

/** Throws for a header that could change the message in another way than its name says. */
export function refuseHeaders({ headers = {} }: EmailMessage): void {
  for (const [name, value] of Object.entries(headers))
    if (!HEADERS.includes(name) || !/^[\x20-\x7e]{1,900}$/.test(value)) throw new Error(`An email has the invalid header ${name}`)
}

/** Returns an email in the form of the library. All attempts have the same `Message-ID`, by which mail programs recognize a repetition. */
export function composed(
  { to, subject, text, html = htmlOf(subject, text), headers = {} }: EmailMessage,
  name: string,
  smtp: SmtpSettings,
) {
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

/** Time without a byte of the mail server, and the whole time of an email. A server that sends a byte now and then reaches the second. */
const TIMEOUT_MS = 20_000
export const DEADLINE_MS = 60_000
/** Emails over one connection. Mail servers end a connection after some hundred. */
const MAX_MESSAGES = 50

/** Returns connections to a mail server, which are opened as they are needed and stay open until the transport is closed. */
export async function transportOver({ host, port, security, user, password }: SmtpSettings) {
  const { createTransport } = await import("nodemailer")
  return createTransport({
    pool: true,
    maxConnections: MAX_CONNECTIONS,
    maxMessages: MAX_MESSAGES,
    // Repeats only what the server cannot have read. Everything else is repeated by the queue.
    maxRequeues: 1,
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

/** The colours of the dashboard. Mail programs that know dark mode use the style sheet; the others the inline styles. */
const DARK_STYLE = `:root{color-scheme:light dark;supported-color-schemes:light dark}
@media (prefers-color-scheme:dark){.page{background:#131412!important}.card{background:#1b1c1a!important;border-color:#30312d!important}
.card,.card h1{color:#f0eee9!important}.card a{color:#5fd0c3!important}}`
const FONT = "font-family:-apple-system,'Segoe UI',Roboto,Helvetica,Arial,sans-serif"

/** Returns the HTML version of a plain text email: the subject, a paragraph per block, and a link where a line is a URL. */
export function htmlOf(subject: string, text: string): string {
  const blocks = text.split(/\n{2,}/).map((block) => `<p style="margin:16px 0 0">${block.split("\n").map(lineOf).join("<br>")}</p>`)
  const table = `role="presentation" width="100%" cellpadding="0" cellspacing="0" border="0"`
  const card = `max-width:600px;background:#ffffff;border:1px solid #e4e1da;border-radius:4px;color:#1c1b19;overflow-wrap:anywhere`
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width,initial-scale=1">
<meta name="color-scheme" content="light dark"><meta name="supported-color-schemes" content="light dark">
<title>${escaped(subject)}</title><style>${DARK_STYLE}</style></head>
<body class="page" style="margin:0;padding:0;background:#f7f6f3">
<table ${table} class="page" style="background:#f7f6f3"><tr><td align="center" style="padding:24px 12px">
<table ${table} class="card" style="${card}"><tr><td style="padding:24px;${FONT};font-size:15px;line-height:22px;word-break:break-word">
<h1 style="margin:0;font-size:20px;line-height:28px;font-weight:600;color:#1c1b19">${escaped(subject)}</h1>
${blocks.join("")}
</td></tr></table></td></tr></table></body></html>`
}

const lineOf = (line: string): string => (/^https?:\/\/\S+$/.test(line) ? `<a href="${escaped(line)}">${escaped(line)}</a>` : escaped(line))
