import { type Static, Type as t } from "@sinclair/typebox"
import { type Actor, fault, inspect, type JobWork, refuseFaults, type Site } from "#plugin"
import type { CohortsHost } from "./cohort.ts"
import { cohortError } from "./errors.ts"
import { type Erasure, findErasure, insertErasure, updateErasure } from "./rows.ts"

export const EraseInput = t.Object(
  {
    user_id: t.Optional(t.String({ minLength: 1, maxLength: 256, description: "User ID, as passed to `identify`." })),
    person: t.Optional(t.String({ minLength: 1, maxLength: 64, description: "Token of a person, instead of a user ID." })),
    confirm: t.Literal(true, { description: "Must be true: an erasure can't be undone." }),
  },
  { additionalProperties: false, title: "ErasePerson" },
)

/** What a job of an erasure knows. Without visitors nobody was found, and the job only answers like any other. */
interface ErasePayload {
  erasure: number
  /** Tokens of the person: several if the identity mode was left in between. */
  visitors: readonly string[]
}
export const ERASE_JOB = "erase-person"

export function createErasures(host: CohortsHost) {
  const { erasure, people } = host.services

  return {
    /** Starts the erasure of a person. The answer is the same for someone whom the site does not know. */
    async start(site: Site, body: unknown, by: { actor: Actor; userId: number }): Promise<Erasure> {
      const { fields, faults } = inspect(EraseInput, body, "", [])
      const { user_id: userId, person } = fields as Partial<Static<typeof EraseInput>>
      if (userId === undefined && person === undefined && faults.length === 0)
        faults.push(fault("/user_id", "required", "or person is required"))
      if (userId !== undefined && person !== undefined)
        faults.push(fault("/person", "unsupported_combination", "cannot be combined with user_id"))
      refuseFaults(faults)
      const ordinals = userId === undefined ? [await people.ordinalOf(site.id, person!)] : await people.find(site, userId) // one of them is given
      const visitors = await people.pseudonymsOf(
        site,
        ordinals.filter((ordinal) => ordinal !== undefined),
      )
      const visitorHash = await host.siteHash(site.id)
      return host.db.transaction(async (statements) => {
        const created = await insertErasure(statements, {
          siteId: site.id,
          visitorHash: visitorHash(userId ?? person ?? ""),
          requestedBy: by.userId,
          now: host.now(),
        })
        await host.audit.write(statements, by.actor, {
          action: "cohorts.person.erase",
          target: { type: "person", id: created.id, label: "" },
          organizationId: site.organization_id,
          siteId: site.id,
        })
        const payload: ErasePayload = { erasure: created.id, visitors }
        const job = { payload, key: String(site.id), organizationId: site.organization_id, siteId: site.id, createdBy: by.userId }
        await host.jobs.enqueue(ERASE_JOB, job, statements)
        return created
      })
    },

    async get(site: Site, id: number): Promise<Erasure> {
      const found = await findErasure(host.db, site.id, id)
      if (!found) throw cohortError("erasure_not_found", "This erasure doesn't exist on the site.")
      return found
    },

    /** Erases the person from both stores and all areas. Can be repeated after a crash. */
    async run({ payload, job, signal }: JobWork<ErasePayload>): Promise<void> {
      const siteId = job.site_id
      if (siteId === null || siteId === undefined) return
      const { erasure: id, visitors } = payload
      await updateErasure(host.db, id, { state: "running", counts: {}, finishedAt: null })
      const counts = visitors.length === 0 ? NOTHING : { ...NOTHING, ...(await erasure.person(siteId, visitors)) }
      if (visitors.length > 0) await erasure.overwrite(signal)
      await host.db.transaction(async (statements) => {
        await updateErasure(statements, id, { state: "done", counts, finishedAt: host.now() })
        await host.audit.write(statements, host.audit.system, {
          action: "cohorts.person.erased",
          target: { type: "person", id, label: "" },
          siteId,
          changes: { counts: [null, counts] },
        })
      })
    },
  }
}
export type Erasures = ReturnType<typeof createErasures>

const NOTHING = { visits: 0, events: 0, clicks: 0, opens: 0, transactions: 0 }
