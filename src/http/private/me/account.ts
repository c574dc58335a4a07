import { Elysia } from "elysia"
import { etagOf } from "../../domain/version.ts"
import { leaveUnread } from "../../plugin/body.ts"
import type { Call } from "../../plugin/guard.ts"
import type { Caller, PrivateRouter } from "../../plugin/router.ts"
import type { OwnAccount, Self } from "../../services/own-account.ts"
import type { OwnEmail } from "../../services/own-email.ts"
import type { SecondFactors } from "../../services/second-factors.ts"
import { expectedVersions } from "../public/conditions.ts"
import { NoQuery, Sent } from "../public/things.ts"
import { type GuestOptions, guests } from "./auth-guest.ts"
import { OwnUserShown, shownOwnUser } from "./me.ts"
import { answersEmpty, BODIES } from "./sent-bodies.ts"
import { refuses } from "./tagged.ts"

export interface MeAccountOptions extends GuestOptions {
  ownAccount: OwnAccount
  ownEmail: OwnEmail
  secondFactors: SecondFactors
}

const tags = ["me"]

/** What people change about themselves; nobody else may, whoever they act for. */
export function meAccountRoutes(router: PrivateRouter, options: MeAccountOptions) {
  const { ownAccount, ownEmail, secondFactors, cookie } = options
  const selfOf = selves(options)
  return new Elysia({ prefix: "/api/private/me" })
    .use(router)
    .use(cookie.writer())
    .patch(
      "",
      async (context) => {
        const mfa = await secondFactors.of(context.user)
        const terms = { expected: expectedVersions(context.request), current: (user: Self["user"]) => shownOwnUser(user, mfa) }
        const user = await ownAccount.update(selfOf(context), context.body.value, terms)
        context.set.headers.etag = etagOf(user)
        return shownOwnUser(user, mfa)
      },
      {
        self: { personal: true },
        body: Sent,
        query: NoQuery,
        response: { 200: OwnUserShown },
        detail: { summary: "Change name and choices", tags, ...BODIES.profile },
      },
    )
    .delete(
      "",
      async (context) => {
        await ownAccount.remove(selfOf(context))
        cookie.clear(context)
        context.set.status = 204
      },
      {
        self: { personal: true, sudo: true, read: leaveUnread },
        detail: { summary: "Delete the own account", tags, ...refuses("last_owner", "last_instance_admin") },
      },
    )
    .post(
      "/email",
      async (context) => {
        await ownEmail.ask(selfOf(context), context.body.value)
        context.set.status = 202
      },
      {
        self: { personal: true, sudo: true },
        body: Sent,
        detail: { summary: "Ask for another e-mail address", tags, ...refuses("mail_unavailable"), ...BODIES.email, ...answersEmpty(202) },
      },
    )
    .post(
      "/email/confirm",
      async (context) => {
        await ownEmail.confirm(selfOf(context), context.body.value)
        context.set.status = 204
      },
      {
        self: { personal: true },
        body: Sent,
        detail: { summary: "Confirm it by the link that was sent to it", tags, ...refuses("token_invalid"), ...BODIES.token },
      },
    )
    .post(
      "/password",
      async (context) => {
        await ownAccount.changePassword(selfOf(context), context.body.value)
        context.set.status = 204
      },
      {
        self: { personal: true, sudo: true },
        body: Sent,
        detail: { summary: "Choose another password", tags, ...refuses("invalid_credentials"), ...BODIES.password },
      },
    )
    .post(
      "/leave",
      async (context) => {
        await ownAccount.leave(selfOf(context), context.body.value)
        context.set.status = 204
      },
      {
        self: { personal: true },
        body: Sent,
        detail: { summary: "Leave an organization", tags, ...refuses("organization_not_found", "last_owner"), ...BODIES.leave },
      },
    )
}

/** The caller of a route of the own account, as services want it. */
export function selves(options: GuestOptions) {
  const { originOf } = guests(options)
  return ({ user, session, actor, request, server }: Caller & Pick<Call, "request" | "server">): Self => ({
    user,
    session,
    actor,
    origin: originOf({ request, server, actor }),
  })
}
