import { Type as t } from "@sinclair/typebox"
import { Elysia } from "elysia"
import { AppError } from "../../domain/error.ts"
import { isOwnPath } from "../../domain/own-path.ts"
import type { PrivateRouter } from "../../plugin/router.ts"
import type { Mail } from "../../services/mail-port.ts"
import type { Oidc, OidcOutcome } from "../../services/oidc.ts"
import { OIDC_TICKET_SECONDS, type OidcWay } from "../../services/oidc-round-trip.ts"
import { wantsPage } from "../accept.ts"
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

  /** To the provider. A person who cannot be sent there is told so on a page of ours; a program gets the problem. */
  async function sendAway(context: Sending, begin: () => Promise<OidcWay>, pageOfRefusal: (code: string) => string): Promise<string> {
    try {
      cookie.refuseInsecure(context.request)
      const { url, ticket } = await begin()
      return sendTo(context, url, [cookie.ticketLine(ticket, OIDC_TICKET_SECONDS)])
    } catch (error) {
      if (!(error instanceof AppError) || !wantsPage(context.request)) throw error
      return sendTo(context, pageOfRefusal(error.code), [])
    }
  }

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
      (context) =>
        sendAway(
          context,
          () => oidc.start(context.params.provider, nextOf(context.query), { origin: originOf(context) }),
          (error) => pageOf({ go: "back", error }),
        ),
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
      "/:provider/reauth",
      (context) => {
        const { params, query, user, session } = context
        const next = nextOf(query)
        return sendAway(
          context,
          () => oidc.startProof(params.provider, next, { user, session, origin: originOf(context) }),
          (error) => pageOf({ go: "unproved", error, next }),
        )
      },
      {
        self: true,
        query: ListQuery,
        detail: {
          summary: "Prove again who one is, at the identity provider",
          tags,
          ...refuses("forbidden", "insecure_connection", "rate_limited", "outbound_failed", "outbound_disabled", "blocked_address"),
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
          ...refuses("ticket_invalid", "invalid_credentials", "invalid_code", "sso_required", "insecure_connection", "rate_limited"),
          ...BODIES.link,
        },
      },
    )
}

interface Sending {
  request: Request
  set: { status?: unknown; headers: Record<string, unknown> }
}

/** Behind the #, a ticket reaches no log on its way. */
function pageOf(outcome: OidcOutcome | Refused): string {
  if (outcome.go === "in") return outcome.next
  if (outcome.go === "unproved") return withQuery(outcome.next, "reauth_error", outcome.error)
  return outcome.go === "link" ? `/signin/link#${outcome.ticket}` : `/signin?error=${outcome.error}`
}

/** Nobody was sent to the provider. */
type Refused = { go: "back"; error: string } | { go: "unproved"; error: string; next: string }

function withQuery(path: string, name: string, value: string): string {
  const url = new URL(path, "http://own")
  url.searchParams.set(name, value)
  return url.pathname + url.search + url.hash
}

function sendTo({ set }: Pick<Sending, "set">, url: string, cookies: readonly string[]): string {
  set.status = 303
  set.headers.location = url
  // More than one: the framework knows a list under this name.
  if (cookies.length > 0) set.headers["set-cookie"] = cookies
  return ""
}

/** The page that was wanted, where it is one of ours. */
function nextOf(query: object): string {
  const next = textOf(query, "next")
  return next !== undefined && isOwnPath(next) ? next : "/"
}

/** Of a query that is not judged: whatever is no text is not there. */
function textOf(query: object, name: string): string | undefined {
  const value = (query as Record<string, unknown>)[name]
  return typeof value === "string" && value !== "" ? value : undefined
}
