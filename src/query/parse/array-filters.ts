import { type Condition, type Filter, missingTexts, OPERATORS, type Operator, positiveOperator } from "../../domain/filter.ts"
import { QUERY } from "../../domain/limits.ts"
import { escaped, isObject } from "../../domain/shape.ts"
import type { Site } from "../../domain/site.ts"
import { countCharacters, isClean } from "../../domain/text.ts"
import { withStoredNames } from "../../domain/value-aliases.ts"
import { type Hiding, isTimeName, type NamedDimension, readDimension } from "./array-dimensions.ts"
import { type Faults, readList } from "./faults.ts"

/** Operators that the dimension `goal` supports (metrics.md section 10). */
export const GOAL_OPERATORS: readonly Operator[] = ["is", "contains"]
/** Operators that segments and cohorts support. */
export const SET_OPERATORS: readonly Operator[] = ["is", "is_not"]

export const isShortPattern = (pattern: string): boolean =>
  pattern.length <= QUERY.wildcardChars && pattern.split("*").length - 1 <= QUERY.wildcardStars
export const PATTERN_BOUNDS = `A pattern can have at most ${QUERY.wildcardChars} characters and ${QUERY.wildcardStars} asterisks.`

/** What a caller may name in a request. */
export interface SavedFilters extends Hiding {
  /**
   * Returns the filter of a saved segment or cohort, `broken` if its definition refers to something that was deleted, or undefined when
   * no such id is visible to the caller.
   */
  (kind: "segment" | "cohort", id: number): Filter | "broken" | undefined
}

/** Fault of a filter that names a broken cohort. */
export const BROKEN = { code: "broken_reference", detail: "refers to something that was deleted" }

/** Returns the lookup of the segments and cohorts of a site that a user can see; without a user, those shared on the site. */
export type SavedOf = (site: Site, userId?: number) => SavedFilters

/** Position of a filter tree within the request. */
interface Place {
  pointer: string
  /** Number of operators around it. */
  depth: number
  /** Whether it is inside a `has_done`, which cannot contain another one. */
  inside: boolean
}

interface Reading {
  faults: Faults
  saved: SavedFilters
}

const LISTS = ["and", "or"]
const WRAPPERS = ["not", "has_done", "has_not_done"]
const REGEX = ["matches", "matches_not"]
const ALL_OPERATORS = [...OPERATORS, ...LISTS, ...WRAPPERS]

/** Reads the filter trees of the array form, all of which must hold (api.md 7.3). Returns undefined without filters or with faults. */
export function readFilterTrees(value: unknown, faults: Faults, saved: SavedFilters): Filter | undefined {
  if (value === undefined) return undefined
  const trees = readList(value, "/filters", { min: 0, max: Number.MAX_SAFE_INTEGER }, faults)
  if (!trees) return undefined
  // Conditions are counted before any is read, so that thousands of them are one fault.
  if (leafCount(trees) > QUERY.leaves) return faults.refuse("/filters", "too_many", `must have at most ${QUERY.leaves} conditions`)
  const read = trees.map((tree, i) => readTree(tree, { pointer: `/filters/${i}`, depth: 0, inside: false }, { faults, saved }))
  return allOf(read.filter((filter) => filter !== undefined))
}

/** Returns the number of conditions: the lists whose first item is not an operator over other trees. */
function leafCount(trees: readonly unknown[]): number {
  return trees.reduce((count: number, tree) => {
    if (!Array.isArray(tree)) return count + 1
    if (LISTS.includes(tree[0])) return count + (Array.isArray(tree[1]) ? leafCount(tree[1]) : 1)
    return count + (WRAPPERS.includes(tree[0]) ? leafCount([tree[1]]) : 1)
  }, 0)
}

const allOf = (filters: readonly Filter[]): Filter | undefined => (filters.length < 2 ? filters[0] : { op: "and", filters })

function readTree(tree: unknown, place: Place, reading: Reading): Filter | undefined {
  const { pointer, depth } = place
  const { faults } = reading
  if (!Array.isArray(tree)) return faults.refuse(pointer, "invalid_type", "must be a list that starts with an operator")
  const [operator] = tree
  if (!LISTS.includes(operator) && !WRAPPERS.includes(operator)) return readLeaf(tree, place, reading)
  if (!readList(tree, pointer, { min: 2, max: 2 }, faults)) return undefined
  if (depth === QUERY.filterDepth) return faults.refuse(pointer, "too_many", `is nested more than ${QUERY.filterDepth} operators deep`)
  const below = { ...place, pointer: `${pointer}/1`, depth: depth + 1 }
  return LISTS.includes(operator) ? readBranches(tree, below, reading) : readWrapped(tree, below, reading)
}

function readBranches([operator, given]: readonly unknown[], place: Place, reading: Reading): Filter | undefined {
  const trees = readList(given, place.pointer, { min: 1, max: QUERY.leaves }, reading.faults)
  const filters = trees?.map((tree, i) => readTree(tree, { ...place, pointer: `${place.pointer}/${i}` }, reading))
  const read = filters?.filter((filter) => filter !== undefined) ?? []
  return read.length === 0 ? undefined : { op: operator === "or" ? "or" : "and", filters: read }
}

function readWrapped([operator, tree]: readonly unknown[], place: Place, reading: Reading): Filter | undefined {
  if (operator === "not") return negated(readTree(tree, place, reading))
  if (place.inside) {
    return reading.faults.refuse(place.pointer.slice(0, -"/1".length), "unsupported_combination", "cannot be nested in another has_done")
  }
  const filter = readTree(tree, { ...place, inside: true }, reading)
  const done: Filter | undefined = filter && { op: "has_done", filter }
  return operator === "has_done" ? done : negated(done)
}

const negated = (filter: Filter | undefined): Filter | undefined => filter && { op: "not", filter }

/** Reads a condition: `[operator, dimension, clauses]`, optionally followed by modifiers. */
function readLeaf(leaf: readonly unknown[], { pointer }: Place, { faults, saved }: Reading): Filter | undefined {
  const operator = readOperator(leaf[0], `${pointer}/0`, faults)
  if (!readList(leaf, pointer, { min: 3, max: 4 }, faults)) return undefined
  const [, name, clauses, modifiers] = leaf
  if (name === "segment" || name === "cohort") return readSaved({ kind: name, operator, leaf, pointer }, faults, saved)
  if (isTimeName(name)) return faults.refuse(`${pointer}/1`, "unsupported_combination", "is a time dimension: use date_range instead")
  const of = readDimension(name, `${pointer}/1`, faults, saved)
  if (of?.dimension === "goal") refuseOperator(operator, GOAL_OPERATORS, pointer, faults)
  const values = readClauses(clauses, operator, `${pointer}/2`, faults)
  const caseSensitive = modifiers === undefined ? true : readModifiers(modifiers, `${pointer}/3`, faults)
  if (!operator || !of || !values || caseSensitive === undefined) return undefined
  return toFilter(operator, of, values, caseSensitive)
}

function readOperator(given: unknown, pointer: string, faults: Faults): Operator | undefined {
  if (REGEX.some((name) => name === given)) {
    return faults.refuse(pointer, "regex_not_supported", "is a regular expression, which is not supported: use matches_wildcard", OPERATORS)
  }
  if (given !== undefined && typeof given !== "string") return faults.refuse(pointer, "invalid_type", "must be an operator")
  const operator = OPERATORS.find((known) => known === given)
  return operator ?? faults.refuse(pointer, "invalid_choice", `must be one of: ${ALL_OPERATORS.join(", ")}`, ALL_OPERATORS)
}

function refuseOperator(operator: Operator | undefined, allowed: readonly Operator[], pointer: string, faults: Faults): void {
  if (operator && !allowed.includes(operator))
    faults.refuse(`${pointer}/0`, "unsupported_combination", `must be one of: ${allowed.join(", ")}`, allowed)
}

interface SavedLeaf {
  kind: "segment" | "cohort"
  operator: Operator | undefined
  leaf: readonly unknown[]
  pointer: string
}

/** Reads a condition on segments or cohorts, which holds when any of them does. */
function readSaved({ kind, operator, leaf, pointer }: SavedLeaf, faults: Faults, saved: SavedFilters): Filter | undefined {
  refuseOperator(operator, SET_OPERATORS, pointer, faults)
  if (leaf.length > 3) faults.refuse(`${pointer}/3`, "unsupported_combination", `cannot be combined with ${kind}`)
  const ids = readList(leaf[2], `${pointer}/2`, { min: 1, max: QUERY.clauses }, faults)
  const filters = ids?.map((id, i) => readSavedId(kind, id, `${pointer}/2/${i}`, faults, saved)).filter((filter) => filter !== undefined)
  if (!operator || !filters || filters.length < ids!.length) return undefined
  const any: Filter = { op: "or", filters }
  return operator === "is_not" ? { op: "not", filter: any } : any
}

function readSavedId(kind: "segment" | "cohort", id: unknown, pointer: string, faults: Faults, saved: SavedFilters): Filter | undefined {
  if (typeof id !== "number" || !Number.isSafeInteger(id)) return faults.refuse(pointer, "invalid_type", "must be a whole number")
  const filter = saved(kind, id) ?? faults.refuse(pointer, "invalid_choice", `is not the id of a ${kind} that is visible to you`, [])
  return filter === "broken" ? faults.refuse(pointer, BROKEN.code, BROKEN.detail) : filter
}

function readClauses(given: unknown, operator: Operator | undefined, pointer: string, faults: Faults): string[] | undefined {
  const clauses = readList(given, pointer, { min: 1, max: QUERY.clauses }, faults)
  const read = clauses?.map((clause, i) => readClause(clause, operator, `${pointer}/${i}`, faults)).filter((clause) => clause !== undefined)
  return read && read.length === clauses!.length ? read : undefined
}

/** Reads a value without trimming it, because it is compared with stored values. The empty text stands for the missing value and needs `is` or `is_not`. */
function readClause(clause: unknown, operator: Operator | undefined, pointer: string, faults: Faults): string | undefined {
  // Ids of cities are numbers in other products.
  if (typeof clause === "number" && Number.isSafeInteger(clause)) return String(clause)
  if (typeof clause !== "string") return faults.refuse(pointer, "invalid_type", "must be a string or a whole number")
  const isEqual = operator === undefined || operator === "is" || operator === "is_not"
  if (clause === "" && !isEqual) return faults.refuse(pointer, "too_short", "must not be empty")
  if (countCharacters(clause) > QUERY.valueChars)
    return faults.refuse(pointer, "too_long", `must have at most ${QUERY.valueChars} characters`)
  if (!isClean(clause)) return faults.refuse(pointer, "invalid_characters", "contains characters that are not allowed")
  const isPattern = operator === "matches_wildcard" || operator === "matches_wildcard_not"
  return isPattern && !isShortPattern(clause) ? faults.refuse(pointer, "invalid_pattern", `is too long. ${PATTERN_BOUNDS}`) : clause
}

function readModifiers(given: unknown, pointer: string, faults: Faults): boolean | undefined {
  if (!isObject(given)) return faults.refuse(pointer, "invalid_type", "must be an object")
  const unknown = Object.keys(given).filter((name) => name !== "case_sensitive")
  for (const name of unknown) faults.refuse(`${pointer}/${escaped(name)}`, "unknown_field", "does not exist")
  const caseSensitive = Object.hasOwn(given, "case_sensitive") ? given.case_sensitive : true
  if (typeof caseSensitive !== "boolean") return faults.refuse(`${pointer}/case_sensitive`, "invalid_type", "must be true or false")
  return unknown.length > 0 ? undefined : caseSensitive
}

function toFilter(operator: Operator, of: NamedDimension, values: readonly string[], caseSensitive: boolean): Filter {
  const op = positiveOperator(operator)
  const named = op === "is" ? withStoredNames(of.dimension, values) : values
  const condition: Condition = { op, ...of, values: named, missing: op === "is" && namesMissing(of, values, caseSensitive), caseSensitive }
  return op === operator ? condition : { op: "not", filter: condition }
}

function namesMissing({ dimension }: NamedDimension, values: readonly string[], caseSensitive: boolean): boolean {
  const fold = (text: string) => (caseSensitive ? text : text.toLowerCase())
  const missing = ["", ...missingTexts(dimension)].map(fold)
  return values.some((value) => missing.includes(fold(value)))
}
