import type { Items } from "../../store/events/bytes/items.ts"
import type { Part } from "../../store/events/part.ts"
import { grownNumbers, NumberBuffer } from "../filter/buffers.ts"
import type { CompiledFilter, Mask } from "../filter/filters.ts"
import { differs } from "../filter/masks.ts"
import { eventTimes } from "../measure/event-times.ts"
import { marksOfItems, type StepsByValue } from "./marks.ts"
import { FIRST_STEP, type Trails } from "./trails.ts"

interface ItemWalk {
  steps: StepsByValue
  /** A bit for each visitor with several visits. */
  returning: Int32Array
  /** The filter of the first step. */
  filter: CompiledFilter | undefined
  /** Called with a number of visitors with one visit whose events match the first step only: their times are not needed. */
  enter(visitors: number): void
}

/**
 * Creates the function that writes the marked events of a part into the trails. The steps of each visit are known from the visits of each
 * item, so that rows are read of few visits only. Returns false when the part has no items, or when the filter depends on more.
 */
export function walkItems(trails: Trails, { steps, returning, filter, enter }: ItemWalk): (part: Part) => boolean {
  const list = new NumberBuffer()
  /** The marks of each visit. All are 0 between two parts. */
  let unions: Uint32Array = new Uint32Array(0)
  return (part) => {
    const choice = filter?.byItem(part)
    const items = filter ? choice?.items : part.items?.()
    if (!items) return false
    unions = grownNumbers(unions, part.visits)
    const needed = list.room(part.visits)
    const marks = marksOfItems(items, steps)
    if (choice && choice.chosen !== "all") clearFirstStep(marks, choice.chosen)
    for (let item = 0; item < marks.length; item++) if (marks[item] !== 0) addMark(items, item, marks[item]!, unions)
    const first = choice?.visits ?? "all"
    if (first !== "all") clearFirstSteps(unions, first)
    const { count, entered } = listNeeded(unions, part.visits, part.visit("visitor"), returning, needed)
    enter(entered)
    writeVisits(part, items, { marks, first, needed, count }, trails)
    return true
  }
}

function clearFirstStep(marks: Uint32Array, chosen: Uint8Array): void {
  for (let item = 0; item < marks.length; item++) if (chosen[item] === 0) marks[item] = marks[item]! & ~FIRST_STEP
}

/** Adds the mark of an item to the union of each visit. */
function addMark({ starts, visits }: Items, item: number, mark: number, unions: Uint32Array): void {
  const to = starts[item + 1]!
  for (let at = starts[item]!; at < to; at++) unions[visits[at]!]! |= mark
}

function clearFirstSteps(unions: Uint32Array, visits: Uint8Array): void {
  for (let visit = 0; visit < visits.length; visit++) unions[visit] = unions[visit]! & ~(1 - visits[visit]!)
}

/**
 * Lists the visits whose events are needed: of visitors with several visits all that match a step, of others those that match the first
 * step and a later one. Clears the unions. Half of the visits match something, so tests by arithmetic save many mispredicted branches.
 */
function listNeeded(
  unions: Uint32Array,
  visits: number,
  visitor: Uint32Array,
  returning: Int32Array,
  out: Uint32Array,
): { count: number; entered: number } {
  let count = 0
  let entered = 0
  for (let visit = 0; visit < visits; visit++) {
    const union = unions[visit]!
    unions[visit] = 0
    const of = visitor[visit]!
    const again = (returning[of >>> 5]! >>> (of & 31)) & 1
    const enters = union & FIRST_STEP
    const goesOn = differs(union >>> 1, 0)
    out[count] = visit
    count += (again & (enters | goesOn)) | (enters & goesOn)
    entered += (1 - again) & enters & (1 - goesOn)
  }
  return { count, entered }
}

interface NeededVisits {
  /** By item. */
  marks: Uint32Array
  /** The visits that can take the first step. */
  first: Mask
  needed: Uint32Array
  count: number
}

function writeVisits(part: Part, { firsts, itemOf }: Items, { marks, first, needed, count }: NeededVisits, trails: Trails): void {
  if (count === 0) return
  const starts = part.starts()
  const visitor = part.visit("visitor")
  const times = eventTimes(part)
  let end = trails.enter(part, rowsOf(needed, count, firsts))
  const { at, marks: trailMarks } = trails
  for (let i = 0; i < count; i++) {
    const visit = needed[i]!
    const start = starts[visit]!
    const counted = first === "all" || first[visit] === 1 ? -1 : ~FIRST_STEP
    const to = firsts[visit + 1]!
    let offset = 0
    for (let row = firsts[visit]!; row < to; row++) {
      const mark = marks[itemOf[row]!]! & counted
      offset = times.next(offset, row)
      // Every row is written, and overwritten if it has no mark.
      at[end] = start + offset
      trailMarks[end] = mark
      end += differs(mark, 0)
    }
    end = trails.endVisit(visitor[visit]!, visit, end)
  }
}

function rowsOf(visits: Uint32Array, count: number, firsts: Uint32Array): number {
  let rows = 1 // The row after the last marked one is written too.
  for (let i = 0; i < count; i++) rows += firsts[visits[i]! + 1]! - firsts[visits[i]!]!
  return rows
}
