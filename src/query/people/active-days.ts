import type { ActiveDaysQuery, ActiveDaysResult } from "../../domain/people.ts"
import type { Snapshot } from "../../store/events/part.ts"
import { type ActivePeople, countActiveDays, PeopleSums } from "./activity.ts"
import { coverage } from "./coverage.ts"
import { peopleVisits } from "./visits.ts"

/**
 * Counts people by their number of active days in a window and in the window before, and the events of each tenth of the people. The most
 * active people are those with the most active days, and of those with equally many, those with the most events.
 */
export function activeDays(snapshot: Snapshot, query: ActiveDaysQuery, check: () => void): ActiveDaysResult {
  const visits = peopleVisits(snapshot, query)
  const { days, previous, scope } = query
  const events = new PeopleSums(visits.limit)
  const current = countActiveDays(visits, days, check, (part, active) => events.addVisits(part, active, part.visit("events")))
  const before = countActiveDays(visits, previous, check)
  return {
    people: histogram(current.people, current.days, days.length - 1),
    previous: histogram(before.people, before.days, previous.length - 1),
    tenths: tenths(current.people, current.days, events.sums),
    coverage: coverage(snapshot, scope, [days[0]!, days.at(-1)!], check),
  }
}

function histogram({ ordinals, count }: ActivePeople, days: Uint16Array, most: number): number[] {
  const people = new Uint32Array(most + 1)
  for (let i = 0; i < count; i++) people[days[ordinals[i]!]!]!++
  return Array.from(people.subarray(1))
}

const TENTHS = 10
/** More than the number of events of a person. */
const EVENTS = 2 ** 32

/** Sums the events of each tenth of the people. When they cannot be divided evenly, the first tenths have one person more. */
function tenths({ ordinals, count }: ActivePeople, days: Uint16Array, events: Uint32Array): number[] {
  const order = new Float64Array(count)
  for (let i = 0; i < count; i++) order[i] = days[ordinals[i]!]! * EVENTS + events[ordinals[i]!]!
  order.sort()
  let end = count
  return Array.from({ length: TENTHS }, (_, tenth) => {
    const size = Math.floor(count / TENTHS) + (tenth < count % TENTHS ? 1 : 0)
    let sum = 0
    for (const begin = end - size; end > begin; end--) sum += order[end - 1]! % EVENTS
    return sum
  })
}
