import type { Clock } from "../../domain/clock.ts"
import { AppError } from "../../domain/error.ts"
import { type Goal, type GoalFields, goalNotFound, parseGoal, patchGoal } from "../../domain/goal.ts"
import { THINGS } from "../../domain/limits.ts"
import type { GoalRule } from "../../domain/query.ts"
import type { Site } from "../../domain/site.ts"
import type { Catalog, Statements } from "../../store/catalog/catalog.ts"
import {
  countGoals,
  deleteGoal,
  equivalentGoals,
  goalById,
  insertGoal,
  listAllGoals,
  listGoals,
  updateGoal,
} from "../../store/catalog/goals.ts"
import { inSlices } from "../lists/paging.ts"
import { createSiteLists, createSiteThings, type SiteThings, type ThingKind } from "./site-things.ts"

/**
 * Goals of sites. `create` and `update` throw `goal_exists` with `existing_id` when another goal has the same definition or the
 * same name.
 */
export interface Goals extends SiteThings<Goal> {
  /** Returns the goals of a site as the engine evaluates them, by id. Read from memory, always exact. */
  rules(siteId: number): readonly GoalRule[]
}

export async function createGoals({ catalog, clock }: { catalog: Catalog; clock: Pick<Clock, "now"> }): Promise<Goals> {
  const lists = createSiteLists(await inSlices((slice) => listAllGoals(catalog, slice)))
  return { ...createSiteThings(GOALS, { catalog, clock, lists }), rules: lists.of }
}

const GOALS: ThingKind<Goal, GoalFields> = {
  resource: "goals",
  limit: THINGS.goals,
  parse: (body, { settings }) => parseGoal(body, settings),
  patch: (goal, patch, { settings }) => patchGoal(goal, patch, settings),
  notFound: goalNotFound,
  refuseSame,
  insert: insertGoal,
  byId: goalById,
  list: listGoals,
  count: countGoals,
  update: updateGoal,
  delete: deleteGoal,
}

async function refuseSame(statements: Statements, site: Site, fields: GoalFields, itself?: number): Promise<void> {
  const same = (await equivalentGoals(statements, site.id, fields)).find(({ id }) => id !== itself)
  if (same) throw new AppError("goal_exists", "This site already has this goal, or another goal with this name.", { existing_id: same.id })
}
