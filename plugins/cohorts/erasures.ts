import { Type as t } from "@sinclair/typebox"
import { type Actor, fault, inspect, instantText, type JobWork, type PersonFacts, refuseFaults, type Site } from "#plugin"
import { engineCaller } from "./caller.ts"
import type { CohortsHost } from "./cohort.ts"
import { cohortError } from "./errors.ts"
import type { ErasurePreviewResponse } from "./responses.ts"
import { type Erasure, findErasure, insertErasure, updateErasure } from "./rows.ts"

export const EraseInput = t.Object(
  {
    user_id: t.Optional(t.String({ minLength: 1, maxLength: 256, description: "User ID, as passed to `identify`." })),
    person: t.Optional(t.String({ minLength: 1, maxLength: 64, description: "Token of a person, instead of a user ID." })),
    confirm: t.Literal(true, { description: "Must be true: an erasure can't be undone." }),
  },
  { additionalProperties: false, title: "ErasePerson" },
)

const WHO = {
  user_id: t.Optional(
    t.String({ minLength: 1, maxLength: 256, description: "User id, as passed to `identify`. Either this or `visitor`." }),
  ),
  visitor: t.Optional(
    t.String({ minLength: 1, maxLength: 64, description: "Pseudonym of a visitor, as in exports: 16 hexadecimal digits." }),
  ),
}
/** The person of an erasure in the public API, which calls a token by the name that exports have. */
export const ErasureSelection = t.Object(WHO, { additionalProperties: false, title: "PersonErasureSelection" })
export const ErasureInput = t.Object(
  { ...WHO, confirm: t.Literal(true, { description: "Must be true: an erasure cannot be undone." }) },
  { additionalProperties: false, title: "PersonErasureInput" },
)

/** A person, named by a user id or by a token. */
interface Named {
  userId?: string
  person?: string
}

/** Reads who is to be erased. Throws `validation_failed`. */
export function readErasure(body: unknown, schema: typeof EraseInput | typeof ErasureInput | typeof ErasureSelection): Named {
  const { fields, faults } = inspect(schema, body, "", [])
  const { user_id: userId, person, visitor } = fields as { user_id?: string; person?: string; visitor?: string }
  const name = schema === EraseInput ? "person" : "visitor"
  const token = person ?? visitor
  if (userId === undefined && token === undefined && faults.length === 0)
    faults.push(fault("/user_id", "required", `or ${name} is required`))
  if (userId !== undefined && token !== undefined)
    faults.push(fault(`/${name}`, "unsupported_combination", "cannot be combined with user_id"))
  refuseFaults(faults)
  return { ...(userId !== undefined && { userId }), ...(token !== undefined && { person: token }) }
}

/** What a job of an erasure knows. Without visitors nobody was found, and the job only answers like any other. */
interface ErasePayload {
  erasure: number
  /** Tokens of the person: several if the identity mode was left in between. */
  visitors: readonly string[]
}
export const ERASE_JOB = "erase-person"

export function createErasures(host: CohortsHost) {
  const { erasure, people } = host.services

  /** Returns the visitors that are the person. Empty for someone whom the site does not know. */
  async function visitorsOf(site: Site, { userId, person }: Named): Promise<number[]> {
    const found = userId === undefined ? [await people.numberOf(site.id, person ?? "")] : await people.find(site, userId)
    return found.filter((visitor) => visitor !== undefined)
  }

  return {
    /** Counts what an erasure would remove. */
    async preview(site: Site, named: Named, signal: AbortSignal): Promise<ErasurePreviewResponse> {
      const visitors = await visitorsOf(site, named)
      // A moment lies in one period of every identity mode, so that the people of each can be counted.
      const now = host.now()
      const { scope } = await people.resolve({ site, range: { from: now, to: now + 1 } })
      const found: PersonFacts[] = []
      for (const visitor of visitors) {
        const query = { site: scope.site, scope, visitor, days: [0, now], limit: 1 }
        const { person } = await host.engine.person(query, engineCaller({ site, signal }))
        if (person) found.push(person)
      }
      return {
        visitors: await people.pseudonymsOf(site, visitors),
        visits: found.reduce((sum, { visits }) => sum + visits, 0),
        events: found.reduce((sum, { events }) => sum + events, 0),
        ...(found.length > 0 && {
          first_seen: instantText(Math.min(...found.map(({ first_seen }) => first_seen))),
          last_seen: instantText(Math.max(...found.map(({ last_seen }) => last_seen))),
        }),
      }
    },

    /** Starts the erasure of a person. The answer is the same for someone whom the site does not know. */
    async start(site: Site, named: Named, by: { actor: Actor; userId: number | null }): Promise<Erasure> {
      const visitors = await people.pseudonymsOf(site, await visitorsOf(site, named))
      const visitorHash = await host.siteHash(site.id)
      return host.db.transaction(async (statements) => {
        const created = await insertErasure(statements, {
          siteId: site.id,
          visitorHash: visitorHash(named.userId ?? named.person ?? ""),
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
        const job = {
          payload,
          key: String(site.id),
          organizationId: site.organization_id,
          siteId: site.id,
          ...(by.userId !== null && { createdBy: by.userId }),
        }
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
