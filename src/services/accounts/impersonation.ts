import { Type as t } from "@sinclair/typebox"
import type { Actor } from "../../domain/audit.ts"
import { AppError } from "../../domain/error.ts"
import { parseId } from "../../domain/id.ts"
import { instantText } from "../../domain/moment.ts"
import type { Session } from "../../domain/session.ts"
import { parsed } from "../../domain/sign-in-input.ts"
import type { User } from "../../domain/user.ts"
import type { Catalog } from "../../store/catalog/catalog.ts"
import { userById } from "../../store/catalog/users.ts"
import type { Audit } from "../audit.ts"
import type { InstanceSettings } from "../instance-settings.ts"
import type { PostedMail } from "../mail.ts"
import { userDeed } from "../own-account.ts"
import type { Person, Sessions } from "../sessions.ts"
import { impersonatedLetter } from "./user-letters.ts"

const ImpersonationInput = t.Object(
  {
    reason: t.String({ minLength: 1, maxLength: 500, description: "Kept in the audit log, and told to the user" }),
    minutes: t.Optional(t.Integer({ minimum: 5, maximum: 60, description: "30 unless said otherwise" })),
    mode: t.Optional(t.Union([t.Literal("read_only"), t.Literal("full")], { description: "read_only unless said otherwise" })),
  },
  { additionalProperties: false, title: "ImpersonationInput" },
)

const USUAL_MINUTES = 30

/** Instance admins who see the instance as one of its users does. */
export interface Impersonation {
  /**
   * A second session, for the user; the token is told this once. Throws `validation_failed`, `user_not_found`, `forbidden` for
   * another instance admin and for what the setting does not allow, `invalid_state` for a user who cannot sign in.
   */
  start(actor: Actor, id: string | undefined, body: unknown): Promise<{ user: User; session: Session; token: string }>
  /**
   * Ends it. `own` is the token with which the admin was signed in before: whose it is comes back while that session lives.
   * `person` is who the request came from; it may be nobody any more.
   */
  stop(actor: Actor, person: Person | undefined, own: string | undefined): Promise<Person | undefined>
}

interface ImpersonationOptions {
  catalog: Catalog
  audit: Pick<Audit, "write">
  sessions: Sessions
  settings: Pick<InstanceSettings, "get">
  mail: PostedMail
}

export function createImpersonation({ catalog, audit, sessions, settings, mail }: ImpersonationOptions): Impersonation {
  return {
    async start(actor, id, body) {
      const { reason, minutes = USUAL_MINUTES, mode = "read_only" } = parsed(ImpersonationInput, body)
      refuseMode(settings.get("impersonation"), mode)
      const by = actor.id!
      const begun = await catalog.transaction(async (statements) => {
        const user = await userById(statements, parseId(id) ?? 0)
        refuseUser(user)
        const impersonation = { by, mode, reason, minutes }
        const client = { userAgent: actor.userAgent, ipPrefix: actor.ipPrefix }
        const made = await sessions.create(statements, user, { method: "impersonation", mfa: true, client, impersonation })
        await audit.write(statements, actor, {
          ...userDeed("admin.user.impersonate")(user),
          changes: { mode: [null, mode], reason: [null, reason], minutes: [null, minutes] },
        })
        const until = instantText(made.session.expires_at)
        if (settings.get("impersonation_notify"))
          await mail.post(statements, impersonatedLetter(user.email, { by: actor.email, mode, reason, until }))
        return { user, ...made }
      })
      mail.wake()
      return begun
    },
    async stop(actor, person, own) {
      if (person && person.session.impersonator_id !== null)
        await catalog.transaction(async (statements) => {
          await sessions.revoke(statements, person.session.id)
          await audit.write(statements, actor, userDeed("admin.user.impersonate-end")(person.user))
        })
      const before = own === undefined ? undefined : await sessions.find(own)
      // A session that is an impersonation itself is nobody's own.
      return before?.session.impersonator_id === null ? before : undefined
    },
  }
}

function refuseMode(allowed: "off" | "read_only" | "full", mode: "read_only" | "full"): void {
  if (allowed === "off") throw new AppError("forbidden", "Acting as a user is switched off on this instance.")
  if (allowed === "read_only" && mode === "full")
    throw new AppError("forbidden", "On this instance one may look as a user does, and no more.")
}

function refuseUser(user: User | undefined): asserts user is User {
  if (!user || user.status === "deleted") throw new AppError("user_not_found", "No user has this id")
  if (user.is_instance_admin) throw new AppError("forbidden", "Nobody acts as another instance admin.")
  if (user.status !== "active") throw new AppError("invalid_state", "The user cannot sign in.", { state: user.status })
}
