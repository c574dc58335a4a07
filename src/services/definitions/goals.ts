import type { Clock } from "../../domain/clock.ts"
import { AppError } from "../../domain/error.ts"
import { type Funnel, type FunnelFields, funnelNotFound, parseFunnel, patchFunnel } from "../../domain/funnel.ts"
import { type Goal, type GoalFields, goalNotFound, parseGoal, patchGoal } from "../../domain/goal.ts"
import { THINGS } from "../../domain/limits.ts"
import { funnelCreated, goalEvent } from "../../domain/product-event.ts"
import type { GoalRule } from "../../domain/query.ts"
import type { Site } from "../../domain/site.ts"
import type { Catalog, Statements } from "../../store/catalog/catalog.ts"
import {
  countFunnels,
  countGoals,
  deleteFunnel,
  deleteGoal,
  equivalentGoals,
  funnelById,
  funnelNamed,
  goalById,
  insertFunnel,
  insertGoal,
  listAllFunnels,
  listAllGoals,
  listFunnels,
  listGoals,
  updateFunnel,
  updateGoal,
} from "../../store/catalog/goals.ts"
import type { Reload } from "../changes/changes.ts"
import { inSlices } from "../lists/paging.ts"
import { createSiteLists, createSiteThings, type EventWriter, type JoinableThings, type ThingKind } from "./site-things.ts"

/**
 * Goals of sites. `create` and `update` throw `goal_exists` with `existing_id` when another goal has the same definition or the
 * same name.
 */
export interface Goals extends JoinableThings<Goal> {
  /** Returns the goals of a site as the engine evaluates them, by id. Read from memory, always exact. */
  rules(siteId: number): readonly GoalRule[]
  /** Reads the goals of some sites again, after another node changed them. */
  reload: Reload
}

interface DefinitionsOptions {
  catalog: Catalog
  clock: Pick<Clock, "now">
  outbox: EventWriter
}

export async function createGoals({ catalog, clock, outbox }: DefinitionsOptions): Promise<Goals> {
  const lists = createSiteLists(await inSlices((slice) => listAllGoals(catalog, slice)))
  return { ...createSiteThings(GOALS, { catalog, clock, lists, outbox }), rules: lists.of, reload: lists.reloadBy(listGoals) }
}

const GOALS: ThingKind<Goal, GoalFields> = {
  resource: "goals",
  limit: THINGS.goals,
  parse: (body, { settings }) => parseGoal(body, settings),
  patch: (goal, patch, { settings }) => patchGoal(goal, patch, settings),
  notFound: goalNotFound,
  eventOf(site, { before, after }) {
    if (!before && after) return goalEvent("created", site, after)
    return before && !after ? goalEvent("deleted", site, before) : undefined
  },
  refuseSame: refuseSameGoal,
  insert: insertGoal,
  byId: goalById,
  list: listGoals,
  count: countGoals,
  update: updateGoal,
  delete: deleteGoal,
}

async function refuseSameGoal(statements: Statements, site: Site, fields: GoalFields, itself?: number): Promise<void> {
  const same = (await equivalentGoals(statements, site.id, fields)).find(({ id }) => id !== itself)
  if (same) throw new AppError("goal_exists", "This site already has this goal, or another goal with this name.", { existing_id: same.id })
}

/** Funnels of sites. `create` and `update` throw `funnel_exists` with `existing_id` when another funnel has the name. */
export interface Funnels extends JoinableThings<Funnel> {
  /** Returns all funnels of a site by id. Read from memory, always exact. */
  all(siteId: number): readonly Funnel[]
  /** Reads the funnels of some sites again, after another node changed them. */
  reload: Reload
}

export async function createFunnels({ catalog, clock, outbox }: DefinitionsOptions): Promise<Funnels> {
  const lists = createSiteLists(await inSlices((slice) => listAllFunnels(catalog, slice)))
  return { ...createSiteThings(FUNNELS, { catalog, clock, lists, outbox }), all: lists.of, reload: lists.reloadBy(listFunnels) }
}

const FUNNELS: ThingKind<Funnel, FunnelFields> = {
  resource: "funnels",
  limit: THINGS.funnels,
  parse: (body, { settings }) => parseFunnel(body, settings),
  patch: (funnel, patch, { settings }) => patchFunnel(funnel, patch, settings),
  notFound: funnelNotFound,
  eventOf: (site, { before, after }) => (!before && after ? funnelCreated(site, after) : undefined),
  refuseSame: refuseSameFunnel,
  insert: insertFunnel,
  byId: funnelById,
  list: listFunnels,
  count: countFunnels,
  update: updateFunnel,
  delete: deleteFunnel,
}

async function refuseSameFunnel(statements: Statements, site: Site, { name }: FunnelFields, itself?: number): Promise<void> {
  const same = await funnelNamed(statements, site.id, name)
  if (same && same.id !== itself)
    throw new AppError("funnel_exists", "This site already has a funnel with this name.", { existing_id: same.id })
}
