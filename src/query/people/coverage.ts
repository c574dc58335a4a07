import type { Coverage, PeopleScope } from "../../domain/people.ts"
import type { Range } from "../../domain/query.ts"
import type { Part, Snapshot } from "../../store/events/part.ts"
import { DEVICE, ROTATING, touches } from "./visits.ts"

/**
 * Counts the visits that start between the first and the last edge, and those whose visitor is recognized for the whole window between
 * the two edges around the start: users always, devices until their id expires, the others within one salt period unless only
 * identified people count.
 */
export function coverage(snapshot: Snapshot, scope: PeopleScope, edges: readonly number[], check: () => void): Coverage {
  const windows = edges.slice(1).map((to, i) => ({ from: edges[i]!, to }))
  const parts = snapshot.parts.filter(({ visits }) => visits > 0)
  const counts = windows.map((window) => {
    const counted = { visits: 0, rotating: 0, devices: 0 }
    forParts(parts, window, check, (part) => countKinds(part.starts(), part.visit("visitor_kind"), part.visits, window, counted))
    return counted
  })
  const visits = sum(counts.map((counted) => counted.visits))
  const unknown = sum(counts.map(({ rotating }, i) => (!scope.identifiedOnly && isInOnePeriod(scope, windows[i]!) ? 0 : rotating)))
  const hasDevices = counts.some(({ devices }) => devices > 0)
  const expired = hasDevices ? expiredVisits(parts, snapshot.visitorLimit, scope.deviceMs, windows, check) : 0
  return { visits, recognized: visits - unknown - expired }
}

const sum = (numbers: readonly number[]): number => numbers.reduce((total, number) => total + number, 0)

function isInOnePeriod({ saltEdges }: PeopleScope, { from, to }: Range): boolean {
  const next = saltEdges.findIndex((edge) => edge > from)
  return next > 0 && saltEdges[next]! >= to
}

/** Counts the visits of device ids that expire before the end of their window: they were first seen too long before it. */
function expiredVisits(parts: readonly Part[], limit: number, deviceMs: number, windows: readonly Range[], check: () => void): number {
  const isExpired = new Uint8Array(limit)
  let from = Number.NEGATIVE_INFINITY
  let count = 0
  for (const window of windows) {
    const expiring = { from, to: window.to - deviceMs }
    from = expiring.to
    forParts(parts, expiring, check, (part) =>
      markDevices(part.starts(), part.visit("visitor_kind"), part.visit("visitor"), part.visits, expiring, isExpired),
    )
    forParts(parts, window, check, (part) => {
      count += countMarkedDevices(part.starts(), part.visit("visitor_kind"), part.visit("visitor"), part.visits, window, isExpired)
    })
  }
  return count
}

function forParts(parts: readonly Part[], range: Range, check: () => void, read: (part: Part) => void): void {
  for (const part of parts) {
    if (!touches(part, range)) continue
    check()
    read(part)
  }
}

function countKinds(
  starts: Float64Array,
  kind: Uint32Array,
  length: number,
  { from, to }: Range,
  counted: { visits: number; rotating: number; devices: number },
): void {
  let [visits, rotating, devices] = [0, 0, 0]
  for (let row = 0; row < length; row++) {
    if (starts[row]! < from || starts[row]! >= to) continue
    visits++
    if (kind[row] === ROTATING) rotating++
    else if (kind[row] === DEVICE) devices++
  }
  counted.visits += visits
  counted.rotating += rotating
  counted.devices += devices
}

function markDevices(
  starts: Float64Array,
  kind: Uint32Array,
  visitor: Uint32Array,
  length: number,
  { from, to }: Range,
  marks: Uint8Array,
): void {
  for (let row = 0; row < length; row++) {
    if (kind[row] === DEVICE && starts[row]! >= from && starts[row]! < to) marks[visitor[row]!] = 1
  }
}

function countMarkedDevices(
  starts: Float64Array,
  kind: Uint32Array,
  visitor: Uint32Array,
  length: number,
  { from, to }: Range,
  marks: Uint8Array,
): number {
  let count = 0
  for (let row = 0; row < length; row++) {
    if (kind[row] === DEVICE && starts[row]! >= from && starts[row]! < to) count += marks[visitor[row]!]!
  }
  return count
}
