/**
 * Objects of a site that filters and configurations name by id. The same field names mean the same in every widget type, so that
 * dashboards can be checked, copied to other sites and exported without knowing the types.
 */
import { type Fault, fault, isObject, parseId, type Site } from "#plugin"
import type { BoardFilter, Config, DashboardsHost, MissingName } from "./board.ts"

/** Fields of a configuration that hold an id or a list of ids, with the kind of the object. */
const FIELDS: Readonly<Record<string, string>> = {
  goal_id: "goal",
  goal_ids: "goal",
  funnel_id: "funnel",
  segment_id: "segment",
  cohort_id: "cohort",
  cohort_ids: "cohort",
  link_ids: "link",
  pixel_ids: "pixel",
}
/** Dimensions of filters whose values are ids. */
const SETS: readonly unknown[] = ["segment", "cohort"]

/** An id, or the name of an object that was not found. */
export type Named = number | MissingName

export interface Reference {
  kind: string
  value: Named
  /** JSON pointer below the walked value. */
  pointer: string
}

export const isMissingName = (value: unknown): value is MissingName => isObject(value) && typeof value.name === "string"

/** Returns a copy of a configuration or a list of filters in which `change` has replaced every reference. */
export function mapReferences<Value>(value: Value, change: (reference: Reference) => Named): Value {
  const walk = (inner: unknown, pointer: string): unknown => {
    if (Array.isArray(inner)) return inner.map((item, i) => walk(item, `${pointer}/${i}`))
    if (!isObject(inner)) return inner
    const values = SETS.includes(inner.dimension) ? { values: String(inner.dimension) } : {}
    const kinds: Readonly<Record<string, string>> = { ...FIELDS, ...values }
    return Object.fromEntries(
      Object.entries(inner).map(([name, field]) => {
        const kind = Object.hasOwn(kinds, name) ? kinds[name] : undefined
        return [name, kind === undefined ? walk(field, `${pointer}/${name}`) : replaced(kind, field, `${pointer}/${name}`)]
      }),
    )
  }
  const replaced = (kind: string, field: unknown, pointer: string): unknown => {
    if (Array.isArray(field)) return field.map((item, i) => replaced(kind, item, `${pointer}/${i}`))
    const id = parseId(field as string | number | undefined) // anything else is undefined
    const named = id ?? (isMissingName(field) ? field : undefined)
    return named === undefined ? field : change({ kind, value: named, pointer })
  }
  return walk(value, "") as Value // the same shape with other references
}

/** Returns all references of a configuration or a list of filters. */
export function referencesIn(value: Config | readonly BoardFilter[]): Reference[] {
  const found: Reference[] = []
  mapReferences(value, (reference) => {
    found.push(reference)
    return reference.value
  })
  return found
}

/** Looks up the objects of a site as a user sees them. Without a user, personal segments don't exist. */
export interface Lookup {
  nameOf(kind: string, id: number): Promise<string | undefined>
  /** Of several objects with the name, the one with the lowest id. */
  idOf(kind: string, name: string): Promise<number | undefined>
  /** Whether a segment is a personal one of the user. */
  isPersonal(id: number): Promise<boolean>
}

/** Returns the lookup of objects, which remembers what it has read. */
export function lookupOn(host: DashboardsHost, site: Site, userId: number | undefined): Lookup {
  const { goals, funnels, segments } = host.services
  const kept = new Map<string, Promise<unknown>>()
  const once = <Value>(key: string, read: () => Promise<Value>): Promise<Value> => {
    if (!kept.has(key)) kept.set(key, read())
    return kept.get(key) as Promise<Value> // each key has one type
  }
  const listed = (kind: string): Promise<readonly { id: number; name: string; scope?: string }[]> =>
    once(kind, async () => {
      if (kind === "goal") return goals.rules(site.id)
      if (kind === "funnel") return funnels.all(site.id)
      return segments.of({ userId: userId ?? null, permissions: new Set() }).list(site, { after: 0, limit: 1_000 })
    })
  const isListed = (kind: string): boolean => kind === "goal" || kind === "funnel" || kind === "segment"
  return {
    async nameOf(kind, id) {
      if (isListed(kind)) return (await listed(kind)).find((each) => each.id === id)?.name
      return once(`${kind} ${id}`, async () => host.named(kind)?.nameOf(site, id))
    },
    async idOf(kind, name) {
      if (isListed(kind)) return (await listed(kind)).filter((each) => each.name === name).sort((a, b) => a.id - b.id)[0]?.id
      return once(`${kind} named ${name}`, async () => host.named(kind)?.idOf(site, name))
    },
    isPersonal: async (id) => (await listed("segment")).some((each) => each.id === id && each.scope === "personal"),
  }
}

/** Returns the faults of references: unknown objects, and personal segments where others would see their figures. */
export async function referenceFaults(
  value: Config | readonly BoardFilter[],
  pointer: string,
  lookup: Lookup,
  { allowsPersonal }: { allowsPersonal: boolean },
): Promise<{ broken: Fault[]; personal: Fault[] }> {
  const broken: Fault[] = []
  const personal: Fault[] = []
  for (const { kind, value: named, pointer: at } of referencesIn(value)) {
    const name = typeof named === "number" ? await lookup.nameOf(kind, named) : undefined
    if (name === undefined) broken.push(fault(pointer + at, "broken_reference", `names a ${kind} that the site does not have`))
    else if (kind === "segment" && !allowsPersonal && (await lookup.isPersonal(named as number)))
      personal.push(fault(pointer + at, "invalid_choice", "is a personal segment, which only a private dashboard can use", []))
  }
  return { broken, personal }
}

/** Replaces ids by names for another site or another instance. Objects that are gone have an empty name. */
export async function withNames<Value extends Config | BoardFilter[]>(value: Value, lookup: Lookup): Promise<Value> {
  const names = new Map<string, string>()
  for (const { kind, value: named } of referencesIn(value))
    if (typeof named === "number") names.set(`${kind} ${named}`, (await lookup.nameOf(kind, named)) ?? "")
  return mapReferences(value, ({ kind, value: named }) => (typeof named === "number" ? { name: names.get(`${kind} ${named}`)! } : named))
}

/** A name of another site or document, and whether this site has the object. */
export interface Mapped {
  kind: string
  name: string
  found: boolean
}

/** Replaces names by the ids of a site. Names without a match stay. */
export async function withIds<Value extends Config | BoardFilter[]>(
  value: Value,
  lookup: Lookup,
): Promise<{ value: Value; mapped: Mapped[] }> {
  const ids = new Map<string, number | undefined>()
  const names = referencesIn(value).filter((reference) => isMissingName(reference.value)) as (Reference & { value: MissingName })[]
  for (const { kind, value: named } of names) ids.set(`${kind} ${named.name}`, await lookup.idOf(kind, named.name))
  const mapped = names.map(({ kind, value: { name } }) => ({ kind, name, found: ids.get(`${kind} ${name}`) !== undefined }))
  const changed = mapReferences(value, ({ kind, value: named }) =>
    typeof named === "number" ? named : (ids.get(`${kind} ${named.name}`) ?? named),
  )
  return { value: changed, mapped }
}
