/**
 * Leaving out one condition or filter of a definition: a number is shown to those who may not see small groups only if that changes it by
 * nobody, or by a group that is large enough (areas/04-cohorts.md section 9).
 */
import { type Cohort, type Condition, type Definition, isGroup } from "./cohort.ts"
import { conditionsOf } from "./definition.ts"
import { isSmall } from "./small-groups.ts"

/** A definition with something left out, and the cohorts that it refers to, one of which may lack something instead. */
export interface Variant {
  definition: Definition
  cohorts: ReadonlyMap<number, Cohort>
}

/** Numbers of a variant, and of those that leave out something more. */
export interface Numbered<Numbers> {
  numbers: Numbers
  left: readonly Numbered<Numbers>[]
}

/** How variants are made and measured. */
interface Measuring<Subject, Numbers> {
  variantsOf(subject: Subject): readonly Subject[]
  measure(subjects: readonly Subject[]): Promise<readonly Numbers[]>
  /** Whether leaving something out changed nothing. */
  isSame(left: Numbers, whole: Numbers): boolean
}

/** Variants that are measured for one answer. With more of them, which takes many conditions that change nothing, all numbers are hidden. */
const MAX_VARIANTS = 100

/**
 * Measures the variants of a definition or report. From one that changes nothing, more is left out, because its numbers are those of the
 * whole: a condition given twice would hide what leaving it out tells. Returns undefined if there are too many.
 */
export async function measureVariants<Subject, Numbers>(
  subject: Subject,
  numbers: Numbers,
  { variantsOf, measure, isSame }: Measuring<Subject, Numbers>,
): Promise<Numbered<Numbers> | undefined> {
  interface Node extends Numbered<Numbers> {
    subject: Subject
    left: Node[]
  }
  const root: Node = { subject, numbers, left: [] }
  let count = 0
  for (let open = [root]; open.length > 0; ) {
    const steps = open.flatMap((node) => variantsOf(node.subject).map((left) => ({ node, left })))
    count += steps.length
    if (count > MAX_VARIANTS) return undefined
    const measured = await measure(steps.map(({ left }) => left))
    const next: Node[] = []
    for (const [i, { node, left }] of steps.entries()) {
      const child: Node = { subject: left, numbers: measured[i]!, left: [] }
      node.left.push(child)
      if (isSame(child.numbers, numbers)) next.push(child)
    }
    open = next
  }
  return root
}

/** Returns whether a number is small, or leaving something out changes it by a small group. */
export function isTelling<Numbers>({ numbers, left }: Numbered<Numbers>, numberOf: (numbers: Numbers) => number, least: number): boolean {
  const number = numberOf(numbers)
  return (
    isSmall(number, least) ||
    left.some((child) => {
      const difference = Math.abs(numberOf(child.numbers) - number)
      return difference === 0 ? isTelling(child, numberOf, least) : difference < least
    })
  )
}

/** Returns the smallest number of people, other than none, by which leaving something out changes the size; null if nothing changes it. */
export function leastDifferenceOf({ numbers, left }: Numbered<{ size: number }>): number | null {
  const differences = left
    .map((child) => Math.abs(child.numbers.size - numbers.size) || leastDifferenceOf(child))
    .filter((difference) => difference !== null)
  return differences.length > 0 ? Math.min(...differences) : null
}

/** Returns the definition without each of its conditions and filters, and with each cohort it refers to without one of those. */
export const variantsOf = ({ definition, cohorts }: Variant): Variant[] => [
  ...leaveOneOut(definition).map((left) => ({ definition: left, cohorts })),
  ...cohortVariants(referencesIn(definition), cohorts).map((left) => ({ definition, cohorts: left })),
]

/** Returns the cohorts of a site with a condition or filter left out of one that is named, directly or by another cohort. */
export const cohortVariants = (ids: readonly number[], cohorts: ReadonlyMap<number, Cohort>): ReadonlyMap<number, Cohort>[] =>
  [...reachable(ids, cohorts)].flatMap((cohort) =>
    leaveOneOut(cohort.definition).map((left) => new Map(cohorts).set(cohort.id, { ...cohort, definition: left })),
  )

function reachable(ids: readonly number[], cohorts: ReadonlyMap<number, Cohort>, found = new Set<Cohort>()): Set<Cohort> {
  for (const id of ids) {
    const cohort = cohorts.get(id)
    if (cohort?.kind !== "dynamic" || found.has(cohort)) continue
    found.add(cohort)
    reachable(referencesIn(cohort.definition), cohorts, found)
  }
  return found
}

const referencesIn = (definition: Definition): number[] =>
  conditionsOf(definition).flatMap((condition) => (condition.type === "cohort" ? [condition.cohort_id] : []))

/** Returns the definition without each of its conditions, and without each filter of a condition. Without conditions it is everyone. */
export function leaveOneOut(definition: Definition): Definition[] {
  return definition.conditions.flatMap((item, i): Definition[] => {
    const replaced = (by: Condition | Definition): Definition => ({ ...definition, conditions: definition.conditions.with(i, by) })
    const others = isGroup(item)
      ? leaveOneOut(item)
          .filter(({ conditions }) => conditions.length > 0)
          .map(replaced)
      : (item.filters ?? []).map((_, at) => replaced({ ...item, filters: item.filters!.toSpliced(at, 1) }))
    return [without(definition, i), ...others]
  })
}

/** Returns a definition without a condition. Windows after it lose their reference, and those after later ones follow their index. */
function without(definition: Definition, index: number): Definition {
  const conditions = definition.conditions.toSpliced(index, 1).map((item) => {
    if (isGroup(item) || item.window?.type !== "after" || item.window.condition < index) return item
    const { window, ...rest } = item
    return (window.condition === index ? rest : { ...rest, window: { ...window, condition: window.condition - 1 } }) as Condition
  })
  // `any` of no conditions would be nobody.
  return conditions.length === 0 ? { conditions } : { ...definition, conditions }
}
