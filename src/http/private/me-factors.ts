import { Type as t } from "@sinclair/typebox"
import { Elysia } from "elysia"
import { leaveUnread } from "../../plugin/body.ts"
import type { PrivateRouter } from "../../plugin/router.ts"
import type { OwnFactors } from "../../services/own-factors.ts"
import { Sent } from "../public/things.ts"
import type { GuestOptions } from "./auth-guest.ts"
import { selves } from "./me-account.ts"
import { BODIES } from "./sent-bodies.ts"
import { refuses } from "./tagged.ts"

export interface MeFactorsOptions extends GuestOptions {
  ownFactors: OwnFactors
}

const TotpShown = t.Object({ secret: t.String(), otpauth_uri: t.String(), qr_svg: t.String(), ticket: t.String() })
const CodesShown = t.Object({ recovery_codes: t.Array(t.String()) })
const terms = { personal: true, sudo: true } as const
const tags = ["me"]

/** The authenticator app of the own account, and its codes for emergencies. */
export function meFactorRoutes(router: PrivateRouter, options: MeFactorsOptions) {
  const { ownFactors } = options
  const selfOf = selves(options)
  return new Elysia({ prefix: "/api/private/me" })
    .use(router)
    .post("/totp/start", (context) => ownFactors.startTotp(selfOf(context)), {
      self: { ...terms, read: leaveUnread },
      response: { 200: TotpShown },
      detail: { summary: "Begin to add an authenticator app", tags },
    })
    .post("/totp/confirm", async (context) => ({ recovery_codes: await ownFactors.confirmTotp(selfOf(context), context.body.value) }), {
      self: terms,
      body: Sent,
      response: { 200: CodesShown },
      detail: { summary: "Add it, by its first code", tags, ...refuses("ticket_invalid", "invalid_code"), ...BODIES.totp },
    })
    .post(
      "/totp/disable",
      async (context) => {
        await ownFactors.disableTotp(selfOf(context))
        context.set.status = 204
      },
      {
        self: { ...terms, read: leaveUnread },
        detail: { summary: "Take the authenticator app away", tags, ...refuses("invalid_state", "mfa_required_by_policy") },
      },
    )
    .post("/recovery-codes", async (context) => ({ recovery_codes: await ownFactors.newRecoveryCodes(selfOf(context)) }), {
      self: { ...terms, read: leaveUnread },
      response: { 200: CodesShown },
      detail: { summary: "Make new codes for emergencies", tags, ...refuses("invalid_state") },
    })
}
