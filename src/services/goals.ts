import type { Clock } from "../domain/clock.ts"
import { AppError } from "../domain/error.ts"
import { type Goal, type GoalFields, goalNotFound, parseGoal, patchGoal } from "../domain/goal.ts"
import { parseId } from "../domain/id.ts"
import { THINGS } from "../domain/limits.ts"
import type { GoalRule } from "../domain/query.ts"
import type { Site } from "../domain/site.ts"
import type { Catalog, Statements } from "../store/catalog/catalog.ts"
import { countGoals, deleteGoal, goalById, goalLike, insertGoal, listAllGoals, listGoals, updateGoal } from "../store/catalog/goals.ts"
import { createSiteLists } from "./site-lists.ts"
import { inSlices } from "./slices.ts"

/** Whoever calls has been let in to the site. A goal of another site is `goal_not_found`. */
export interface Goals {
  /** Throws `goal_exists` with `existing_id` when one says the same or has the same name. */
  create(site: Site, body: unknown): Promise<Goal>
  list(site: Site): Promise<Goal[]>
  get(site: Site, id: string | number | undefined): Promise<Goal>
  /** A merge patch. */
  update(site: Site, id: string | number | undefined, patch: unknown): Promise<Goal>
  remove(site: Site, id: string | number | undefined): Promise<void>
  /** As the engine evaluates them, by id; from memory, always exact. */
  rules(siteId: number): readonly GoalRule[]
}

export async function createGoals({ catalog, clock }: { catalog: Catalog; clock: Pick<Clock, "now"> }): Promise<Goals> {
  const kept = createSiteLists(await inSlices((slice) => listAllGoals(catalog, slice)))

  return {
    async create(site, body) {
      const fields = parseGoal(body, site.settings)
      return catalog.transaction(async (statements) => {
        await refuseSame(statements, site, fields)
        if ((await countGoals(statements, site.id)) >= THINGS.goals) throw tooManyGoals()
        return insertGoal(statements, site.id, fields, clock.now())
      }, kept.put)
    },
    list: (site) => listGoals(catalog, site.id),
    get: (site, id) => find(catalog, site, id),
    update: (site, id, patch) =>
      catalog.transaction(async (statements) => {
        const goal = await find(statements, site, id)
        const fields = patchGoal(goal, patch, site.settings)
        await refuseSame(statements, site, fields, goal.id)
        return updateGoal(statements, goal.id, fields, clock.now())
      }, kept.put),
    async remove(site, id) {
      await catalog.transaction(async (statements) => {
        const goal = await find(statements, site, id)
        await deleteGoal(statements, goal.id)
        return goal
      }, kept.remove)
    },
    rules: kept.of,
  }
}

async function find(statements: Statements, site: Site, named: string | number | undefined): Promise<Goal> {
  const id = parseId(named)
  const goal = id === undefined ? undefined : await goalById(statements, site.id, id)
  if (!goal) throw goalNotFound()
  return goal
}

async function refuseSame(statements: Statements, site: Site, fields: GoalFields, itself?: number): Promise<void> {
  const same = (await goalLike(statements, site.id, fields)).find(({ id }) => id !== itself)
  if (same) throw new AppError("goal_exists", "The site already has this goal, or one of this name", { existing_id: same.id })
}

const tooManyGoals = () =>
  new AppError("limit_reached", `A site may have ${THINGS.goals} goals`, { limit: THINGS.goals, resource: "goals" })
