import type { Actor } from "../domain/audit.ts"
import type { Clock } from "../domain/clock.ts"
import { isEmail } from "../domain/user.ts"
import type { Audit } from "./audit.ts"

/** Notes a sign-in or a proof that failed, under the address that was typed. */
export type NoteFailure = (actor: Actor, what: FailedStep, typed: string) => Promise<void>
type FailedStep = "accounts.session.create" | "accounts.session.prove"

const LISTED_PER_DAY = 100
const DAY_MS = 86_400_000
/** Of all neighbourhoods together: whoever has many must not fill the log. */
const LISTED_IN_ALL = 5_000
const NETWORKS = 50_000

/**
 * The first hundred of a day and neighbourhood are rows of the audit log, the last of which says that there may be more; and
 * five thousand of a day in all.
 */
export function failureNotes({ clock, audit }: { clock: Pick<Clock, "now">; audit: Audit }): NoteFailure {
  let day = 0
  let counts = new Map<string, number>()
  let listed = 0
  return async (actor, action, typed) => {
    const today = Math.floor(clock.now() / DAY_MS)
    if (today !== day) listed = 0
    if (today !== day || counts.size >= NETWORKS) counts = new Map()
    day = today
    const count = (counts.get(actor.ipPrefix) ?? 0) + 1
    counts.set(actor.ipPrefix, count)
    if (count > LISTED_PER_DAY || ++listed > LISTED_IN_ALL) return
    // Whoever types the password into the wrong field must not find it in the log.
    const label = isEmail(typed) ? typed : ""
    const changes = count === LISTED_PER_DAY ? { later_ones_of_the_day: [null, "not listed"] as const } : {}
    await audit.writeAlone(actor, { action, target: { type: "user", id: "", label }, outcome: "failed", changes })
  }
}
