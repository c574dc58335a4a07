import { Type as t } from "@sinclair/typebox"
import { Elysia } from "elysia"
import type { PrivateRouter } from "../../plugin/router.ts"
import type { Mail } from "../../services/mail-port.ts"
import { OIDC_TICKET_SECONDS, type Oidc, type OidcOutcome } from "../../services/oidc.ts"
import { Sent } from "../public/things.ts"
import { type GuestOptions, guests } from "./auth-guest.ts"
import { SignedInShown, shownUser } from "./auth-shown.ts"
import { answersEmpty, BODIES } from "./sent-bodies.ts"
import { ListQuery, refuses } from "./tagged.ts"

export interface OidcRoutesOptions extends GuestOptions {
  oidc: Oidc
  mail: Pick<Mail, "isOn">
}

const ButtonsShown = t.Object({ data: t.Array(t.Object({ id: t.String(), name: t.String() })), mail: t.Boolean() })
const tags = ["auth"]

/** Signing in by an identity provider: the browser goes there, and comes back with an answer to the ticket in its cookie. */
export function oidcRoutes(router: PrivateRouter, options: OidcRoutesOptions) {
  const { oidc, mail, cookie } = options
  const { guestOf, originOf, welcome, sessionLine } = guests(options)
  return new Elysia({ prefix: "/api/private/auth/oidc" })
    .use(router)
    .use(cookie.writer())
    .get("", async ({ query }) => ({ data: await oidc.buttons(textOf(query, "email")), mail: mail.isOn() }), {
      open: true,
      query: ListQuery,
      response: { 200: ButtonsShown },
      detail: { summary: "By whom people can sign in, and whether mails can be sent", tags },
    })
    .get(
      "/:provider/start",
      async (context) => {
        cookie.refuseInsecure(context.request)
        const { url, ticket } = await oidc.start(context.params.provider, textOf(context.query, "next"), { origin: originOf(context) })
        return sendTo(context, url, [cookie.ticketLine(ticket, OIDC_TICKET_SECONDS)])
      },
      {
        open: true,
        query: ListQuery,
        detail: {
          summary: "Sign in by an identity provider",
          tags,
          ...refuses("insecure_connection", "rate_limited", "outbound_failed", "outbound_disabled", "blocked_address"),
          ...answersEmpty(303),
        },
      },
    )
    .get(
      "/:provider/callback",
      async (context) => {
        const { params, request } = context
        const search = new URL(request.url).search
        const outcome = await oidc.callback(params.provider, search, cookie.readTicket(request), guestOf(context))
        const session = outcome.go === "in" ? [sessionLine(outcome.signedIn)] : []
        return sendTo(context, pageOf(outcome), [cookie.ticketEnd(), ...session])
      },
      {
        open: true,
        query: ListQuery,
        detail: { summary: "Where the identity provider sends the browser back", tags, ...answersEmpty(303) },
      },
    )
    .post(
      "/link",
      async (context) => {
        const signedIn = await oidc.link(context.body.value, guestOf(context), context.person)
        welcome(context, signedIn)
        return { user: shownUser(signedIn.user) }
      },
      {
        open: true,
        body: Sent,
        response: { 200: SignedInShown },
        detail: {
          summary: "Link an account to an identity provider",
          tags,
          ...refuses("ticket_invalid", "invalid_credentials", "invalid_code", "insecure_connection", "rate_limited"),
          ...BODIES.link,
        },
      },
    )
}

/** Behind the #, a ticket reaches no log on its way. */
function pageOf(outcome: OidcOutcome): string {
  if (outcome.go === "in") return outcome.next
  return outcome.go === "link" ? `/signin/link#${outcome.ticket}` : `/signin?error=${outcome.error}`
}

function sendTo({ set }: { set: { status?: unknown; headers: Record<string, unknown> } }, url: string, cookies: readonly string[]): string {
  set.status = 303
  set.headers.location = url
  // More than one: the framework knows a list under this name.
  set.headers["set-cookie"] = cookies
  return ""
}

/** Of a query that is not judged: whatever is no text is not there. */
function textOf(query: object, name: string): string | undefined {
  const value = (query as Record<string, unknown>)[name]
  return typeof value === "string" && value !== "" ? value : undefined
}
