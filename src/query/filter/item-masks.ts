import type { Items } from "../../store/events/bytes/items.ts"
import type { ItemChoice } from "./filters.ts"
import { isCounted, keepBoth } from "./masks.ts"

/** Masks from a choice by item. Each overwrites the whole mask. */

/** Marks the chosen events. */
export function fillByItems(mask: Uint8Array, { items, chosen, visits }: ItemChoice): void {
  if (chosen === "all") mask.fill(1)
  else fillByItem(mask, items.itemOf, chosen)
  if (visits !== "all") clearVisits(mask, items.firsts, visits)
}

/** Marks the chosen events that are counted. */
export function fillCountedByItems(mask: Uint8Array, choice: ItemChoice): void {
  fillByItems(mask, { ...choice, chosen: countedItems(choice) })
}

/** Marks the visits that have a chosen event that is counted. */
export function fillVisitsByItems(mask: Uint8Array, choice: ItemChoice): void {
  const { items, visits } = choice
  const chosen = countedItems(choice)
  mask.fill(0)
  for (let item = 0; item < chosen.length; item++) if (chosen[item] === 1) markVisits(mask, items, item)
  if (visits !== "all") keepBoth(mask, visits)
}

/** Returns a mask of the chosen items whose events are counted. */
export function countedItems({ items: { names }, chosen }: Pick<ItemChoice, "items" | "chosen">): Uint8Array {
  const mask = chosen === "all" ? new Uint8Array(names.length).fill(1) : chosen.slice()
  for (let item = 0; item < mask.length; item++) mask[item] = mask[item]! & isCounted(names[item]!)
  return mask
}

function fillByItem(mask: Uint8Array, itemOf: Uint16Array, chosen: Uint8Array): void {
  for (let row = 0; row < mask.length; row++) mask[row] = chosen[itemOf[row]!]!
}

function clearVisits(mask: Uint8Array, firsts: Uint32Array, visits: Uint8Array): void {
  for (let visit = 0; visit < visits.length; visit++) if (visits[visit] === 0) mask.fill(0, firsts[visit]!, firsts[visit + 1]!)
}

function markVisits(mask: Uint8Array, { starts, visits }: Items, item: number): void {
  const to = starts[item + 1]!
  for (let at = starts[item]!; at < to; at++) mask[visits[at]!] = 1
}
