import type { Clock } from "../domain/clock.ts"
import { AppError } from "../domain/error.ts"
import { type Funnel, type FunnelFields, funnelNotFound, parseFunnel, patchFunnel } from "../domain/funnel.ts"
import { parseId } from "../domain/id.ts"
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
import { inSlices } from "./slices.ts"

/** Whoever calls has been let in to the site. A funnel of another site is `funnel_not_found`. */
export interface Funnels {
  /** Throws `funnel_exists` with `existing_id` when the site has one of this name. */
  create(site: Site, body: unknown): Promise<Funnel>
  list(site: Site): Promise<Funnel[]>
  get(site: Site, id: string | number | undefined): Promise<Funnel>
  /** A merge patch. */
  update(site: Site, id: string | number | undefined, patch: unknown): Promise<Funnel>
  remove(site: Site, id: string | number | undefined): Promise<void>
  /** All of a site by id; from memory, always exact. */
  kept(siteId: number): readonly Funnel[]
}

export async function createFunnels({ catalog, clock }: { catalog: Catalog; clock: Pick<Clock, "now"> }): Promise<Funnels> {
  const kept = createSiteLists(await inSlices((slice) => listAllFunnels(catalog, slice)))

  return {
    async create(site, body) {
      const fields = parseFunnel(body, site.settings)
      return catalog.transaction(async (statements) => {
        await refuseSame(statements, site, fields)
        if ((await countFunnels(statements, site.id)) >= THINGS.funnels) throw tooManyFunnels()
        return insertFunnel(statements, site.id, fields, clock.now())
      }, kept.put)
    },
    list: (site) => listFunnels(catalog, site.id),
    get: (site, id) => find(catalog, site, id),
    update: (site, id, patch) =>
      catalog.transaction(async (statements) => {
        const funnel = await find(statements, site, id)
        const fields = patchFunnel(funnel, patch, site.settings)
        await refuseSame(statements, site, fields, funnel.id)
        return updateFunnel(statements, funnel.id, fields, clock.now())
      }, kept.put),
    async remove(site, id) {
      await catalog.transaction(async (statements) => {
        const funnel = await find(statements, site, id)
        await deleteFunnel(statements, funnel.id)
        return funnel
      }, kept.remove)
    },
    kept: kept.of,
  }
}

async function find(statements: Statements, site: Site, named: string | number | undefined): Promise<Funnel> {
  const id = parseId(named)
  const funnel = id === undefined ? undefined : await funnelById(statements, site.id, id)
  if (!funnel) throw funnelNotFound()
  return funnel
}

async function refuseSame(statements: Statements, site: Site, { name }: FunnelFields, itself?: number): Promise<void> {
  const same = await funnelNamed(statements, site.id, name)
  if (same && same.id !== itself)
    throw new AppError("funnel_exists", "The site already has a funnel of this name", { existing_id: same.id })
}

const tooManyFunnels = () =>
  new AppError("limit_reached", `A site may have ${THINGS.funnels} funnels`, { limit: THINGS.funnels, resource: "funnels" })
