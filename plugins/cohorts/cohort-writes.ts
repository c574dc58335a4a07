import { type Actor, AppError, type OwnStatements, refuseOtherVersion, refuseStaleBody, type Site, type Trash } from "#plugin"
import { type Cohort, type CohortFields, type CohortsHost, LIMITS } from "./cohort.ts"
import { conditionsOf } from "./definition.ts"
import { cohortError } from "./errors.ts"
import { refuseRevenue } from "./evaluation.ts"
import { readCohortPatch, readNewCohort } from "./input.ts"
import { refuseBroken, refuseCycle, refuseTangle, type Setting } from "./resolve.ts"
import { deleteCohort, forgetComputed, insertCohort, listCohorts, type NewCohort, refuseTaken, updateCohort } from "./rows.ts"

/** Author of a change, and the versions in the header `If-Match`. */
export interface ChangeAuthor {
  actor: Actor
  seesRevenue: boolean
  expected: readonly number[] | undefined
}

interface WriteParts {
  trash: Trash<Cohort>
  /** Returns what definitions of a site can refer to, within a transaction or outside. */
  settingOf(site: Site, statements?: OwnStatements): Promise<Setting>
  /** Returns for how many days people must be recognized by a definition. */
  neededDays(fields: CohortFields, setting: Setting): number
  show(cohort: Cohort, site: Site): Promise<object>
}

type Alongside = (statements: OwnStatements, cohort: Cohort) => Promise<void>
export type CohortWrites = ReturnType<typeof createCohortWrites>

/** Changes to cohorts. Each change writes one audit entry in its own transaction. */
export function createCohortWrites(host: CohortsHost, { trash, settingOf, neededDays, show }: WriteParts) {
  const { db, now } = host
  const { find, findDeleted } = trash

  const audit = (statements: OwnStatements, actor: Actor, site: Site, { verb, cohort, changes }: Change): Promise<void> =>
    host.audit.write(statements, actor, {
      action: `cohorts.cohort.${verb}`,
      target: { type: "cohort", id: cohort.id, label: cohort.name },
      organizationId: site.organization_id,
      siteId: site.id,
      ...(changes && { changes }),
    })

  async function refuseFull(statements: OwnStatements, site: Site): Promise<void> {
    if ((await listCohorts(statements, site.id)).length < LIMITS.cohorts) return
    throw new AppError("limit_reached", `A site can have at most ${LIMITS.cohorts} cohorts.`, {
      limit: LIMITS.cohorts,
      resource: "cohorts",
    })
  }

  /** Checks what a definition refers to, in the transaction that stores it. Returns for how many days it needs people to be recognized. */
  async function judge(
    statements: OwnStatements,
    site: Site,
    fields: CohortFields,
    { seesRevenue, id }: { seesRevenue: boolean; id?: number },
  ): Promise<number> {
    const setting = await settingOf(site, statements)
    refuseRevenue(fields.definition, { seesRevenue }, setting)
    refuseCycle(id, fields.definition, setting.cohorts)
    refuseTangle(id, fields.definition, setting.cohorts)
    refuseBroken(fields.definition, setting)
    return neededDays(fields, setting)
  }

  async function insert(
    statements: OwnStatements,
    site: Site,
    wanted: NewCohort,
    by: { actor: Actor; alongside: Alongside },
  ): Promise<Cohort> {
    await refuseFull(statements, site)
    await refuseTaken(statements, site, wanted.name)
    const cohort = await insertCohort(statements, wanted)
    await audit(statements, by.actor, site, {
      verb: wanted.kind === "static" ? "freeze" : "create",
      cohort,
      changes: changedFields(undefined, cohort),
    })
    await by.alongside(statements, cohort)
    return cohort
  }

  return {
    get: (site: Site, id: string | undefined): Promise<Cohort> => find(db, site, id),
    getDeleted: (site: Site, id: string | undefined): Promise<Cohort> => findDeleted(db, site, id),

    async create(
      site: Site,
      body: unknown,
      by: { actor: Actor; userId: number; seesRevenue: boolean; alongside: Alongside },
    ): Promise<Cohort> {
      const fields = readNewCohort(body)
      return db.transaction(async (statements) => {
        const identity_min_days = await judge(statements, site, fields, by)
        return insert(
          statements,
          site,
          { ...fields, kind: "dynamic", identity_min_days, siteId: site.id, createdBy: by.userId, now: now() },
          by,
        )
      })
    },

    /** Creates the row of a frozen copy, which has no members yet. */
    createStatic: (site: Site, source: Cohort, name: string, by: { actor: Actor; userId: number; alongside: Alongside }): Promise<Cohort> =>
      db.transaction((statements) =>
        insert(statements, site, { ...source, name, kind: "static", siteId: site.id, createdBy: by.userId, now: now() }, by),
      ),

    /** Removes a frozen copy whose members could not be stored. */
    discard: ({ id }: Cohort): Promise<void> => deleteCohort(db, id),

    /** Applies a merge patch. A patch without changes keeps the version. */
    async update(site: Site, id: string | undefined, body: unknown, { actor, seesRevenue, expected }: ChangeAuthor): Promise<Cohort> {
      const { fields, version } = readCohortPatch(body)
      const current = version === undefined ? {} : await show(await find(db, site, id), site)
      return db.transaction(async (statements) => {
        const cohort = await find(statements, site, id)
        refuseStaleBody(cohort, version, () => current)
        refuseOtherVersion(cohort, expected)
        const wanted = { ...cohort, ...fields }
        const changes = changedFields(cohort, wanted)
        if (Object.keys(changes).length === 0) return cohort
        const redefined = "definition" in changes || "restrict" in changes
        if (redefined && cohort.kind === "static")
          throw cohortError("static_cohort", "The definition of a frozen cohort can't change. Create a new cohort, and freeze it again.")
        if ("name" in changes) await refuseTaken(statements, site, wanted.name, cohort.id)
        const identity_min_days = redefined
          ? await judge(statements, site, wanted, { seesRevenue, id: cohort.id })
          : cohort.identity_min_days
        const changed = await updateCohort(statements, cohort.id, { ...wanted, identity_min_days }, now())
        const shown = redefined ? await forgetComputed(statements, cohort.id) : changed
        await audit(statements, actor, site, { verb: "update", cohort: changed, changes })
        return shown
      })
    },

    /** Deletes a cohort. Throws `in_use` with the cohorts that refer to it, unless forced. */
    async remove(
      site: Site,
      id: string | undefined,
      { actor, expected, force }: Omit<ChangeAuthor, "seesRevenue"> & { force: boolean },
    ): Promise<void> {
      await db.transaction(async (statements) => {
        const cohort = await find(statements, site, id)
        refuseOtherVersion(cohort, expected)
        const used = force ? [] : usesOf(cohort.id, await listCohorts(statements, site.id))
        if (used.length > 0)
          throw cohortError("in_use", "Other cohorts refer to this cohort. Change them first, or delete it with force.", {
            used_by: used.map(({ id, name }) => ({ type: "cohort", id, name })),
          })
        await updateCohort(statements, cohort.id, { ...cohort, deleted_at: now() }, now())
        await audit(statements, actor, site, { verb: "delete", cohort })
      })
    },

    /** Restores a deleted cohort. Throws `cohort_exists` if another cohort has its name by now. */
    restore: (site: Site, id: string | undefined, actor: Actor): Promise<Cohort> =>
      db.transaction(async (statements) => {
        const cohort = await findDeleted(statements, site, id)
        await refuseFull(statements, site)
        await refuseTaken(statements, site, cohort.name, cohort.id)
        const { cohorts } = await settingOf(site, statements)
        if (cohort.kind === "dynamic") {
          refuseCycle(cohort.id, cohort.definition, cohorts)
          refuseTangle(cohort.id, cohort.definition, cohorts)
        }
        const restored = await updateCohort(statements, cohort.id, { ...cohort, deleted_at: null }, now())
        await audit(statements, actor, site, { verb: "restore", cohort: restored })
        return restored
      }),
  }
}

/** Returns the cohorts whose definitions refer to a cohort. */
const usesOf = (id: number, cohorts: readonly Cohort[]): Cohort[] =>
  cohorts.filter(
    ({ kind, definition }) =>
      kind === "dynamic" && conditionsOf(definition).some((condition) => condition.type === "cohort" && condition.cohort_id === id),
  )

interface Change {
  verb: string
  cohort: Cohort
  changes?: Record<string, readonly [unknown, unknown]>
}

const EDITABLE = ["name", "description", "definition", "restrict"] as const

/** Returns the changed fields with their values before and after. */
function changedFields(before: Cohort | undefined, after: CohortFields): Record<string, readonly [unknown, unknown]> {
  const changed = EDITABLE.filter((field) => !Bun.deepEquals(before?.[field] ?? null, after[field]))
  return Object.fromEntries(changed.map((field) => [field, [before?.[field] ?? null, after[field]]]))
}
