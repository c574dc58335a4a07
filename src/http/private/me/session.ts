import { Type as t } from "@sinclair/typebox"
import { Elysia } from "elysia"
import { SessionResponse, SignedOutResponse, SUDO_MS } from "../../../domain/account.ts"
import { instantText } from "../../../domain/moment.ts"
import type { SignOut } from "../../../services/sign-in/session.ts"
import type { Proofs } from "../../../services/sign-in/sign-in.ts"
import { readNothing } from "../../../web/body.ts"
import type { PrivateRouter } from "../../../web/router.ts"
import { NoQuery, Sent } from "../../public/requests.ts"
import { type GuestOptions, guests, toUserResponse } from "../auth.ts"
import { BODIES } from "../bodies.ts"
import { refuses } from "../responses.ts"
import { selves } from "./account.ts"

export interface SessionRoutesOptions extends GuestOptions {
  proofs: Proofs
  signOut: SignOut
}

const tags = ["auth"]

/** Creates the routes of the current session: read it, confirm your identity, sign out. */
export function sessionRoutes(router: PrivateRouter, options: SessionRoutesOptions) {
  const { now, proofs, signOut, cookie } = options
  const { startSession } = guests(options)
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
      {
        self: { duringMaintenance: true, read: readNothing },
        query: NoQuery,
        response: { 200: SignedOutResponse, 204: t.Void() },
        detail: { summary: "Sign out", tags },
      },
    )
    .get(
      "/session",
      ({ user, session }) => {
        const provedUntil = session.reauth_at + SUDO_MS
        return {
          user: toUserResponse(user),
          expires_at: instantText(session.expires_at),
          idle_expires_at: instantText(session.idle_expires_at),
          ...(provedUntil > now() && { reauth_until: instantText(provedUntil) }),
          ...(session.impersonator_id !== null && { impersonator: session.impersonator_email ?? "" }),
          ...(session.provider !== null && { provider: session.provider }),
        }
      },
      { self: true, query: NoQuery, response: { 200: SessionResponse }, detail: { summary: "Get the current session", tags } },
    )
    .post(
      "/reauth",
      async (context) => {
        const token = await proofs.prove(selfOf(context), context.body.value)
        startSession(context, { ...context, token })
        context.set.status = 204
      },
      {
        self: { personal: true, duringMaintenance: true },
        query: NoQuery,
        body: Sent,
        detail: {
          summary: "Confirm your identity",
          tags,
          ...refuses("invalid_credentials", "invalid_code", "ticket_invalid", "own_session_required", "insecure_connection"),
          ...BODIES.proof,
        },
      },
    )
}
