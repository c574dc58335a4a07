import type { Actor } from "../../domain/audit.ts"
import type { Clock } from "../../domain/clock.ts"
import { isEmail } from "../../domain/user.ts"
import type { Audit } from "../audit/audit.ts"

/** Records a failed sign-in or identity confirmation in the audit log, under the email address that was entered. */
export type NoteFailure = (actor: Actor, what: FailedStep, typed: string) => Promise<void>
export type FailedStep = "accounts.session.create" | "accounts.session.prove"

const MAX_LISTED_PER_NETWORK = 100
const DAY_MS = 86_400_000
/** Limit for all networks together, so that an attacker with many networks cannot fill the log. */
const MAX_LISTED_PER_DAY = 5_000
const MAX_NETWORKS = 50_000

/**
 * Creates the recorder of failures. It writes at most 100 audit entries per day and network, the last of which says that later ones are
 * not listed, and at most 5,000 per day in total.
 */
export function failureNotes({ clock, audit }: { clock: Pick<Clock, "now">; audit: Audit }): NoteFailure {
  let day = 0
  let counts = new Map<string, number>()
  let listed = 0
  return async (actor, action, typed) => {
    const today = Math.floor(clock.now() / DAY_MS)
    if (today !== day) listed = 0
    if (today !== day || counts.size >= MAX_NETWORKS) counts = new Map()
    day = today
    const count = (counts.get(actor.ipPrefix) ?? 0) + 1
    counts.set(actor.ipPrefix, count)
    if (count > MAX_LISTED_PER_NETWORK || ++listed > MAX_LISTED_PER_DAY) return
    // A password that was typed into the wrong field must not end up in the log.
    const label = isEmail(typed) ? typed : ""
    const changes = count === MAX_LISTED_PER_NETWORK ? { later_ones_of_the_day: [null, "not listed"] as const } : {}
    await audit.writeAlone(actor, { action, target: { type: "user", id: "", label }, outcome: "failed", changes })
  }
}
