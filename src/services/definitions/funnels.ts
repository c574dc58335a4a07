import type { Clock } from "../../domain/clock.ts"
import { AppError } from "../../domain/error.ts"
import { type Funnel, type FunnelFields, funnelNotFound, parseFunnel, patchFunnel } from "../../domain/funnel.ts"
import { THINGS } from "../../domain/limits.ts"
import type { Site } from "../../domain/site.ts"
import type { Catalog, Statements } from "../../store/catalog/catalog.ts"
import {
  countFunnels,
  deleteFunnel,
  funnelById,
  funnelNamed,
  insertFunnel,
  listAllFunnels,
  listFunnels,
  updateFunnel,
} from "../../store/catalog/goals.ts"
import { inSlices } from "../lists/paging.ts"
import { createSiteLists, createSiteThings, type SiteThings, type ThingKind } from "./site-things.ts"

/** Funnels of sites. `create` and `update` throw `funnel_exists` with `existing_id` when another funnel has the name. */
export interface Funnels extends SiteThings<Funnel> {
  /** Returns all funnels of a site by id. Read from memory, always exact. */
  all(siteId: number): readonly Funnel[]
}

export async function createFunnels({ catalog, clock }: { catalog: Catalog; clock: Pick<Clock, "now"> }): Promise<Funnels> {
  const lists = createSiteLists(await inSlices((slice) => listAllFunnels(catalog, slice)))
  return { ...createSiteThings(FUNNELS, { catalog, clock, lists }), all: lists.of }
}

const FUNNELS: ThingKind<Funnel, FunnelFields> = {
  resource: "funnels",
  limit: THINGS.funnels,
  parse: (body, { settings }) => parseFunnel(body, settings),
  patch: (funnel, patch, { settings }) => patchFunnel(funnel, patch, settings),
  notFound: funnelNotFound,
  refuseSame,
  insert: insertFunnel,
  byId: funnelById,
  list: listFunnels,
  count: countFunnels,
  update: updateFunnel,
  delete: deleteFunnel,
}

async function refuseSame(statements: Statements, site: Site, { name }: FunnelFields, itself?: number): Promise<void> {
  const same = await funnelNamed(statements, site.id, name)
  if (same && same.id !== itself)
    throw new AppError("funnel_exists", "This site already has a funnel with this name.", { existing_id: same.id })
}
