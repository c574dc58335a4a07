import { Type as t } from "@sinclair/typebox"
import { Elysia } from "elysia"
import { API } from "../../../domain/limits.ts"
import { FactorAcceptedResponse, FactorRequiredResponse, PasskeyChallengeResponse, SignedInResponse } from "../../../domain/sign-in.ts"
import type { Passkeys } from "../../../services/sign-in/passkeys.ts"
import type { SignIn } from "../../../services/sign-in/sign-in.ts"
import { readOptionalJson } from "../../../web/body.ts"
import type { PrivateRouter } from "../../../web/router.ts"
import { NoQuery, Sent } from "../../public/requests.ts"
import { type GuestOptions, guests, toUserResponse } from "../auth.ts"
import { BODIES } from "../bodies.ts"
import { refuses } from "../responses.ts"

export interface SignInRoutesOptions extends GuestOptions {
  signIn: SignIn
  passkeys: Pick<Passkeys, "begin" | "signIn">
}

const tags = ["auth"]

/** Creates the routes for signing in with a password and a second factor, or with a passkey. */
export function signInRoutes(router: PrivateRouter, options: SignInRoutesOptions) {
  const { signIn, passkeys, cookie } = options
  const { guestOf, originOf, startSession } = guests(options)
  return new Elysia({ prefix: "/api/private/auth" })
    .use(router)
    .use(cookie.writer())
    .post(
      "/login",
      async (context) => {
        const result = await signIn.byPassword(context.body.value, guestOf(context))
        if ("mfa_required" in result) return result
        startSession(context, result)
        return { user: toUserResponse(result.user) }
      },
      {
        open: true,
        query: NoQuery,
        body: Sent,
        response: { 200: t.Union([SignedInResponse, FactorRequiredResponse]) },
        detail: {
          summary: "Sign in with a password",
          tags,
          ...refuses("invalid_credentials", "sso_required", "insecure_connection", "rate_limited"),
          ...BODIES.login,
        },
      },
    )
    .post(
      "/mfa",
      async (context) => {
        const result = await signIn.byFactor(context.body.value, guestOf(context))
        startSession(context, result)
        const { user, recoveryCodesLeft } = result
        return { user: toUserResponse(user), ...(recoveryCodesLeft !== undefined && { recovery_codes_left: recoveryCodesLeft }) }
      },
      {
        open: true,
        query: NoQuery,
        body: Sent,
        response: { 200: FactorAcceptedResponse },
        detail: {
          summary: "Complete the sign-in with a second factor",
          tags,
          ...refuses("ticket_invalid", "invalid_code", "sso_required", "insecure_connection", "rate_limited"),
          ...BODIES.factor,
        },
      },
    )
    .post("/passkey/options", async ({ body, ...context }) => passkeys.begin(body.value, { origin: originOf(context) }), {
      open: { read: readOptionalJson(API.privateBodyBytes) },
      query: NoQuery,
      body: Sent,
      response: { 200: PasskeyChallengeResponse },
      detail: { summary: "Start signing in with a passkey", tags, ...refuses("ticket_invalid", "rate_limited"), ...BODIES.passkeyBegin },
    })
    .post(
      "/passkey/verify",
      async (context) => {
        const result = await passkeys.signIn(context.body.value, guestOf(context))
        startSession(context, result)
        return { user: toUserResponse(result.user) }
      },
      {
        open: true,
        query: NoQuery,
        body: Sent,
        response: { 200: SignedInResponse },
        detail: {
          summary: "Sign in with a passkey",
          tags,
          ...refuses("ticket_invalid", "invalid_credentials", "sso_required", "insecure_connection", "rate_limited"),
          ...BODIES.passkey,
        },
      },
    )
}
