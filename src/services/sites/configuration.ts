import { Type as t } from "@sinclair/typebox"
import type { Actor } from "../../domain/audit.ts"
import { AppError, type Fault, refuseFaults } from "../../domain/error.ts"
import { type Funnel, type FunnelFields, FunnelInput, parseFunnel } from "../../domain/funnel.ts"
import { type Goal, type GoalFields, GoalInput, parseGoal } from "../../domain/goal.ts"
import { THINGS } from "../../domain/limits.ts"
import { type Segment, type SegmentFields, SiteSegmentInput } from "../../domain/segment.ts"
import { escaped, fault, inDocumentOrder, inspect } from "../../domain/shape.ts"
import type { Site } from "../../domain/site.ts"
import { SiteInput } from "../../domain/site-input.ts"
import { caseKey } from "../../domain/text.ts"
import { type Catalog, joinedTransaction, type Transactions } from "../../store/catalog/catalog.ts"
import { type Audit, recorded, siteEntry } from "../audit/audit.ts"
import type { Funnels, Goals } from "../definitions/goals.ts"
import { parseSegment, type Segments, siteWide } from "../definitions/segments.ts"
import { ShieldInput } from "../definitions/shield-input.ts"
import type { SiteThings } from "../definitions/site-things.ts"
import { inSlices } from "../lists/paging.ts"
import { apply, type ConfigurationChange, type Definitions, type Steps, siteChanges, stepsTo } from "./configuration-steps.ts"
import { ConfiguredSettings, changedSite, toSettingsResponse } from "./site-settings.ts"
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
   * Makes a site equal to a document, in one transaction. Parts that the document does not have stay as they are. Returns the changes.
   * Throws `validation_failed`, `segment_in_use`, `compat_id_taken`, and `goal_exists` if goals exchange their definitions.
   */
  put(site: Site, document: unknown, actor: Actor): Promise<ConfigurationChange[]>
}

/** A part of the document by name. */
export type Configuration = Record<keyof typeof ConfigurationInput.properties, unknown>

const list = (items: object, maxItems: number, description: string) =>
  t.Optional(t.Array(t.Unsafe<unknown>(items), { maxItems, description }))

export const ConfigurationInput = t.Object(
  {
    site: t.Optional(t.Partial(SiteInput, { title: "ConfigurationSite", description: "Name, hosts, time zone, retention and currency." })),
    settings: t.Optional({ ...ConfiguredSettings, description: "Settings, without those that are fields of `site`." }),
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
  sites: Pick<Sites, "get" | "within">
  goals: Goals
  funnels: Funnels
  segments: Segments
  audit: Audit
}

/** The definitions of sites, outside of a transaction or within one. */
interface Services {
  goals: SiteThings<Goal>
  funnels: SiteThings<Funnel>
  segments: SiteThings<Segment>
}

/** A viewer who may change everything that belongs to the site and has no personal definitions. */
const PROGRAM = { userId: null, permissions: new Set(["segments:write"]) }
/** Settings that the document does not have: those of the site's fields, and the shared view, which belongs to a user. */
const NOT_SETTINGS = ["timezone", "retention_days", "revenue_currency", "version", "public"]

/** The way from the state of a site to that of a document. */
interface Plan {
  site: { changes: ConfigurationChange[]; patch: object }
  goals: Steps<Goal>
  funnels: Steps<Funnel>
  segments: Steps<Segment>
}

const changesOf = ({ site, goals, funnels, segments }: Plan): ConfigurationChange[] =>
  [site, goals, funnels, segments].flatMap(({ changes }) => changes)

export function createConfigurations({ catalog, sites, audit, ...options }: ConfigurationsOptions): Configurations {
  const segments = options.segments.of(PROGRAM)
  const services: Services = { ...options, segments }
  const within = (joined: Transactions): Services => ({
    goals: options.goals.within(joined),
    funnels: options.funnels.within(joined),
    segments: segments.within(joined),
  })

  return {
    get: (site) => read(site, services),
    preview: async (site, document) => changesOf(await planOf(site, document, services)),
    async put({ id }, document, actor) {
      const site = await sites.get(id)
      // Asked before the transaction, because the areas that use segments read the catalog themselves.
      for (const { id } of (await planOf(site, document, services)).segments.removals) await segments.refuseUsed(site, id)
      return joinedTransaction(catalog, async (joined) => {
        const own = within(joined)
        // The site can have changed since.
        const before = await sites.get(id)
        const plan = await planOf(before, document, own)
        const alongside = recorded(audit, actor, siteEntry("sites.settings.update"))
        const configured = plan.site.changes.length > 0
        const after = configured ? await sites.within(joined).configure(id, plan.site.patch, { alongside }) : before
        const author = { site: after, actor, audit }
        await apply(own.goals, plan.goals, author)
        await apply(own.funnels, plan.funnels, author)
        await apply(own.segments, plan.segments, author)
        return changesOf(plan)
      })
    },
  }
}

async function read(site: Site, { goals, funnels, segments }: Services): Promise<Configuration> {
  const { name, hosts, timezone, retention_days, revenue_currency, settings } = site
  const shown = Object.entries(toSettingsResponse(site)).filter(([key]) => !NOT_SETTINGS.includes(key))
  return {
    site: { name, hosts: [...hosts], timezone, retention_days, revenue_currency },
    settings: Object.fromEntries(shown),
    shields: settings.shields.map(({ id: _, version: __, ...shield }) => shield),
    goals: (await all(goals, site)).map(GOALS.show),
    funnels: (await all(funnels, site)).map(FUNNELS.show),
    segments: (await siteSegments(segments, site)).map(SEGMENTS.show),
  }
}

/** Compares a document with a site. Throws `validation_failed` with all faults at once. */
async function planOf(site: Site, document: unknown, { goals, funnels, segments }: Services): Promise<Plan> {
  const { fields, faults } = inspect(ConfigurationShape, document)
  refuseFaults(faults)
  const found: Fault[] = []
  const ofSite = partIn(fields.site, (name) => Object.hasOwn(SiteInput.properties, name), "site", found)
  const ofSettings = partIn(fields.settings, isSetting, "settings", found)
  const patch = { ...ofSite, ...ofSettings, ...(fields.shields && { shields: fields.shields }) }
  const after = collect(found, sitePointer, () => changedSite(site, patch)) ?? { fields: site, settings: site.settings }
  const rules = after.settings
  const wanted = {
    goals: parsed(fields.goals, "goals", (body) => parseGoal(body, rules), found, definitionOf),
    funnels: parsed(fields.funnels, "funnels", (body) => parseFunnel(body, rules), found),
    segments: parsed(fields.segments, "segments", (body) => parseSegment(siteWide(body)), found),
  }
  refuseFaults(inDocumentOrder(found, document))
  return {
    site: { changes: siteChanges(site, { ...site, ...after.fields, settings: after.settings }), patch },
    goals: stepsTo(GOALS, await all(goals, site), wanted.goals),
    funnels: stepsTo(FUNNELS, await all(funnels, site), wanted.funnels),
    segments: stepsTo(SEGMENTS, await siteSegments(segments, site), wanted.segments),
  }
}

const all = <Thing extends { id: number }>(things: Pick<SiteThings<Thing>, "list">, site: Site): Promise<Thing[]> =>
  inSlices((slice) => things.list(site, slice))

const siteSegments = async (segments: Services["segments"], site: Site): Promise<Segment[]> =>
  (await all(segments, site)).filter(({ scope }) => scope === "site")

const GOALS: Definitions<GoalFields> = {
  kind: "goal",
  show: ({ kind, match, value, name, threshold, props }) => ({
    ...{ kind, match, value, name },
    ...(threshold !== undefined && { threshold }),
    ...(props && { props: { ...props } }),
  }),
  toBody: ({ kind, props = {}, ...fields }) => ({ kind, ...fields, ...(kind !== "scroll" && { props }) }),
  isOther: (goal, { kind }) => goal.kind !== kind,
}
const FUNNELS: Definitions<FunnelFields> = {
  kind: "funnel",
  show: ({ name, steps, order, window_hours }) => ({
    name,
    steps: steps.map(({ type, match, value, name }) => ({ type, match, value, name })),
    order,
    window_hours,
  }),
}
const SEGMENTS: Definitions<SegmentFields> = {
  kind: "segment",
  show: ({ name, filters }) => ({ name, filters: [...filters] }),
}

/** Returns a key that is equal for goals of which a site can have only one. */
const definitionOf = ({ kind, match, value, threshold, props = {} }: GoalFields): string =>
  JSON.stringify([kind, match, value, threshold, Object.entries(props).sort()])

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

/** Parses the definitions of a part, which must differ in their names and definitions. Undefined if the document does not have it. */
function parsed<Fields extends { name: string }>(
  given: readonly unknown[] | undefined,
  part: string,
  parse: (body: unknown) => Fields,
  found: Fault[],
  definitionOf?: (fields: Fields) => string,
): Fields[] | undefined {
  const [names, definitions] = [new Set<string>(), new Set<string>()]
  return given?.flatMap((body, i) => {
    const pointer = `/${part}/${i}`
    const fields = collect(
      found,
      (inner) => pointer + inner,
      () => parse(body),
    )
    if (!fields) return []
    const [name, definition] = [caseKey(fields.name), definitionOf?.(fields) ?? String(i)]
    if (names.has(name)) found.push(fault(`${pointer}/name`, "not_unique", "is used by another item of the list"))
    else if (definitions.has(definition)) found.push(fault(pointer, "not_unique", "has the definition of another item of the list"))
    names.add(name)
    definitions.add(definition)
    return [fields]
  })
}
