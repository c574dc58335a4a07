import type { Clock } from "../domain/clock.ts"
import { AppError } from "../domain/error.ts"
import type { ThingScope } from "../domain/segment.ts"
import type { Site } from "../domain/site.ts"
import type { Versioned } from "../domain/version.ts"
import type { Catalog, Slice, Statements } from "../store/catalog/catalog.ts"
import { createSiteThings, type SiteThings, type ThingKind } from "./site-things.ts"

/** Who looks at things of a site, and what they may do there. */
export interface Viewer {
  userId: number
  permissions: ReadonlySet<string>
}

interface ViewedThing extends Versioned {
  id: number
  site_id: number
  scope: ThingScope
  owner_user_id: number | null
}

/** As other kinds of things, with an owner, and a permission that those of the whole site need. */
export interface ViewedKind<Thing extends ViewedThing, Fields extends { scope: ThingScope }>
  extends Omit<ThingKind<Thing, Fields>, "insert" | "list" | "update"> {
  permission: string
  insert(statements: Statements, siteId: number, fields: Fields, ownerId: number, now: number): Promise<Thing>
  /** Those of the site, and a user's own. */
  list(statements: Statements, siteId: number, userId: number, slice: Slice): Promise<Thing[]>
  update(statements: Statements, id: number, fields: Fields, ownerId: number, now: number): Promise<Thing>
}

type ViewedOptions<Thing> = {
  catalog: Catalog
  clock: Pick<Clock, "now">
  kept?: { put(thing: Thing): void; remove(thing: Thing): void }
}

/**
 * Things of a site as one person sees them: those of the site, and the own personal ones; another's personal thing does not
 * exist. Whoever changes one of the site, or makes one of it, needs the permission: else `forbidden`. A thing that becomes
 * personal is from then on that of whoever made it so.
 */
export function createViewedThings<Thing extends ViewedThing, Fields extends { scope: ThingScope }>(
  kind: ViewedKind<Thing, Fields>,
  options: ViewedOptions<Thing>,
): (viewer: Viewer) => SiteThings<Thing> {
  return ({ userId, permissions }) => {
    const refuseLack = (...scopes: ThingScope[]): void => {
      if (scopes.includes("site") && !permissions.has(kind.permission))
        throw new AppError("forbidden", `This needs ${kind.permission}.`, { required_permission: kind.permission })
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
    return {
      ...things,
      async remove(site: Site, id, terms) {
        refuseLack((await things.get(site, id)).scope)
        await things.remove(site, id, terms)
      },
    }
  }
}
