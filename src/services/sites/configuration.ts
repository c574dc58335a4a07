import { Type as t } from "@sinclair/typebox"
import type { Actor } from "../../domain/audit.ts"
import { AppError, type Fault, refuseFaults } from "../../domain/error.ts"
import { type FunnelFields, FunnelInput, parseFunnel } from "../../domain/funnel.ts"
import { type GoalFields, GoalInput, parseGoal } from "../../domain/goal.ts"
import { THINGS } from "../../domain/limits.ts"
import { SiteSegmentInput } from "../../domain/segment.ts"
import { escaped, fault, inDocumentOrder, inspect, isObject } from "../../domain/shape.ts"
import type { Site } from "../../domain/site.ts"
import { SiteInput } from "../../domain/site-input.ts"
import type { Catalog } from "../../store/catalog/catalog.ts"
import { type Audit, definitionEntry, recorded, siteEntry } from "../audit/audit.ts"
import type { Funnels, Goals } from "../definitions/goals.ts"
import { parseSegment, type Segments } from "../definitions/segments.ts"
import { ShieldInput } from "../definitions/shield-input.ts"
import type { SiteThings } from "../definitions/site-things.ts"
import { inSlices } from "../lists/paging.ts"
import { changedSite, toSettingsResponse } from "./site-settings.ts"
import type { Sites } from "./sites.ts"

/**
 * The configuration of a site as one document, which can be kept in a repository: its fields, settings, shields, goals, funnels and
 * segments. The document contains no ids. Definitions are recognized by their names, which are compared without regard to case, and
 * shields by kind and value.
 */
export interface Configurations {
  get(site: Site): Promise<Configuration>
  /** Returns what `put` would change. Throws `validation_failed`. */
  preview(site: Site, document: unknown): Promise<ConfigurationChange[]>
  /**
   * Makes a site equal to a document. Parts that the document does not have stay as they are. Returns the changes. They are made one
   * after another; after an error, the same document completes them.
   */
  put(site: Site, document: unknown, actor: Actor): Promise<ConfigurationChange[]>
}

/** A part of the document by name. */
export type Configuration = Record<keyof typeof ConfigurationInput.properties, unknown>

export interface ConfigurationChange {
  action: "create" | "update" | "delete"
  kind: "site" | "shield" | "goal" | "funnel" | "segment"
  name: string
  /** Old and new value by field. null for a value that is absent. */
  fields: Record<string, [before: unknown, after: unknown]>
}

const list = (items: object, maxItems: number, description: string) =>
  t.Optional(t.Array(t.Unsafe<unknown>(items), { maxItems, description }))

export const ConfigurationInput = t.Object(
  {
    site: t.Optional(t.Partial(SiteInput, { title: "ConfigurationSite", description: "Name, hosts, time zone, retention and currency." })),
    settings: t.Optional(t.Object({}, { additionalProperties: true, description: "Settings, as in `GET /sites/{site_id}/settings`." })),
    shields: list(ShieldInput, THINGS.shieldsOfKind * 6, "All shields of the site."),
    goals: list(GoalInput, THINGS.goals, "All goals of the site."),
    funnels: list(FunnelInput, THINGS.funnels, "All funnels of the site."),
    segments: list(SiteSegmentInput, THINGS.segments, "All segments of the site except personal ones."),
  },
  { additionalProperties: false, title: "ConfigurationInput" },
)

const anything = t.Optional(t.Object({}, { additionalProperties: true }))
const items = (maxItems: number) => t.Optional(t.Array(t.Unknown(), { maxItems }))
/** The shape of a document, whose parts are read by the rules of their kinds, so that all faults are found. */
const ConfigurationShape = t.Object(
  {
    ...{ site: anything, settings: anything, shields: items(THINGS.shieldsOfKind * 6) },
    ...{ goals: items(THINGS.goals), funnels: items(THINGS.funnels), segments: items(THINGS.segments) },
  },
  { additionalProperties: false },
)

interface ConfigurationsOptions {
  catalog: Catalog
  sites: Pick<Sites, "configure">
  goals: Goals
  funnels: Funnels
  segments: Segments
  audit: Audit
}

/** A viewer who may change everything that belongs to the site and has no personal definitions. */
const PROGRAM = { userId: null, permissions: new Set(["segments:write"]) }
/** Settings that the document does not have: those of the site's fields, and the shared view, which belongs to a user. */
const NOT_SETTINGS = ["timezone", "retention_days", "revenue_currency", "version", "public"]

/** The next state of one kind of definitions, and how to reach it. */
interface Plan {
  changes: ConfigurationChange[]
  apply(): Promise<void>
}

export function createConfigurations(options: ConfigurationsOptions): Configurations {
  const { sites, goals, funnels, audit } = options
  const segments = options.segments.of(PROGRAM)

  async function get(site: Site): Promise<Configuration> {
    const { name, hosts, timezone, retention_days, revenue_currency, settings } = site
    const shown = Object.entries(toSettingsResponse(site)).filter(([key]) => !NOT_SETTINGS.includes(key))
    return {
      site: { name, hosts: [...hosts], timezone, retention_days, revenue_currency },
      settings: Object.fromEntries(shown),
      shields: settings.shields.map(({ id: _, version: __, ...shield }) => shield),
      goals: (await all(goals, site)).map(goalOf),
      funnels: (await all(funnels, site)).map(funnelOf),
      segments: (await all(segments, site)).filter(({ scope }) => scope === "site").map(segmentOf),
    }
  }

  /** Compares a document with a site. */
  async function planOf(site: Site, document: unknown, actor: Actor | undefined): Promise<Plan[]> {
    const { fields, faults } = inspect(ConfigurationShape, document)
    refuseFaults(faults)
    const found: Fault[] = []
    const ofSite = partIn(fields.site, (name) => Object.hasOwn(SiteInput.properties, name), "site", found)
    const ofSettings = partIn(fields.settings, isSetting, "settings", found)
    const patch = { ...ofSite, ...ofSettings, ...(fields.shields && { shields: fields.shields }) }
    const after = collect(found, sitePointer, () => changedSite(site, patch)) ?? { fields: site, settings: site.settings }
    const rules = after.settings
    const wanted = {
      goals: parsed(fields.goals, "goals", (body) => parseGoal(body, rules), found),
      funnels: parsed(fields.funnels, "funnels", (body) => parseFunnel(body, rules), found),
      segments: parsed(fields.segments, "segments", (body) => segmentOf(parseSegment(siteWide(body))), found),
    }
    refuseFaults(inDocumentOrder(found, document))
    const kinds = { site, actor, audit }
    return [
      {
        changes: siteChanges(site, { ...site, ...after.fields, settings: after.settings }),
        async apply() {
          const alongside = recorded(audit, actor!, siteEntry("sites.settings.update"), undefined)
          await sites.configure(site.id, patch, { alongside })
        },
      },
      await planThings(kinds, {
        ...{ kind: "goal", things: goals, show: goalOf, wanted: wanted.goals },
        toBody: ({ kind, props = {}, ...fields }) => ({ kind, ...fields, ...(kind !== "scroll" && { props }) }),
        isOther: (goal, { kind }) => goal.kind !== kind,
      }),
      await planThings(kinds, { kind: "funnel", things: funnels, show: funnelOf, wanted: wanted.funnels }),
      await planThings(kinds, {
        kind: "segment",
        things: segments,
        isPart: ({ scope }) => scope === "site",
        show: segmentOf,
        wanted: wanted.segments,
        toBody: siteWide,
      }),
    ]
  }

  return {
    get,
    preview: async (site, document) => (await planOf(site, document, undefined)).flatMap(({ changes }) => changes),
    async put(site, document, actor) {
      const plans = (await planOf(site, document, actor)).filter(({ changes }) => changes.length > 0)
      for (const plan of plans) await plan.apply()
      return plans.flatMap(({ changes }) => changes)
    },
  }
}

const all = <Thing extends { id: number }>(things: Pick<SiteThings<Thing>, "list">, site: Site): Promise<Thing[]> =>
  inSlices((slice) => things.list(site, slice))

const goalOf = ({ kind, match, value, name, threshold, props }: GoalFields) => ({
  ...{ kind, match, value, name },
  ...(threshold !== undefined && { threshold }),
  ...(props && { props: { ...props } }),
})
const funnelOf = ({ name, steps, order, window_hours }: FunnelFields) => ({
  name,
  steps: steps.map(({ type, match, value, name }) => ({ type, match, value, name })),
  order,
  window_hours,
})
const segmentOf = ({ name, filters }: { name: string; filters: readonly unknown[] }) => ({ name, filters: [...filters] })
const siteWide = (body: unknown): unknown => (isObject(body) ? { ...body, scope: "site" } : body)

const isSetting = (name: string): boolean =>
  !NOT_SETTINGS.includes(name) && !Object.hasOwn(SiteInput.properties, name) && name !== "shields"

/** Returns the members of a part that belong into it. The others are added to the faults. */
function partIn(given: object | undefined, belongs: (name: string) => boolean, part: string, found: Fault[]): object {
  const members = Object.entries(given ?? {})
  for (const [name] of members.filter(([name]) => !belongs(name)))
    found.push(fault(`/${part}/${escaped(name)}`, "unknown_field", `is not part of ${part}`))
  return Object.fromEntries(members.filter(([name]) => belongs(name)))
}

/** Returns where in the document a fault of a site's patch is. */
function sitePointer(pointer: string): string {
  const [, name = ""] = pointer.split("/")
  if (name === "shields") return pointer
  return `${Object.hasOwn(SiteInput.properties, name) ? "/site" : "/settings"}${pointer}`
}

/** Runs a parser and adds its faults, with their places in the document. */
function collect<Value>(found: Fault[], place: (pointer: string) => string, parse: () => Value): Value | undefined {
  try {
    return parse()
  } catch (thrown) {
    if (!(thrown instanceof AppError) || !thrown.members.errors) throw thrown
    found.push(...thrown.members.errors.map((each) => ({ ...each, pointer: place(each.pointer) })))
    return undefined
  }
}

/** Parses the definitions of a part. Undefined if the document does not have it. */
function parsed<Fields extends { name: string }>(
  given: readonly unknown[] | undefined,
  part: string,
  parse: (body: unknown) => Fields,
  found: Fault[],
): Fields[] | undefined {
  const fields = given?.flatMap(
    (body, i) =>
      collect(
        found,
        (pointer) => `/${part}/${i}${pointer}`,
        () => parse(body),
      ) ?? [],
  )
  const names = fields?.map(({ name }) => nameKey(name)) ?? []
  for (const [i, name] of names.entries())
    if (names.indexOf(name) < i) found.push(fault(`/${part}/${i}/name`, "not_unique", "is used by another item of the list"))
  return fields
}

const nameKey = (name: string): string => name.toLowerCase()

/** Returns what differs between a site before and after. Shields are listed one by one. */
function siteChanges(before: Site, after: Site): ConfigurationChange[] {
  const parts = ({ name, hosts, timezone, retention_days, revenue_currency, settings: { shields: _, ...settings } }: Site) => ({
    ...{ name, hosts, timezone, retention_days, revenue_currency, ...settings },
  })
  const fields = differences(parts(before), parts(after))
  const shieldKey = ({ kind, value }: { kind: string; value: string }) => `${kind} ${value}`
  const shields = compare("shield", before.settings.shields.map(withoutVersion), after.settings.shields.map(withoutVersion), shieldKey)
  return [
    ...(Object.keys(fields).length > 0 ? [{ action: "update" as const, kind: "site" as const, name: after.name, fields }] : []),
    ...shields,
  ]
}

const withoutVersion = ({ id: _, version: __, ...shield }: Site["settings"]["shields"][number]) => shield

/** Compares two lists whose items are recognized by a key. */
function compare<Item extends object>(
  kind: ConfigurationChange["kind"],
  before: readonly Item[],
  after: readonly Item[],
  keyOf: (item: Item) => string,
): ConfigurationChange[] {
  const [old, next] = [new Map(before.map((item) => [keyOf(item), item])), new Map(after.map((item) => [keyOf(item), item]))]
  const gone = before.filter((item) => !next.has(keyOf(item)))
  return [
    ...gone.map((item) => ({ action: "delete" as const, kind, name: keyOf(item), fields: differences(item, {}) })),
    ...after.flatMap((item) => {
      const known = old.get(keyOf(item))
      const fields = differences(known ?? {}, item)
      if (known && Object.keys(fields).length === 0) return []
      return [{ action: known ? ("update" as const) : ("create" as const), kind, name: keyOf(item), fields }]
    }),
  ]
}

function differences(before: object, after: object): ConfigurationChange["fields"] {
  const [old, next] = [before as Record<string, unknown>, after as Record<string, unknown>]
  const names = [...new Set([...Object.keys(old), ...Object.keys(next)])].filter((name) => !Bun.deepEquals(old[name], next[name]))
  return Object.fromEntries(names.map((name) => [name, [old[name] ?? null, next[name] ?? null]]))
}

interface ThingsPlan<Thing, Fields> {
  kind: "goal" | "funnel" | "segment"
  things: SiteThings<Thing>
  /** Whether a definition is part of the document. Default: all are. */
  isPart?(thing: Thing): boolean
  show(thing: Thing | Fields): object
  /** Undefined leaves the definitions as they are. */
  wanted: readonly Fields[] | undefined
  /** Returns the complete body of a definition, with a value for each field that a patch would leave as it is. */
  toBody?(fields: Fields): unknown
  /** Whether a definition cannot become another by a patch. Default: it can. */
  isOther?(thing: Thing, fields: Fields): boolean
}

/** Plans the changes of one kind of definitions. Deletions come first, because names are unique. */
async function planThings<Thing extends { id: number; name: string }, Fields extends { name: string }>(
  { site, actor, audit }: { site: Site; actor: Actor | undefined; audit: Audit },
  { kind, things, isPart = () => true, show, wanted, toBody = (fields) => fields, isOther = () => false }: ThingsPlan<Thing, Fields>,
): Promise<Plan> {
  if (!wanted) return { changes: [], apply: async () => {} }
  const current = (await all(things, site)).filter(isPart)
  const named = (item: object): string => (item as { name: string }).name
  const changes = compare(kind, current.map(show), wanted.map(show), (item) => nameKey(named(item)))
  const shown = changes.map((change) => {
    const items = change.action === "delete" ? current : wanted
    return { ...change, name: items.find(({ name }) => nameKey(name) === change.name)!.name } // `compare` took the name from it
  })
  return {
    changes: shown,
    async apply() {
      for (const { action, name } of shown) {
        const alongside = recorded<Thing>(audit, actor!, definitionEntry(`sites.${kind}.${action}`, kind, site))
        const known = current.find((thing) => nameKey(thing.name) === nameKey(name))
        const fields = wanted.find((each) => nameKey(each.name) === nameKey(name))
        // An update keeps the id, which other definitions and saved dashboards refer to.
        if (known && fields && !isOther(known, fields)) await things.update(site, known.id, toBody(fields), { alongside })
        else {
          if (known) await things.remove(site, known.id, { alongside })
          if (fields) await things.create(site, toBody(fields), alongside)
        }
      }
    },
  }
}
