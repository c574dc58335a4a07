import { Elysia } from "elysia"
import { AppError } from "../../../domain/error.ts"
import { isOwnPath } from "../../../domain/own-path.ts"
import { SignedInResponse, SignInMethodsResponse } from "../../../domain/sign-in.ts"
import type { Mail } from "../../../services/mail/mail.ts"
import type { Oidc, OidcOutcome } from "../../../services/oidc/oidc.ts"
import { OIDC_TICKET_SECONDS, type OidcRedirect } from "../../../services/oidc/round-trip.ts"
import type { PrivateRouter } from "../../../web/router.ts"
import { wantsPage } from "../../accept.ts"
import { NoQuery, Sent } from "../../public/requests.ts"
import { type GuestOptions, guests, toUserResponse } from "../auth.ts"
import { BODIES } from "../bodies.ts"
import { answersEmpty, ListQuery, refuses } from "../responses.ts"

export interface OidcRoutesOptions extends GuestOptions {
  oidc: Oidc
  mail: Pick<Mail, "isOn">
}

const tags = ["auth"]

/** Creates the routes for single sign-on: the browser visits the provider and returns with a code for the ticket in its cookie. */
export function oidcRoutes(router: PrivateRouter, options: OidcRoutesOptions) {
  const { oidc, mail, cookie } = options
  const { guestOf, originOf, startSession, sessionHeader } = guests(options)

  /** Redirects to the provider. On failure, browsers are redirected to an error page and programs get a problem. */
  async function sendAway(context: Sending, begin: () => Promise<OidcRedirect>, pageOfRefusal: (code: string) => string): Promise<string> {
    try {
      cookie.refuseInsecure(context.request)
      const { url, ticket } = await begin()
      return sendTo(context, url, [cookie.ticketHeader(ticket, OIDC_TICKET_SECONDS)])
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
      response: { 200: SignInMethodsResponse },
      detail: { summary: "List identity providers and whether the instance can send email", tags },
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
          summary: "Sign in with an identity provider",
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
          summary: "Confirm your identity with an identity provider",
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
        const session = outcome.go === "in" ? [sessionHeader(outcome.signedIn)] : []
        return sendTo(context, pageOf(outcome), [cookie.ticketRemoval(), ...session])
      },
      {
        open: true,
        query: ListQuery,
        detail: { summary: "Complete the sign-in at an identity provider", tags, ...answersEmpty(303) },
      },
    )
    .post(
      "/link",
      async (context) => {
        const signedIn = await oidc.link(context.body.value, guestOf(context), context.person)
        startSession(context, signedIn)
        return { user: toUserResponse(signedIn.user) }
      },
      {
        open: true,
        query: NoQuery,
        body: Sent,
        response: { 200: SignedInResponse },
        detail: {
          summary: "Link your account to an identity provider",
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

/** Returns the page for a ticket. The ticket stands in the fragment, which is never sent to servers or written to logs. */
function pageOf(outcome: OidcOutcome | Refused): string {
  if (outcome.go === "in") return outcome.next
  if (outcome.go === "unproved") return withQuery(outcome.next, "reauth_error", outcome.error)
  return outcome.go === "link" ? `/signin/link#${outcome.ticket}` : `/signin?error=${outcome.error}`
}

/** Returns the error page if the browser could not be redirected to the provider. */
type Refused = { go: "back"; error: string } | { go: "unproved"; error: string; next: string }

function withQuery(path: string, name: string, value: string): string {
  const url = new URL(path, "http://own")
  url.searchParams.set(name, value)
  return url.pathname + url.search + url.hash
}

function sendTo({ set }: Pick<Sending, "set">, url: string, cookies: readonly string[]): string {
  set.status = 303
  set.headers.location = url
  // Elysia accepts a list for several cookies.
  if (cookies.length > 0) set.headers["set-cookie"] = cookies
  return ""
}

/** Returns the requested page if it belongs to the dashboard. */
function nextOf(query: object): string {
  const next = textOf(query, "next")
  return next !== undefined && isOwnPath(next) ? next : "/"
}

/** Returns a query parameter as text. Ignores other types, because the query is not validated. */
function textOf(query: object, name: string): string | undefined {
  const value = (query as Record<string, unknown>)[name]
  return typeof value === "string" && value !== "" ? value : undefined
}
