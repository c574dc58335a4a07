import type { Clock } from "../domain/clock.ts"
import { AppError } from "../domain/error.ts"
import { type Funnel, type FunnelFields, funnelNotFound, parseFunnel, patchFunnel } from "../domain/funnel.ts"
import { THINGS } from "../domain/limits.ts"
import type { Site } from "../domain/site.ts"
import type { Catalog, Statements } from "../store/catalog/catalog.ts"
import {
  countFunnels,
  deleteFunnel,
  funnelById,
  funnelNamed,
  insertFunnel,
  listAllFunnels,
  listFunnels,
  updateFunnel,
} from "../store/catalog/funnels.ts"
import { createSiteLists } from "./site-lists.ts"
import { createSiteThings, type SiteThings, type ThingKind } from "./site-things.ts"
import { inSlices } from "./slices.ts"

/** `create` and `update` throw `funnel_exists` with `existing_id` when another funnel has the name. */
export interface Funnels extends SiteThings<Funnel> {
  /** All of a site by id; from memory, always exact. */
  kept(siteId: number): readonly Funnel[]
}

export async function createFunnels({ catalog, clock }: { catalog: Catalog; clock: Pick<Clock, "now"> }): Promise<Funnels> {
  const kept = createSiteLists(await inSlices((slice) => listAllFunnels(catalog, slice)))
  return { ...createSiteThings(FUNNELS, { catalog, clock, kept }), kept: kept.of }
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
    throw new AppError("funnel_exists", "The site already has a funnel of this name", { existing_id: same.id })
}
