import type { ActiveDaysQuery, ActiveDaysResult } from "../../domain/people.ts"
import type { Snapshot } from "../../store/events/part.ts"
import { ActiveDays, addColumn } from "./activity.ts"
import { coverage } from "./coverage.ts"
import { peopleVisits } from "./visits.ts"

/**
 * Counts people by their number of active days in a window and in the window before, and the events of each tenth of the people. The most
 * active people are those with the most active days, and of those with equally many, those with the most events.
 */
export function activeDays(snapshot: Snapshot, query: ActiveDaysQuery, check: () => void): ActiveDaysResult {
  const visits = peopleVisits(snapshot, query)
  const { days, previous, scope } = query
  const counted = new ActiveDays(visits)
  counted.count(previous, check)
  const before = histogram(counted.days, previous.length - 1)
  const events = new Uint32Array(visits.limit)
  counted.count(days, check, (part, active) => addColumn(part, active, part.visit("events"), events))
  return {
    people: histogram(counted.days, days.length - 1),
    previous: before,
    tenths: tenths(activityGroups(counted.days, events, days.length - 1)),
    coverage: coverage(snapshot, scope, [days[0]!, days.at(-1)!], check),
  }
}

function histogram(days: Uint16Array, most: number): number[] {
  const people = new Uint32Array(most + 1)
  for (let person = 0; person < days.length; person++) people[days[person]!]!++
  return Array.from(people.subarray(1))
}

/** People with equally many active days and events. */
interface ActivityGroup {
  events: number
  people: number
}

/** People with fewer events are counted in a table; those with more are few, and sorted. */
const MANY_EVENTS = 1_024
/** More than the number of events of a person. */
const MAX_EVENTS = 2 ** 32

/** Returns the groups of people, the most active first. */
function activityGroups(days: Uint16Array, events: Uint32Array, most: number): ActivityGroup[] {
  const table = new Uint32Array((most + 1) * MANY_EVENTS)
  const many: number[] = []
  for (let person = 0; person < days.length; person++) {
    if (days[person] === 0) continue
    if (events[person]! < MANY_EVENTS) table[days[person]! * MANY_EVENTS + events[person]!]!++
    else many.push(days[person]! * MAX_EVENTS + events[person]!)
  }
  many.sort((a, b) => a - b)
  const groups: ActivityGroup[] = []
  for (let day = most; day > 0; day--) {
    while (many.length > 0 && many.at(-1)! >= day * MAX_EVENTS) groups.push({ events: many.pop()! % MAX_EVENTS, people: 1 })
    for (let number = MANY_EVENTS - 1; number >= 0; number--) {
      const people = table[day * MANY_EVENTS + number]!
      if (people > 0) groups.push({ events: number, people })
    }
  }
  return groups
}

const TENTHS = 10

/** Sums the events of each tenth of the people. When they cannot be divided evenly, the first tenths have one person more. */
function tenths(groups: readonly ActivityGroup[]): number[] {
  const count = groups.reduce((sum, { people }) => sum + people, 0)
  const room = Array.from({ length: TENTHS }, (_, tenth) => Math.floor(count / TENTHS) + (tenth < count % TENTHS ? 1 : 0))
  const sums = room.map(() => 0)
  let tenth = 0
  for (const group of groups) {
    for (let left = group.people; left > 0; ) {
      while (room[tenth] === 0) tenth++
      const taken = Math.min(left, room[tenth]!)
      sums[tenth]! += taken * group.events
      room[tenth]! -= taken
      left -= taken
    }
  }
  return sums
}
