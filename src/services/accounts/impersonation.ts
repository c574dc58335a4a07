import { Type as t } from "@sinclair/typebox"
import type { Session } from "../../domain/account.ts"
import type { Actor } from "../../domain/audit.ts"
import { AppError } from "../../domain/error.ts"
import { parseId } from "../../domain/id.ts"
import { instantText } from "../../domain/moment.ts"
import { parsed } from "../../domain/sign-in.ts"
import type { User } from "../../domain/user.ts"
import type { Catalog } from "../../store/catalog/catalog.ts"
import { userById } from "../../store/catalog/users.ts"
import { type Audit, userEntry } from "../audit/audit.ts"
import type { MailQueue } from "../mail/mail.ts"
import { impersonationEmail } from "../mail/texts.ts"
import type { InstanceSettings } from "../settings/settings.ts"
import type { Person, Sessions } from "../sign-in/sessions.ts"

const ImpersonationInput = t.Object(
  {
    reason: t.String({
      minLength: 1,
      maxLength: 500,
      description: "Reason for the impersonation. Recorded in the audit log and, if the instance notifies users, sent to the user.",
    }),
    minutes: t.Optional(t.Integer({ minimum: 5, maximum: 60, description: "Length of the impersonation in minutes. Default: 30." })),
    mode: t.Optional(
      t.Union([t.Literal("read_only"), t.Literal("full")], {
        description: "`read_only` shows the dashboard as the user sees it; `full` also allows changes. Default: `read_only`.",
      }),
    ),
  },
  { additionalProperties: false, title: "ImpersonationInput" },
)

const DEFAULT_MINUTES = 30

/** Impersonation of users by instance admins. */
export interface Impersonation {
  /**
   * Creates a second session, for the user, and returns its token, which is available only once. Throws `validation_failed`,
   * `user_not_found`, `forbidden` for an instance admin and for a mode that the instance does not allow, and `invalid_state` for a user
   * who is not active.
   */
  start(actor: Actor, id: string | undefined, body: unknown): Promise<{ user: User; session: Session; token: string }>
  /**
   * Ends an impersonation and returns the admin's own session, if it is still valid. `own` is the token of that session. `person` is the
   * sender of the request, undefined if the impersonation has ended meanwhile. Throws `invalid_state` outside of an impersonation.
   */
  stop(actor: Actor, person: Person | undefined, own: string | undefined): Promise<Person | undefined>
}

interface ImpersonationOptions {
  catalog: Catalog
  audit: Pick<Audit, "write">
  sessions: Sessions
  settings: Pick<InstanceSettings, "get">
  mail: MailQueue
}

export function createImpersonation({ catalog, audit, sessions, settings, mail }: ImpersonationOptions): Impersonation {
  return {
    async start(actor, id, body) {
      const { reason, minutes = DEFAULT_MINUTES, mode = "read_only" } = parsed(ImpersonationInput, body)
      refuseMode(settings.get("impersonation"), mode)
      const by = actor.id!
      const started = await catalog.transaction(async (statements) => {
        const user = await userById(statements, parseId(id) ?? 0)
        refuseUser(user)
        const impersonation = { by, mode, reason, minutes }
        const client = { userAgent: actor.userAgent, ipPrefix: actor.ipPrefix }
        const made = await sessions.create(statements, user, { method: "impersonation", mfa: true, client, impersonation })
        await audit.write(statements, actor, {
          ...userEntry("admin.user.impersonate")(user),
          changes: { mode: [null, mode], reason: [null, reason], minutes: [null, minutes] },
        })
        const until = instantText(made.session.expires_at)
        if (settings.get("impersonation_notify"))
          await mail.post(statements, impersonationEmail(user.email, { by: actor.email, mode, reason, until }))
        return { user, ...made }
      })
      mail.wake()
      return started
    },
    async stop(actor, person, own) {
      if (person && person.session.impersonator_id === null)
        throw new AppError("invalid_state", "You are not impersonating anyone.", { state: "off" })
      if (person)
        await catalog.transaction(async (statements) => {
          await sessions.revoke(statements, person.session.id)
          await audit.write(statements, actor, userEntry("admin.user.impersonate-end")(person.user))
        })
      const before = own === undefined ? undefined : await sessions.find(own)
      // An impersonation session is not the admin's own session.
      return before?.session.impersonator_id === null ? before : undefined
    },
  }
}

function refuseMode(allowed: "off" | "read_only" | "full", mode: "read_only" | "full"): void {
  if (allowed === "off") throw new AppError("forbidden", "Impersonation is turned off on this instance.")
  if (allowed === "read_only" && mode === "full") throw new AppError("forbidden", "This instance only allows read-only impersonation.")
}

function refuseUser(user: User | undefined): asserts user is User {
  if (!user || user.status === "deleted") throw new AppError("user_not_found", "There is no user with this id.")
  if (user.is_instance_admin) throw new AppError("forbidden", "Instance admins cannot be impersonated.")
  if (user.status !== "active")
    throw new AppError("invalid_state", "This user is not active, so they cannot be impersonated.", { state: user.status })
}
