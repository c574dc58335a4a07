import { operationsOf, readBytes } from "#plugin"
import type { IntegrationsHost } from "../area.ts"
import { escaped } from "./email.ts"
import { setSubscription, tokenHash } from "./recipients.ts"
import { recipientByToken, reportById } from "./rows.ts"
import { titleOf } from "./wording.ts"

const operation = operationsOf("integrations")
const MAX_BYTES = 4_096

/**
 * The pages behind the links of reports. GET changes nothing, because mail programs open links to check them; POST unsubscribes, as RFC
 * 8058 says, without a sign-in. The token in the path proves that the request comes from a recipient.
 */
export function unsubscribeRoutes(host: IntegrationsHost) {
  const limit = host.throttle(60, 1_000)

  async function find(token: string) {
    const recipient = await recipientByToken(host.db, tokenHash(token))
    const report = recipient && (await reportById(host.db, recipient.report_id))
    const site = report && host.services.sites.directory.byId(report.site_id)
    return site && { recipient, report, site }
  }

  return host
    .openRouter()
    .get(
      "/unsubscribe/:token",
      async ({ params, request, server }) => {
        limit.take({ request, server })
        const found = await find(params.token)
        if (!found) return notFoundPage()
        const title = titleOf(found.report.kind, found.site.name)
        return found.recipient.unsubscribed_at === null ? subscribedPage(title) : unsubscribedPage(title)
      },
      { detail: operation("Show the page with the button to unsubscribe from a report") },
    )
    .post(
      "/unsubscribe/:token",
      async ({ params, request, server }) => {
        limit.take({ request, server })
        const found = await find(params.token)
        if (!found) return notFoundPage()
        const wanted = (await readForm(request)).get("subscribe") === "1"
        await host.db.transaction(async (statements) => {
          // Read again, because two requests of a mail program can arrive at the same time.
          const recipient = await recipientByToken(statements, found.recipient.token_hash)
          if (recipient) await setSubscription(host, statements, { ...found, recipient }, wanted)
        })
        const title = titleOf(found.report.kind, found.site.name)
        return wanted ? subscribedPage(title) : unsubscribedPage(title)
      },
      { detail: operation("Unsubscribe from a report; with `subscribe=1` in the form, subscribe again") },
    )
}

/** Reads a form in one of the two encodings that RFC 8058 allows. Anything else is an empty form. */
async function readForm(request: Request): Promise<FormData> {
  const headers = { "content-type": request.headers.get("content-type") ?? "" }
  const bytes = await readBytes(request, MAX_BYTES)
  try {
    return await new Response(new Uint8Array(bytes), { headers }).formData()
  } catch {
    return new FormData()
  }
}

const STYLE =
  "body{margin:0;font:15px/22px system-ui,sans-serif;color:#1c1b19;background:#f7f6f3}main{max-width:480px;margin:12vh auto 0;padding:0 24px}h1{font-size:24px;line-height:28px;font-weight:600}button{font:inherit;font-weight:600;padding:9px 16px;border:0;border-radius:4px;background:#0b5d57;color:#fff;cursor:pointer}button:focus-visible{outline:2px solid #1d4fd7;outline-offset:2px}@media(prefers-color-scheme:dark){body{color:#f0eee9;background:#131412}button{background:#5fd0c3;color:#06251f}button:focus-visible{outline-color:#9bb8ff}}"
const HASH = new Bun.CryptoHasher("sha256").update(STYLE).digest("base64")
const HEADERS = {
  ...{ "content-type": "text/html; charset=utf-8", "x-content-type-options": "nosniff", "cache-control": "no-store" },
  "content-security-policy": `default-src 'none'; style-src 'sha256-${HASH}'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'`,
  ...{ "x-robots-tag": "noindex", "referrer-policy": "no-referrer" },
}

const page = (title: string, body: string, status = 200): Response =>
  new Response(
    `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><meta name="color-scheme" content="light dark"><style>${STYLE}</style><title>${title}</title></head><body><main><h1>${title}</h1>${body}</main></body></html>`,
    { status, headers: HEADERS },
  )

const form = (name: string, value: string, label: string): string =>
  `<form method="post"><input type="hidden" name="${name}" value="${value}"><button>${label}</button></form>`

const subscribedPage = (title: string): Response =>
  page(
    "You receive this report",
    `<p>${escaped(title)}</p><p>Unsubscribe if you no longer want it. Other recipients are not affected.</p>${form("List-Unsubscribe", "One-Click", "Unsubscribe")}`,
  )

const unsubscribedPage = (title: string): Response =>
  page(
    "You've been unsubscribed",
    `<p>${escaped(title)}</p><p>You won't receive this report. Subscribe if you want it again.</p>${form("subscribe", "1", "Subscribe")}`,
  )

const notFoundPage = (): Response =>
  page("This link is no longer valid", "<p>The report doesn't exist any more, or this address was removed from it.</p>", 404)
