import type { Actor } from "../../domain/audit.ts"
import { AppError } from "../../domain/error.ts"
import type { Site } from "../../domain/site.ts"
import { caseKey } from "../../domain/text.ts"
import { type Audit, definitionEntry, recorded } from "../audit/audit.ts"
import type { SiteThings } from "../definitions/site-things.ts"

/** Something that differs between a site and a document. */
export interface ConfigurationChange {
  action: "create" | "update" | "delete"
  kind: "site" | "shield" | "goal" | "funnel" | "segment"
  name: string
  /** Old and new value by field. null for a value that is absent. */
  fields: Record<string, [before: unknown, after: unknown]>
}

/** A kind of definitions of a site, which are recognized by their names. */
export interface Definitions<Fields> {
  kind: "goal" | "funnel" | "segment"
  /** Returns a definition as the document shows it. */
  show(fields: Fields): object
  /** Returns the complete body of a definition, with a value for each field that a patch would leave as it is. */
  toBody?(fields: Fields): unknown
  /** Whether a definition cannot become another by a patch. Default: it can. */
  isOther?(fields: Fields, wanted: Fields): boolean
}

/** What makes the definitions of one kind equal to those of a document. */
export interface Steps<Thing> {
  kind: Definitions<never>["kind"]
  changes: ConfigurationChange[]
  removals: Thing[]
  updates: { thing: Thing; body: unknown }[]
  creations: unknown[]
}

interface Named {
  name: string
}

/** Compares the definitions of a site with those of a document. Without the latter, all stay as they are. */
export function stepsTo<Fields extends Named, Thing extends Fields>(
  { kind, show, toBody = (fields) => fields, isOther = () => false }: Definitions<Fields>,
  current: readonly Thing[],
  wanted: readonly Fields[] | undefined,
): Steps<Thing> {
  const steps: Steps<Thing> = { kind, changes: [], removals: [], updates: [], creations: [] }
  for (const { before, after } of wanted ? pairs(current, wanted, ({ name }) => caseKey(name)) : []) {
    const change = changeOf(kind, (after ?? before)!.name, before && show(before), after && show(after))
    if (!change) continue
    steps.changes.push(change)
    // An update keeps the id, which other definitions and saved dashboards refer to.
    if (before && after && !isOther(before, after)) steps.updates.push({ thing: before, body: toBody(after) })
    else {
      if (before) steps.removals.push(before)
      if (after) steps.creations.push(toBody(after))
    }
  }
  return steps
}

/** The site whose definitions are changed, and by whom. */
interface Author {
  site: Site
  actor: Actor
  audit: Audit
}

/** Changes the definitions of one kind. Removals come first and creations last, because names and definitions are unique. */
export async function apply<Thing extends { id: number } & Named>(
  things: SiteThings<Thing>,
  { kind, removals, updates, creations }: Steps<Thing>,
  { site, actor, audit }: Author,
): Promise<void> {
  const entry = (verb: "create" | "update" | "delete") => recorded<Thing>(audit, actor, definitionEntry(verb, kind, site))
  for (const { id } of removals) await things.remove(site, id, { alongside: entry("delete") })
  await inPossibleOrder(updates, ({ thing, body }) => things.update(site, thing.id, body, { alongside: entry("update") }))
  for (const body of creations) await things.create(site, body, entry("create"))
}

/** Updates goals one after another. Those whose definition another goal still has wait until that goal was updated. */
async function inPossibleOrder<Step>(steps: readonly Step[], update: (step: Step) => Promise<unknown>): Promise<void> {
  for (let rest = steps; rest.length > 0; ) {
    const refusals: { step: Step; error: AppError }[] = []
    for (const step of rest)
      try {
        await update(step)
      } catch (error) {
        if (!(error instanceof AppError) || error.code !== "goal_exists") throw error
        refusals.push({ step, error })
      }
    if (refusals.length === rest.length) throw refusals[0]!.error
    rest = refusals.map(({ step }) => step)
  }
}

/** Returns what differs between a site before and after. Shields are listed one by one. */
export function siteChanges(before: Site, after: Site): ConfigurationChange[] {
  const shields = pairs(before.settings.shields, after.settings.shields, shieldName).map(({ before, after }) =>
    changeOf("shield", shieldName((after ?? before)!), before && withoutVersion(before), after && withoutVersion(after)),
  )
  return [changeOf("site", after.name, fieldsOf(before), fieldsOf(after)), ...shields].filter((change) => change !== undefined)
}

function fieldsOf({ name, hosts, timezone, retention_days, revenue_currency, settings: { shields: _, ...settings } }: Site): object {
  return { name, hosts, timezone, retention_days, revenue_currency, ...settings }
}

type StoredShield = Site["settings"]["shields"][number]
const shieldName = ({ kind, value }: StoredShield): string => `${kind} ${value}`
const withoutVersion = ({ id: _, version: __, ...shield }: StoredShield): object => shield

/** Pairs the items of two lists by a key: first the old ones that are gone, then the new list. */
function pairs<Before extends After, After>(
  before: readonly Before[],
  after: readonly After[],
  keyOf: (item: After) => string,
): { before?: Before; after?: After }[] {
  const old = new Map(before.map((item) => [keyOf(item), item]))
  const next = after.map((item) => {
    const known = old.get(keyOf(item))
    old.delete(keyOf(item))
    return { after: item, ...(known && { before: known }) }
  })
  return [...[...old.values()].map((item) => ({ before: item })), ...next]
}

/** Returns the change from one state of an item to another. Undefined if they are equal. */
function changeOf(
  kind: ConfigurationChange["kind"],
  name: string,
  before: object | undefined,
  after: object | undefined,
): ConfigurationChange | undefined {
  const [old, next] = [(before ?? {}) as Record<string, unknown>, (after ?? {}) as Record<string, unknown>]
  const names = [...new Set([...Object.keys(old), ...Object.keys(next)])].filter((field) => !Bun.deepEquals(old[field], next[field]))
  if (names.length === 0) return undefined
  const action = before ? (after ? "update" : "delete") : "create"
  return { action, kind, name, fields: Object.fromEntries(names.map((field) => [field, [old[field] ?? null, next[field] ?? null]])) }
}
