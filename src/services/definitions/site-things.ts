import type { Clock } from "../../domain/clock.ts"
import { AppError } from "../../domain/error.ts"
import { parseId } from "../../domain/id.ts"
import type { ProductEvent } from "../../domain/product-event.ts"
import type { ThingScope } from "../../domain/segment.ts"
import type { Site } from "../../domain/site.ts"
import { type Expected, refuseOtherVersion, refuseStaleBody, type Versioned } from "../../domain/version.ts"
import type { Slice, Statements, Transactions } from "../../store/catalog/catalog.ts"
import type { Reload } from "../changes/changes.ts"
import { inSlices } from "../lists/paging.ts"

interface SiteThing extends Versioned {
  id: number
  site_id: number
}

/** A definition before and after a change. A created one has no `before`, a deleted one no `after`. */
export interface Change<Thing> {
  before?: Thing
  after?: Thing
}

/** Stores whatever belongs to a change within the same transaction, so that both are stored or neither. */
export type Alongside<Thing> = (statements: Statements, change: Change<Thing>) => Promise<void>

/** Options of a change or a deletion. */
export interface Terms<Thing> {
  /** Version that the caller expects (`If-Match`). Throws `precondition_failed` for another version. */
  expected?: Expected
  /** Version named in the body. Throws `version_conflict` for another one, together with the current definition as answers show it. */
  named?: { version: number | undefined; current(thing: Thing): object }
  alongside?: Alongside<Thing>
}

/**
 * Definitions of a site: goals, funnels, annotations. The caller has already authorized the user. A definition of another site
 * is not found. Invalid bodies throw `validation_failed` with all faults at once.
 */
export interface SiteThings<Thing> {
  /** Creates a definition. Throws `limit_reached`, and the error of its kind if an equal one exists. */
  create(site: Site, body: unknown, alongside?: Alongside<Thing>): Promise<Thing>
  /** Lists the definitions of a site by id ascending. */
  list(site: Site, slice: Slice): Promise<Thing[]>
  get(site: Site, id: string | number | undefined): Promise<Thing>
  /** Applies a merge patch. */
  update(site: Site, id: string | number | undefined, patch: unknown, terms?: Terms<Thing>): Promise<Thing>
  remove(site: Site, id: string | number | undefined, terms?: Terms<Thing>): Promise<void>
}

/** Definitions whose changes can be part of a larger transaction. */
export interface JoinableThings<Thing> extends SiteThings<Thing> {
  /** Returns the same definitions, within a transaction of several services. */
  within(joined: Transactions): SiteThings<Thing>
}

/** What distinguishes one kind of definition from the others. */
export interface ThingKind<Thing extends SiteThing, Fields> {
  /** Name of the kind in `limit_reached`, and its maximum number per site. */
  resource: string
  limit: number
  parse(body: unknown, site: Site): Fields
  patch(thing: Thing, patch: unknown, site: Site): Fields
  notFound(): AppError
  /** Returns the product event of a change, if it has one. */
  eventOf?(site: Site, change: Change<Thing>): ProductEvent | undefined
  /** Throws if the site has an equal definition. */
  refuseSame?(statements: Statements, site: Site, fields: Fields, itself?: number): Promise<void>
  insert(statements: Statements, siteId: number, fields: Fields, now: number): Promise<Thing>
  byId(statements: Statements, siteId: number, id: number): Promise<Thing | undefined>
  list(statements: Statements, siteId: number, slice: Slice): Promise<Thing[]>
  count(statements: Statements, siteId: number): Promise<number>
  update(statements: Statements, id: number, fields: Fields, now: number): Promise<Thing>
  delete(statements: Statements, id: number): Promise<void>
}

/** In-memory copy of the definitions, updated at each commit. */
interface Memory<Thing> {
  put(thing: Thing): void
  remove(thing: Thing): void
}

interface SiteThingsOptions<Thing> {
  catalog: Transactions
  clock: Pick<Clock, "now">
  lists?: Memory<Thing>
  /** Receives the product events of a kind that has any. */
  outbox?: EventWriter
}

/** The part of the outbox that definitions need. */
export interface EventWriter {
  write(statements: Statements, event: ProductEvent): Promise<void>
}

export function createSiteThings<Thing extends SiteThing, Fields extends object>(
  kind: ThingKind<Thing, Fields>,
  { catalog, clock, lists, outbox }: SiteThingsOptions<Thing>,
): JoinableThings<Thing> {
  async function announce(statements: Statements, site: Site, change: Change<Thing>): Promise<void> {
    const event = kind.eventOf?.(site, change)
    if (event) await outbox?.write(statements, event)
  }
  async function find(statements: Statements, site: Site, named: string | number | undefined): Promise<Thing> {
    const id = parseId(named)
    const thing = id === undefined ? undefined : await kind.byId(statements, site.id, id)
    if (!thing) throw kind.notFound()
    return thing
  }

  const on = (catalog: Transactions): SiteThings<Thing> => ({
    async create(site, body, alongside) {
      const fields = kind.parse(body, site)
      return catalog.transaction(async (statements) => {
        await kind.refuseSame?.(statements, site, fields)
        if ((await kind.count(statements, site.id)) >= kind.limit) throw tooMany(kind)
        const thing = await kind.insert(statements, site.id, fields, clock.now())
        await announce(statements, site, { after: thing })
        await alongside?.(statements, { after: thing })
        return thing
      }, lists?.put)
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
        await announce(statements, site, { before: thing, after: changed })
        await alongside?.(statements, { before: thing, after: changed })
        return changed
      }, lists?.put),
    async remove(site, id, { expected, alongside } = {}) {
      await catalog.transaction(async (statements) => {
        const thing = await find(statements, site, id)
        refuseOtherVersion(thing, expected)
        await kind.delete(statements, thing.id)
        await announce(statements, site, { before: thing })
        await alongside?.(statements, { before: thing })
        return thing
      }, lists?.remove)
    },
  })
  return { ...on(catalog), within: on }
}

/** Returns whether a patch changes anything. Otherwise version and time of change remain as they are. */
const isChange = (thing: object, fields: object): boolean => !Bun.deepEquals(thing, { ...withoutFields(thing, fields), ...fields })

/** Removes the fields that the new version no longer has. */
function withoutFields(thing: object, fields: object): object {
  const own = new Set([...SET_BY_US, ...Object.keys(fields)])
  return Object.fromEntries(Object.entries(thing).filter(([name]) => own.has(name)))
}

/** Fields that the server sets, which a patch does not contain. */
const SET_BY_US = ["id", "site_id", "scope", "owner_user_id", "created_at", "updated_at", "version"]

const tooMany = ({ resource, limit }: { resource: string; limit: number }) =>
  new AppError("limit_reached", `A site can have ${limit} ${resource}.`, { limit, resource })

/** In-memory lists of definitions by site, for callers that must not wait for the catalog. */
export interface SiteLists<Thing> {
  /** Returns a site's definitions by id ascending. The array is never modified: a write creates another one. */
  of(siteId: number): readonly Thing[]
  /** Adds a definition or replaces its earlier version. */
  put(thing: Thing): void
  remove(thing: Thing): void
  /** Returns the function that reads the lists of some sites again, after another node changed them. */
  reloadBy(list: (statements: Statements, siteId: number, slice: Slice) => Promise<Thing[]>): Reload
}

export function createSiteLists<Thing extends Pick<SiteThing, "id" | "site_id">>(things: readonly Thing[]): SiteLists<Thing> {
  const lists = Map.groupBy(things, ({ site_id }) => site_id)
  const of = (siteId: number): Thing[] => lists.get(siteId) ?? []
  const others = (thing: Thing): Thing[] => of(thing.site_id).filter(({ id }) => id !== thing.id)
  return {
    of,
    put: (thing) =>
      void lists.set(
        thing.site_id,
        [...others(thing), thing].sort((a, b) => a.id - b.id),
      ),
    remove: (thing) => void lists.set(thing.site_id, others(thing)),
    reloadBy: (list) => async (statements, siteIds) => {
      for (const siteId of siteIds.map(Number)) lists.set(siteId, await inSlices((slice) => list(statements, siteId, slice)))
    },
  }
}

/** A user who views the definitions of a site, with their permissions there. The command line has no user. */
export interface Viewer {
  userId: number | null
  permissions: ReadonlySet<string>
}

interface ViewedThing extends Versioned {
  id: number
  site_id: number
  scope: ThingScope
  owner_user_id: number | null
}

/** A kind of definition with an owner, and the permission required to change shared ones. */
export interface ViewedKind<Thing extends ViewedThing, Fields extends { scope: ThingScope }>
  extends Omit<ThingKind<Thing, Fields>, "insert" | "list" | "update"> {
  permission: string
  insert(statements: Statements, siteId: number, fields: Fields, ownerId: number | null, now: number): Promise<Thing>
  /** Lists the shared definitions of the site and the user's personal ones. */
  list(statements: Statements, siteId: number, userId: number | null, slice: Slice): Promise<Thing[]>
  update(statements: Statements, id: number, fields: Fields, ownerId: number | null, now: number): Promise<Thing>
}

type ViewedOptions<Thing> = {
  catalog: Transactions
  clock: Pick<Clock, "now">
  lists?: { put(thing: Thing): void; remove(thing: Thing): void }
}

/**
 * Creates the service for definitions as one user sees them: the site's shared ones and the user's personal ones. Another user's
 * personal definitions are not found. Creating or changing a shared one requires the permission, otherwise `forbidden` is
 * thrown. A definition that becomes personal belongs to the user who made it so.
 */
export function createViewedThings<Thing extends ViewedThing, Fields extends { scope: ThingScope }>(
  kind: ViewedKind<Thing, Fields>,
  options: ViewedOptions<Thing>,
): (viewer: Viewer) => JoinableThings<Thing> {
  return ({ userId, permissions }) => {
    const refuseLack = (...scopes: ThingScope[]): void => {
      if (scopes.includes("site") && !permissions.has(kind.permission))
        throw new AppError("forbidden", `This requires the permission ${kind.permission}.`, { required_permission: kind.permission })
    }
    const byId = async (statements: Statements, siteId: number, id: number): Promise<Thing | undefined> => {
      const thing = await kind.byId(statements, siteId, id)
      return thing && (thing.scope === "site" || thing.owner_user_id === userId) ? thing : undefined
    }
    const things = createSiteThings<Thing, Fields>(
      {
        ...kind,
        parse(body, site) {
          const fields = kind.parse(body, site)
          refuseLack(fields.scope)
          return fields
        },
        patch(thing, patch, site) {
          const fields = kind.patch(thing, patch, site)
          refuseLack(thing.scope, fields.scope)
          return fields
        },
        byId,
        list: (statements, siteId, slice) => kind.list(statements, siteId, userId, slice),
        insert: (statements, siteId, fields, now) => kind.insert(statements, siteId, fields, userId, now),
        update: (statements, id, fields, now) => kind.update(statements, id, fields, userId, now),
      },
      options,
    )
    const guarded = (things: SiteThings<Thing>): SiteThings<Thing> => ({
      ...things,
      async remove(site, id, terms) {
        refuseLack((await things.get(site, id)).scope)
        await things.remove(site, id, terms)
      },
    })
    return { ...guarded(things), within: (joined) => guarded(things.within(joined)) }
  }
}
