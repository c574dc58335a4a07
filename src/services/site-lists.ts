interface SiteThing {
  id: number
  site_id: number
}

/** Things of sites in memory, for what must not wait for the catalog. */
export interface SiteLists<Thing> {
  /** By id ascending. The list never changes: a write makes another one. */
  of(siteId: number): readonly Thing[]
  /** Adds a thing, or replaces what it was. */
  put(thing: Thing): void
  remove(thing: Thing): void
}

export function createSiteLists<Thing extends SiteThing>(things: readonly Thing[]): SiteLists<Thing> {
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
  }
}
