/** Checks of the widgets of a dashboard that is to be saved: layout, types, configurations, other sites and references. */
import { Value } from "@sinclair/typebox/value"
import { AppError, type Fault, fault, inspect, type KnownWidget, normalizeUnicode, refuseFaults, type Site } from "#plugin"
import type { BoardFilter, Config, NewWidget, StoredWidget } from "./board.ts"
import { dashboardError } from "./errors.ts"
import { readFilters, type SentWidget } from "./input.ts"
import { readCompare, readRange, type Today, todayOf } from "./ranges.ts"
import { isMissingName, type Lookup, mapReferences, referenceFaults } from "./references.ts"

/** Fields that every type of widget accepts in addition to its own configuration. */
export const OVERRIDES = ["range", "filters", "compare", "segment_id", "cohort_id"] as const

/** The two parts of a configuration: the overrides and the fields of the type. */
export function splitConfig(config: Config): { overrides: Config; own: Config } {
  const isOverride = (name: string) => OVERRIDES.some((override) => override === name)
  const entries = Object.entries(config)
  return {
    overrides: Object.fromEntries(entries.filter(([name]) => isOverride(name))),
    own: Object.fromEntries(entries.filter(([name]) => !isOverride(name))),
  }
}

/** Adds the defaults of a type to a configuration and returns the faults. Names of missing objects count as ids. */
export function inspectConfig(known: KnownWidget, own: Config, pointer: string): { config: Config; faults: Fault[] } {
  // A text has lines, which texts of other bodies must not have. The widget checks it.
  const { markdown, ...rest } = mapReferences(own, ({ value }) => (isMissingName(value) ? 1 : value))
  const shape = { ...rest, ...(markdown !== undefined && { markdown: "" }) }
  const { fields, faults } = inspect(known.config, Value.Default(known.config, structuredClone(shape)), pointer, [])
  const nested = known.check?.(own, pointer) ?? []
  return { config: { ...fields, ...(markdown !== undefined && { markdown }) }, faults: [...faults, ...nested] }
}

/** Returns the faults of a configuration. `allowsNames` accepts the names of documents instead of ids. */
export function configFaults(known: KnownWidget, config: Config, pointer: string, today: Today, { allowsNames = false } = {}): Fault[] {
  const { overrides, own } = splitConfig(allowsNames ? mapReferences(config, ({ value }) => (isMissingName(value) ? 1 : value)) : config)
  const { faults } = inspectConfig(known, own, pointer)
  if (overrides.range !== undefined) readRange(overrides.range, `${pointer}/range`, today, faults)
  if (overrides.compare !== undefined) readCompare(overrides.compare, `${pointer}/compare`, today, faults)
  if (overrides.filters !== undefined) readFilters(overrides.filters, `${pointer}/filters`, faults)
  for (const name of ["segment_id", "cohort_id"] as const)
    if (overrides[name] !== undefined && !Number.isSafeInteger(overrides[name]))
      faults.push(fault(`${pointer}/${name}`, "invalid_type", "must be a whole number"))
  return faults
}

/** Returns the faults of widgets that share cells. Both widgets of a pair are named. */
export function overlapFaults(widgets: readonly SentWidget[]): Fault[] {
  const faulty = new Set<number>()
  for (const [i, a] of widgets.entries())
    for (const [k, b] of widgets.slice(0, i).entries())
      if (a.x < b.x + b.w && b.x < a.x + a.w && a.y < b.y + b.h && b.y < a.y + a.h) faulty.add(i).add(k)
  return [...faulty].sort((a, b) => a - b).map((i) => fault(`/widgets/${i}`, "layout_overlap", "shares cells with another widget"))
}

export interface CheckParts {
  types: readonly KnownWidget[]
  site: Site
  now: number
  isPrivate: boolean
  /** Widgets as they are stored. Those that a body does not change are not checked again, so that a deleted goal does not block a board. */
  stored: readonly StoredWidget[]
  /** Returns a site that the author may read; undefined for an unknown and an invisible one. */
  siteOf(id: number): Promise<Site | undefined>
  lookupOn(site: Site): Lookup
}

/** Faults by what they are about. A body with faults of one kind is answered with its code, otherwise with `validation_failed`. */
const CODES = {
  layout_overlap: "Widgets share cells of the grid.",
  unknown_widget_type: "There is no widget of this type.",
  invalid_widget_config: "The configuration of a widget is not valid.",
  broken_reference: "A widget or filter names something that the site does not have.",
} as const
type Found = Record<keyof typeof CODES | "other", Fault[]>

/** Returns the widgets to store. Throws all faults at once. Filters that are kept may name something that was deleted since. */
export async function checkedWidgets(
  widgets: readonly SentWidget[],
  filters: { value: readonly BoardFilter[]; isKept: boolean },
  parts: CheckParts,
): Promise<NewWidget[]> {
  const { types, site, stored, isPrivate } = parts
  const found: Found = {
    layout_overlap: overlapFaults(widgets),
    unknown_widget_type: [],
    invalid_widget_config: [],
    broken_reference: [],
    other: [],
  }
  const own = parts.lookupOn(site)
  const addReferences = async (value: Config | readonly BoardFilter[], pointer: string, lookup: Lookup, isUnchanged: boolean) => {
    const { broken, personal } = await referenceFaults(value, pointer, lookup, { allowsPersonal: isPrivate })
    if (!isUnchanged) found.broken_reference.push(...broken)
    found.other.push(...personal)
  }
  await addReferences(filters.value, "/filters", own, filters.isKept)
  const result: NewWidget[] = []
  for (const [i, widget] of widgets.entries()) {
    const pointer = `/widgets/${i}`
    const before = stored.find(({ id }) => id === widget.id)
    const kept = before && isSame(before, widget) ? before : undefined
    const source = widget.source_site_id === null ? site : await parts.siteOf(widget.source_site_id)
    const config = kept?.config ?? normalized(widget.config)
    result.push({ ...widget, config, source_site_name: kept?.source_site_name ?? null })
    if (!kept) {
      const known = types.find(({ type }) => type === widget.type)
      if (!source)
        found.other.push(
          fault(`${pointer}/source_site_id`, "site_not_found", "is a site that doesn't exist or that you don't have access to"),
        )
      if (!known) found.unknown_widget_type.push(fault(`${pointer}/type`, "unknown_widget_type", "is not a type of the catalogue"))
      const faults = known ? configFaults(known, config, `${pointer}/config`, todayOf(source ?? site, parts.now)) : []
      found.invalid_widget_config.push(...faults)
      if (faults.length > 0) continue
    }
    if (source) await addReferences(config, `${pointer}/config`, source === site ? own : parts.lookupOn(source), kept !== undefined)
  }
  refuseFound(found)
  return result
}

/** Whether a widget shows the same as the stored one, whatever its place and title. */
const isSame = (stored: StoredWidget, sent: SentWidget): boolean =>
  stored.type === sent.type && stored.source_site_id === sent.source_site_id && Bun.deepEquals(stored.config, sent.config)

/** Turns ids that were sent as digits into numbers, and unifies the ends of lines. */
function normalized(config: Config): Config {
  const { markdown, ...rest } = mapReferences(config, ({ value }) => value)
  if (markdown === undefined) return rest
  return { ...rest, markdown: typeof markdown === "string" ? normalizeUnicode(markdown.replaceAll("\r\n", "\n")) : markdown }
}

/** Throws the faults that were found, if any. */
export function refuseFound({ other, ...coded }: Found): void {
  const kinds = Object.entries(coded).filter(([, faults]) => faults.length > 0) as [keyof typeof CODES, Fault[]][]
  if (other.length > 0 || kinds.length > 1) refuseFaults([...kinds.flatMap(([, faults]) => faults), ...other])
  const [only] = kinds
  if (!only) return
  const [code, faults] = only
  const members = { errors: faults.slice(0, 20) }
  if (code === "broken_reference") throw new AppError(code, CODES[code], members)
  throw dashboardError(code, CODES[code], members)
}
