/**
 * Hiding small groups of people from everyone who may not see people (areas/04-cohorts.md section 9). Zero is no group. A hidden number
 * must not follow from the shown ones.
 */

import type { Cohort } from "./cohort.ts"

/** Returns whether a number of people is too small to be shown. */
export const isSmall = (people: number, least: number): boolean => people > 0 && people < least

/**
 * Returns which groups that add up to a known total are hidden: the small ones, and while a single one is hidden or the hidden ones
 * together are small, the smallest other group. Of 40, 12 and 3 with a minimum of 5, only 40 is shown. `isTelling` names further groups to
 * hide.
 */
export function hiddenGroups(people: readonly number[], least: number, isTelling: (index: number) => boolean = () => false): boolean[] {
  const hidden = people.map((count, i) => isSmall(count, least) || isTelling(i))
  const isDerivable = () => {
    const counts = people.filter((_, i) => hidden[i])
    return counts.length === 1 || isSmall(sumOf(counts), least)
  }
  while (isDerivable()) {
    const smallest = people.reduce((best, count, i) => (!hidden[i] && count > 0 && (best < 0 || count < people[best]!) ? i : best), -1)
    if (smallest < 0) break
    hidden[smallest] = true
  }
  return hidden
}

export const sumOf = (counts: readonly number[]): number => counts.reduce((total, count) => total + count, 0)

/** Returns whether the size of a cohort must not be known to those who see groups from `least` people on. */
export const hidesSize = ({ size, least_difference }: Pick<Cohort, "size" | "least_difference">, least: number): boolean =>
  isSmall(size ?? 0, least) || isSmall(least_difference ?? 0, least)
