import { expect, test } from "bun:test"
import type { Definition } from "../cohort.ts"
import { definitionOf, draftOfDefinition, isComplete, withoutCondition } from "../ui/draft.ts"
import { describe as described } from "../ui/labels.ts"

const SIGNUP = { type: "event", value: "signup" } as const
const within = (condition: number) => ({ window: { type: "after", condition, days: 7 } }) as const
const DEFINITION: Definition = {
  conditions: [{ type: "page", value: "/" }, SIGNUP, { ...SIGNUP, negate: true, ...within(1) }, { type: "goal", goal_id: 3, ...within(0) }],
}

test("a condition that is removed leaves the windows after other conditions as they were", () => {
  const left = definitionOf(withoutCondition(draftOfDefinition(DEFINITION), 0))
  expect(left).toEqual({ conditions: [SIGNUP, { ...SIGNUP, negate: true, ...within(0) }, { type: "goal", goal_id: 3 }] })
})

test("a filter is complete once it has a value, and its empty lines are left out", () => {
  const draft = (values: string[]) =>
    draftOfDefinition({ conditions: [{ ...SIGNUP, filters: [{ dimension: "city", operator: "is", values }] }] })
  expect([isComplete(draft([])), isComplete(draft([""])), isComplete(draft(["Washington, D.C.", ""]))]).toEqual([false, false, true])
  expect(definitionOf(draft(["Washington, D.C.", ""]))).toEqual({
    conditions: [{ ...SIGNUP, filters: [{ dimension: "city", operator: "is", values: ["Washington, D.C."] }] }],
  })
})

test("a definition is described with the names of what it refers to, and with the ids of what was deleted", () => {
  const definition: Definition = {
    match: "any",
    conditions: [
      { type: "goal", goal_id: 3, negate: true },
      { type: "funnel", funnel_id: 4, step: 2 },
      { conditions: [{ type: "cohort", cohort_id: 5 }] },
    ],
  }
  const names: Record<string, string> = { "goal 3": "Bought", "cohort 5": "Readers" }
  expect(described(definition, (kind, id) => names[`${kind} ${id}`])).toEqual([
    "did not complete the goal Bought",
    "or reached step 2 of funnel 4",
    "or (is in the cohort Readers)",
  ])
})
