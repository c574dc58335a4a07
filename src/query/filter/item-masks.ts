import { rowOf, visitOf } from "../../store/events/bytes/items.ts"
import type { ItemChoice } from "./filters.ts"
import { isCounted, keepBoth } from "./masks.ts"

/** Masks from a choice by item, for which only the events of chosen items are read. Each overwrites the whole mask. */

/** Marks the chosen events. */
export function fillByItems(mask: Uint8Array, choice: ItemChoice): void {
  mask.fill(0)
  markItems(mask, choice, () => 1)
}

/** Marks the chosen events that are counted. */
export function fillCountedByItems(mask: Uint8Array, choice: ItemChoice): void {
  mask.fill(0)
  markItems(mask, choice, isCounted)
}

/** Marks the visits that have a chosen event that is counted. */
export function fillVisitsByItems(mask: Uint8Array, { items, chosen, visits }: ItemChoice): void {
  mask.fill(0)
  for (let item = 0; item < items.names.length; item++) {
    if ((chosen !== "all" && chosen[item] === 0) || isCounted(items.names[item]!) === 0) continue
    markVisits(mask, items.events, items.starts[item]!, items.starts[item + 1]!)
  }
  if (visits !== "all") keepBoth(mask, visits)
}

function markItems(mask: Uint8Array, { items, chosen, visits }: ItemChoice, isWanted: (name: number) => number): void {
  for (let item = 0; item < items.names.length; item++) {
    if ((chosen !== "all" && chosen[item] === 0) || isWanted(items.names[item]!) === 0) continue
    if (visits === "all") markRows(mask, items.events, items.starts[item]!, items.starts[item + 1]!)
    else markRowsOfVisits(mask, visits, items.events, items.starts[item]!, items.starts[item + 1]!)
  }
}

function markRows(mask: Uint8Array, events: Uint32Array, from: number, to: number): void {
  for (let at = from; at < to; at++) mask[rowOf(events[at]!)] = 1
}

function markRowsOfVisits(mask: Uint8Array, visits: Uint8Array, events: Uint32Array, from: number, to: number): void {
  for (let at = from; at < to; at++) mask[rowOf(events[at]!)] = visits[visitOf(events[at]!)]!
}

function markVisits(mask: Uint8Array, events: Uint32Array, from: number, to: number): void {
  for (let at = from; at < to; at++) mask[visitOf(events[at]!)] = 1
}
