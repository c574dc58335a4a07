import type { Clock } from "../domain/clock.ts"
import { AppError } from "../domain/error.ts"
import { parseId } from "../domain/id.ts"
import type { Site } from "../domain/site.ts"
import { type Expected, refuseOtherVersion, refuseStaleBody, type Versioned } from "../domain/version.ts"
import type { Catalog, Slice, Statements } from "../store/catalog/catalog.ts"

interface SiteThing extends Versioned {
  id: number
  site_id: number
}

/** A thing before and after a change; a new one has no before, a removed one no after. */
export interface Change<Thing> {
  before?: Thing
  after?: Thing
}

/** Stores what belongs to a change with it, in its transaction: both are there afterwards, or neither. */
export type Alongside<Thing> = (statements: Statements, change: Change<Thing>) => Promise<void>

/** What a caller of a change or a removal may say besides. */
export interface Terms<Thing> {
  /** Throws `precondition_failed` for another version. */
  expected?: Expected
  /** What the body itself says the version is; throws `version_conflict` for another one, with the thing as answers show it. */
  named?: { version: number | undefined; current(thing: Thing): object }
  alongside?: Alongside<Thing>
}

/**
 * What people define on a site: goals, funnels, annotations. Whoever calls has been let in to the site; a thing of another
 * site is not found. Bad bodies are `validation_failed` with all faults at once.
 */
export interface SiteThings<Thing> {
  /** Throws `limit_reached`, and what the kind of thing says of one that is there already. */
  create(site: Site, body: unknown, alongside?: Alongside<Thing>): Promise<Thing>
  /** By id ascending. */
  list(site: Site, slice: Slice): Promise<Thing[]>
  get(site: Site, id: string | number | undefined): Promise<Thing>
  /** A merge patch. */
  update(site: Site, id: string | number | undefined, patch: unknown, terms?: Terms<Thing>): Promise<Thing>
  remove(site: Site, id: string | number | undefined, terms?: Terms<Thing>): Promise<void>
}

/** What makes one kind of thing different from the others. */
export interface ThingKind<Thing extends SiteThing, Fields> {
  /** As `limit_reached` calls it, and how many of them a site may have. */
  resource: string
  limit: number
  parse(body: unknown, site: Site): Fields
  patch(thing: Thing, patch: unknown, site: Site): Fields
  notFound(): AppError
  /** Throws when another thing of the site is the same. */
  refuseSame?(statements: Statements, site: Site, fields: Fields, itself?: number): Promise<void>
  insert(statements: Statements, siteId: number, fields: Fields, now: number): Promise<Thing>
  byId(statements: Statements, siteId: number, id: number): Promise<Thing | undefined>
  list(statements: Statements, siteId: number, slice: Slice): Promise<Thing[]>
  count(statements: Statements, siteId: number): Promise<number>
  update(statements: Statements, id: number, fields: Fields, now: number): Promise<Thing>
  delete(statements: Statements, id: number): Promise<void>
}

/** What is kept of the things in memory, changed with each commit. */
interface Kept<Thing> {
  put(thing: Thing): void
  remove(thing: Thing): void
}

export function createSiteThings<Thing extends SiteThing, Fields extends object>(
  kind: ThingKind<Thing, Fields>,
  { catalog, clock, kept }: { catalog: Catalog; clock: Pick<Clock, "now">; kept?: Kept<Thing> },
): SiteThings<Thing> {
  async function find(statements: Statements, site: Site, named: string | number | undefined): Promise<Thing> {
    const id = parseId(named)
    const thing = id === undefined ? undefined : await kind.byId(statements, site.id, id)
    if (!thing) throw kind.notFound()
    return thing
  }

  return {
    async create(site, body, alongside) {
      const fields = kind.parse(body, site)
      return catalog.transaction(async (statements) => {
        await kind.refuseSame?.(statements, site, fields)
        if ((await kind.count(statements, site.id)) >= kind.limit) throw tooMany(kind)
        const thing = await kind.insert(statements, site.id, fields, clock.now())
        await alongside?.(statements, { after: thing })
        return thing
      }, kept?.put)
    },
    list: (site, slice) => kind.list(catalog, site.id, slice),
    get: (site, id) => find(catalog, site, id),
    update: (site, id, patch, { expected, named, alongside } = {}) =>
      catalog.transaction(async (statements) => {
        const thing = await find(statements, site, id)
        const fields = kind.patch(thing, patch, site)
        await kind.refuseSame?.(statements, site, fields, thing.id)
        if (named) refuseStaleBody(thing, named.version, named.current)
        refuseOtherVersion(thing, expected)
        if (!isChange(thing, fields)) return thing
        const changed = await kind.update(statements, thing.id, fields, clock.now())
        await alongside?.(statements, { before: thing, after: changed })
        return changed
      }, kept?.put),
    async remove(site, id, { expected, alongside } = {}) {
      await catalog.transaction(async (statements) => {
        const thing = await find(statements, site, id)
        refuseOtherVersion(thing, expected)
        await kind.delete(statements, thing.id)
        await alongside?.(statements, { before: thing })
        return thing
      }, kept?.remove)
    },
  }
}

/** A patch that says what is there already leaves version and time of change as they are. */
const isChange = (thing: object, fields: object): boolean => !Bun.deepEquals(thing, { ...withoutFields(thing, fields), ...fields })

/** A field that the new ones lack was taken away. */
function withoutFields(thing: object, fields: object): object {
  const own = new Set([...SET_BY_US, ...Object.keys(fields)])
  return Object.fromEntries(Object.entries(thing).filter(([name]) => own.has(name)))
}

/** What fields do not speak of: it is no fault of a patch that it lacks them. */
const SET_BY_US = ["id", "site_id", "scope", "owner_user_id", "created_at", "updated_at", "version"]

const tooMany = ({ resource, limit }: { resource: string; limit: number }) =>
  new AppError("limit_reached", `A site may have ${limit} ${resource}`, { limit, resource })
