import { Elysia } from "elysia"
import { RecoveryCodesResponse, TotpResponse } from "../../../domain/account.ts"
import type { OwnFactors } from "../../../services/sign-in/own-factors.ts"
import { readNothing } from "../../../web/body.ts"
import type { PrivateRouter } from "../../../web/router.ts"
import { NoQuery, Sent } from "../../public/requests.ts"
import type { GuestOptions } from "../auth.ts"
import { BODIES } from "../bodies.ts"
import { refuses } from "../responses.ts"
import { selves } from "./account.ts"

export interface MeFactorsOptions extends GuestOptions {
  ownFactors: OwnFactors
}

const terms = { personal: true, sudo: true } as const
const tags = ["me"]

/** Creates the routes for the authenticator app of your account and its recovery codes. */
export function meFactorRoutes(router: PrivateRouter, options: MeFactorsOptions) {
  const { ownFactors } = options
  const selfOf = selves(options)
  return new Elysia({ prefix: "/api/private/me" })
    .use(router)
    .post("/totp/start", (context) => ownFactors.startTotp(selfOf(context)), {
      self: { ...terms, read: readNothing },
      query: NoQuery,
      response: { 200: TotpResponse },
      detail: { summary: "Start adding an authenticator app", tags },
    })
    .post("/totp/confirm", async (context) => ({ recovery_codes: await ownFactors.confirmTotp(selfOf(context), context.body.value) }), {
      self: terms,
      query: NoQuery,
      body: Sent,
      response: { 200: RecoveryCodesResponse },
      detail: {
        summary: "Confirm an authenticator app with its first code",
        tags,
        ...refuses("ticket_invalid", "invalid_code"),
        ...BODIES.totp,
      },
    })
    .post(
      "/totp/disable",
      async (context) => {
        await ownFactors.disableTotp(selfOf(context))
        context.set.status = 204
      },
      {
        self: { ...terms, read: readNothing },
        query: NoQuery,
        detail: { summary: "Remove the authenticator app", tags, ...refuses("invalid_state", "mfa_required_by_policy") },
      },
    )
    .post("/recovery-codes", async (context) => ({ recovery_codes: await ownFactors.newRecoveryCodes(selfOf(context)) }), {
      self: { ...terms, read: readNothing },
      query: NoQuery,
      response: { 200: RecoveryCodesResponse },
      detail: { summary: "Generate new recovery codes", tags, ...refuses("invalid_state") },
    })
}
