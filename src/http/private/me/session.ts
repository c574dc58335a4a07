import { Type as t } from "@sinclair/typebox"
import { Elysia } from "elysia"
import { instantText } from "../../domain/moment.ts"
import { SUDO_MS } from "../../domain/session.ts"
import { leaveUnread } from "../../plugin/body.ts"
import type { PrivateRouter } from "../../plugin/router.ts"
import type { Proofs } from "../../services/proofs.ts"
import type { SignOut } from "../../services/sign-out.ts"
import { Sent } from "../public/things.ts"
import { type GuestOptions, guests } from "./auth-guest.ts"
import { shownUser, UserShown } from "./auth-shown.ts"
import { selves } from "./me-account.ts"
import { BODIES } from "./sent-bodies.ts"
import { refuses } from "./tagged.ts"

export interface SessionRoutesOptions extends GuestOptions {
  proofs: Proofs
  signOut: SignOut
}

const SessionShown = t.Object({
  user: UserShown,
  expires_at: t.String(),
  idle_expires_at: t.String(),
  reauth_until: t.Optional(t.String()),
  impersonator: t.Optional(t.String()),
  provider: t.Optional(t.String({ description: "The identity provider that opened it, where who one is can be proved again" })),
})
const LoggedOutShown = t.Object({ oidc_logout_url: t.String() })
const tags = ["auth"]

/** The present session: what it is, proving again who one is, and its end. */
export function sessionRoutes(router: PrivateRouter, options: SessionRoutesOptions) {
  const { now, proofs, signOut, cookie } = options
  const { welcome } = guests(options)
  const selfOf = selves(options)
  return new Elysia({ prefix: "/api/private/auth" })
    .use(router)
    .use(cookie.writer())
    .post(
      "/logout",
      async (context) => {
        const next = await signOut(context, cookie.impersonation.waiting(context.request))
        cookie.clear(context)
        if (next !== undefined) return { oidc_logout_url: next }
        context.set.status = 204
      },
      { self: { read: leaveUnread }, response: { 200: LoggedOutShown, 204: t.Void() }, detail: { summary: "Sign out", tags } },
    )
    .get(
      "/session",
      ({ user, session }) => {
        const provedUntil = session.reauth_at + SUDO_MS
        return {
          user: shownUser(user),
          expires_at: instantText(session.expires_at),
          idle_expires_at: instantText(session.idle_expires_at),
          ...(provedUntil > now() && { reauth_until: instantText(provedUntil) }),
          ...(session.impersonator_id !== null && { impersonator: session.impersonator_email ?? "" }),
          ...(session.provider !== null && { provider: session.provider }),
        }
      },
      { self: true, response: { 200: SessionShown }, detail: { summary: "The present session", tags } },
    )
    .post(
      "/reauth",
      async (context) => {
        const token = await proofs.prove(selfOf(context), context.body.value)
        welcome(context, { ...context, token })
        context.set.status = 204
      },
      {
        self: { personal: true },
        body: Sent,
        detail: {
          summary: "Prove again who one is",
          tags,
          ...refuses("invalid_credentials", "invalid_code", "ticket_invalid", "own_session_required", "insecure_connection"),
          ...BODIES.proof,
        },
      },
    )
}
