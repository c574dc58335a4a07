import { Type as t } from "@sinclair/typebox"
import { Elysia } from "elysia"
import { instantText } from "../../domain/moment.ts"
import type { Session } from "../../domain/session.ts"
import { leaveUnread } from "../../plugin/body.ts"
import type { PrivateRouter } from "../../plugin/router.ts"
import type { OwnAccount } from "../../services/own-account.ts"
import { NoQuery } from "../public/things.ts"
import type { GuestOptions } from "./auth-guest.ts"
import { selves } from "./me-account.ts"

export interface MeSessionsOptions extends GuestOptions {
  ownAccount: OwnAccount
}

const SessionShown = t.Object({
  id: t.Integer(),
  current: t.Boolean(),
  method: t.String(),
  device: t.String(),
  place: t.String(),
  ip_prefix: t.String(),
  created_at: t.String(),
  last_seen_at: t.String(),
})
const SessionsShown = t.Object({ data: t.Array(SessionShown), has_more: t.Boolean(), next_cursor: t.Null() })
const tags = ["me"]

/** Where the user is signed in, and signing out there. */
export function meSessionRoutes(router: PrivateRouter, options: MeSessionsOptions) {
  const { ownAccount } = options
  const selfOf = selves(options)
  return new Elysia({ prefix: "/api/private/me" })
    .use(router)
    .get(
      "/sessions",
      async (context) => {
        const data = (await ownAccount.sessions(selfOf(context))).map((session) => shownSession(session, context.session.id))
        return { data, has_more: false, next_cursor: null }
      },
      {
        self: { personal: true },
        query: NoQuery,
        response: { 200: SessionsShown },
        detail: { summary: "Where the user is signed in", tags },
      },
    )
    .post(
      "/sessions/revoke-others",
      async (context) => {
        await ownAccount.endOtherSessions(selfOf(context))
        context.set.status = 204
      },
      { self: { personal: true, read: leaveUnread }, detail: { summary: "Sign out everywhere else", tags } },
    )
    .delete(
      "/sessions/:id",
      async (context) => {
        await ownAccount.endSession(selfOf(context), context.params.id)
        context.set.status = 204
      },
      { self: { personal: true, read: leaveUnread }, detail: { summary: "Sign out one of them", tags } },
    )
}

const shownSession = (session: Session, present: number) => ({
  id: session.id,
  current: session.id === present,
  method: session.method,
  device: session.device,
  place: session.place,
  ip_prefix: session.ip_prefix,
  created_at: instantText(session.created_at),
  last_seen_at: instantText(session.last_seen_at),
})
